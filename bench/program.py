# SPDX-License-Identifier: Apache-2.0
"""Finds the program lanewise for the scripts of bench/: the file in the environment variable LANEWISE, ./lanewise,
build/lanewise, ../lanewise, or the program on PATH. The scripts measure the interpreter unless they give an engine."""
import os
import shutil
import sys

os.environ.setdefault('LANEWISE_ENGINE', 'interpreter')
HERE = os.path.dirname(os.path.abspath(__file__))


def find_program():
    for path in (os.environ.get('LANEWISE', ''), os.path.join(os.getcwd(), 'lanewise'),
                 os.path.join(HERE, '../build/lanewise'), os.path.join(HERE, '../lanewise')):
        if path and os.access(path, os.X_OK):
            return os.path.abspath(path)
    name = os.path.basename(sys.argv[0])
    return shutil.which('lanewise') or sys.exit('bench/%s: the program lanewise was not found: build Lanewise, or give its path in the environment variable LANEWISE' % name)
