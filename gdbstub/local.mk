# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += \
    %D%/gdbstub.h %D%/rsp_priv.h %D%/rsp_features.def %D%/rsp_features.c %D%/rsp_frame.c %D%/rsp_packets.c %D%/rsp_run.c %D%/rsp_back.c \
    %D%/rsp_data.c %D%/rsp_points.c %D%/rsp_format.c %D%/rsp_process.c %D%/rsp_monitor.c %D%/rsp_osdata.c %D%/rsp_target.c %D%/rsp_agent.c %D%/rsp_watch.c \
    %D%/rsp_listen.c %D%/rsp_socket.c %D%/rsp_python.c %D%/rsp_lldb.c

# The Python file for gdb travels inside the program: the stub sends it.
dist_pkgdata_DATA = %D%/lanewise_gdb.py
nodist_liblanewise_a_SOURCES = %D%/rsp_python_text.c
CLEANFILES += %D%/rsp_python_text.c
%D%/rsp_python_text.c: %D%/lanewise_gdb.py
	@$(MKDIR_P) %D%
	$(AM_V_GEN)(echo '#include "gdbstub/rsp_priv.h"'; echo 'const char rsp_python_text[] = {'; \
	    od -An -v -t x1 $(srcdir)/%D%/lanewise_gdb.py | sed 's/\([0-9a-f][0-9a-f]\)/0x\1,/g'; \
	    echo '0};') >$@-new && mv $@-new $@
