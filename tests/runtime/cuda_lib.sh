# SPDX-License-Identifier: Apache-2.0
# Library for tests that run CUDA programs. A test sources this file first. The current folder is then $scratch, which is empty. $src
# is tests/runtime in the source tree, and $lanewise the program. fail MESSAGE sets $failed. The test is skipped if the runtime is
# built with the address sanitizer.
set -u
src=$(cd "${srcdir:-.}" && pwd)/tests/runtime
lanewise=$(cd "$(dirname "${LANEWISE:-./lanewise}")" && pwd)/lanewise
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0
fail() { echo "FAIL: $*"; failed=1; }
if nm -D "$(dirname "$lanewise")/lanewise-cuda/libcudart.so.13" 2>/dev/null | grep -q '__asan_init'; then
    echo "skipped: programs cannot load a runtime that is built with the address sanitizer"
    exit 77
fi
