# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += \
    %D%/gdbstub.h %D%/rsp_priv.h %D%/rsp_features.def %D%/rsp_features.c %D%/rsp_frame.c %D%/rsp_packets.c %D%/rsp_thread.c %D%/rsp_run.c %D%/rsp_back.c %D%/rsp_tests.c \
    %D%/rsp_data.c %D%/rsp_points.c %D%/rsp_arrivals.c %D%/rsp_format.c %D%/rsp_process.c %D%/rsp_monitor.c %D%/rsp_osdata.c %D%/rsp_target.c %D%/rsp_agent.c %D%/rsp_watch.c \
    %D%/rsp_listen.c %D%/rsp_socket.c %D%/rsp_python.c %D%/rsp_lldb.c

# The Python file for gdb is made of these, and travels inside the program: the stub sends it.
gdb_python_parts = %D%/lanewise_gdb_link.py %D%/lanewise_gdb_commands.py %D%/lanewise_gdb_focus.py %D%/lanewise_gdb_views.py \
    %D%/lanewise_gdb_watch.py %D%/lanewise_gdb_code.py %D%/lanewise_gdb_watch_if.py %D%/lanewise_gdb_points.py %D%/lanewise_gdb_start.py
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
