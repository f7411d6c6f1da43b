# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += %D%/gdbstub.h %D%/rsp_priv.h %D%/rsp_features.def %D%/rsp_lldb.c %D%/rsp_monitor.c %D%/rsp_packets.c
liblanewise_a_SOURCES += %D%/protocol/rsp_address.c %D%/protocol/rsp_features.c %D%/protocol/rsp_frame.c
liblanewise_a_SOURCES += %D%/target/rsp_arrivals.c %D%/target/rsp_data.c %D%/target/rsp_osdata.c %D%/target/rsp_target.c \
	%D%/target/rsp_thread.c
liblanewise_a_SOURCES += %D%/run/rsp_agent.c %D%/run/rsp_format.c %D%/run/rsp_interrupt.c %D%/run/rsp_points.c \
	%D%/run/rsp_process.c %D%/run/rsp_reverse.c %D%/run/rsp_run.c %D%/run/rsp_notes.c %D%/run/rsp_watch_condition.c
liblanewise_a_SOURCES += %D%/session/rsp_python.c %D%/session/rsp_socket.c

# These parts are concatenated to the Python file for gdb, which the program contains as a string. The stub sends it to gdb.
gdb_python_parts = %D%/python/lanewise_gdb_link.py %D%/python/lanewise_gdb_commands.py %D%/python/lanewise_gdb_focus.py %D%/python/lanewise_gdb_views.py \
    %D%/python/lanewise_gdb_watch.py %D%/python/lanewise_gdb_code.py %D%/python/lanewise_gdb_watch_if.py %D%/python/lanewise_gdb_points.py %D%/python/lanewise_gdb_start.py
EXTRA_DIST += $(gdb_python_parts)
nodist_pkgdata_DATA = %D%/lanewise_gdb.py
nodist_liblanewise_a_SOURCES = %D%/rsp_python_text.c
CLEANFILES += %D%/rsp_python_text.c %D%/lanewise_gdb.py
%D%/lanewise_gdb.py: $(gdb_python_parts)
	@$(MKDIR_P) %D%
	$(AM_V_GEN)(cd $(srcdir) && awk 'FNR == 1 && NR != 1 { print "\n" } { print }' $(gdb_python_parts)) >$@-new && mv $@-new $@
%D%/rsp_python_text.c: %D%/lanewise_gdb.py
	$(AM_V_GEN)(echo '#include "gdbstub/rsp_priv.h"'; echo 'const char rsp_python_text[] = {'; \
	    od -An -v -t x1 %D%/lanewise_gdb.py | sed 's/\([0-9a-f][0-9a-f]\)/0x\1,/g'; \
	    echo '0};') >$@-new && mv $@-new $@
