# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += \
    %D%/gdbstub.h %D%/rsp_priv.h %D%/rsp_features.def %D%/rsp_features.c %D%/rsp_frame.c %D%/rsp_packets.c %D%/rsp_run.c \
    %D%/rsp_data.c %D%/rsp_points.c %D%/rsp_target.c %D%/rsp_agent.c %D%/rsp_watch.c \
    %D%/rsp_socket.c
