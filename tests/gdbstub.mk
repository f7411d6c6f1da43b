# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_rsp_frame tests/test_rsp_agent tests/test_rsp_packets tests/test_rsp_points \
    tests/test_rsp_socket tests/fuzz_rsp
tests_test_rsp_frame_SOURCES = tests/test_rsp_frame.c tests/fake_dbg.c tests/fake_dbg.h tests/rsp_fixture.h
tests_test_rsp_frame_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_rsp_agent_SOURCES = tests/test_rsp_agent.c
tests_test_rsp_agent_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_rsp_packets_SOURCES = tests/test_rsp_packets.c tests/fake_dbg.c tests/fake_dbg.h tests/rsp_fixture.h
tests_test_rsp_packets_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_rsp_python_SOURCES = tests/test_rsp_python.c tests/fake_dbg.c tests/fake_dbg.h tests/rsp_fixture.h
tests_test_rsp_python_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/test_rsp_python
tests_test_rsp_whose_SOURCES = tests/test_rsp_whose.c tests/debug_fixture.h tests/rsp_fixture.h tests/fake_dbg.h
tests_test_rsp_whose_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/test_rsp_whose
tests_test_rsp_points_SOURCES = tests/test_rsp_points.c tests/fake_dbg.c tests/fake_dbg.h tests/rsp_fixture.h
tests_test_rsp_points_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_rsp_socket_SOURCES = tests/test_rsp_socket.c tests/fake_dbg.c tests/fake_dbg.h tests/rsp_fixture.h
tests_test_rsp_socket_LDADD = liblanewise.a $(TEST_LIBS)
tests_fuzz_rsp_SOURCES = tests/fuzz_rsp.c tests/fake_dbg.c tests/fake_dbg.h
tests_fuzz_rsp_LDADD = liblanewise.a $(TEST_LIBS)

# Not a test itself: gdb_carriers.sh runs it.
EXTRA_PROGRAMS = tests/gdb_server
tests_gdb_server_SOURCES = tests/gdb_server.c tests/gdb_spoils.c tests/gdb_spoils.h tests/gdb_spoils.def
# Calls of these go to __wrap_NAME of gdb_spoils.c.
tests_gdb_server_LDFLAGS = -Wl,--wrap=dbg_arrival_add,--wrap=rsp_view,--wrap=rsp_do_shown,--wrap=rsp_reg_write,--wrap=rsp_reg_read,--wrap=dbg_mem_read \
    -Wl,--wrap=dbg_watch_add,--wrap=dbg_step,--wrap=dbg_step_range,--wrap=dbg_continue \
    -Wl,--wrap=dbg_point_set_condition,--wrap=dbg_interrupt,--wrap=dbg_thread_at,--wrap=dbg_thread_get \
    -Wl,--wrap=dbg_thread_count,--wrap=dbg_focus_set,--wrap=dbg_point_add,--wrap=dbg_point_remove,--wrap=isa_object_write_loaded \
    -Wl,--wrap=rsp_arrivals_pc,--wrap=rsp_arrivals_region
tests_gdb_server_LDADD = $(LANEWISE_LIBS)
check_DATA = tests/gdb_server$(EXEEXT)

check_SCRIPTS += tests/gdb_session.sh tests/gdb_features.sh tests/gdb_carriers.sh \
    tests/gdb_opencl.sh tests/gdb_variables.sh tests/gdb_calls.sh tests/gdb_kernels.sh tests/gdb_reverse.sh tests/gdb_ends.sh tests/gdb_protocol.sh \
    tests/gdb_python.sh tests/gdb_watch_if.sh tests/gdb_break_if.sh tests/test_reverse_watch.sh tests/gdb_mi.sh tests/lldb_session.sh tests/lldb_dap.sh
EXTRA_DIST += tests/cli_lib.sh tests/gdb_lib.sh tests/dap_client.py tests/golden/gdb

# The table of behaviours in the real programs.
long_tests += tests/behaviours_gdb.sh
EXTRA_DIST += tests/behaviours_gdb.sh
check_SCRIPTS += tests/behaviours_gdb_x86_64.sh tests/behaviours_gdb_aarch64.sh \
    tests/behaviours_mi.sh tests/behaviours_mi_x86_64.sh tests/behaviours_mi_aarch64.sh \
    tests/behaviours_lldb.sh tests/behaviours_table.sh tests/gdb_speed.sh
EXTRA_DIST += tests/behaviours
