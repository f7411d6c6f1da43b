# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/gdbstub/test_rsp_frame tests/gdbstub/test_rsp_agent tests/gdbstub/test_rsp_packets tests/gdbstub/test_rsp_points \
    tests/gdbstub/test_rsp_socket tests/gdbstub/fuzz_rsp
tests_gdbstub_test_rsp_frame_SOURCES = tests/gdbstub/test_rsp_frame.c tests/gdbstub/fake_dbg.c tests/gdbstub/fake_dbg.h tests/gdbstub/rsp_fixture.h
tests_gdbstub_test_rsp_frame_LDADD = liblanewise.a $(TEST_LIBS)
tests_gdbstub_test_rsp_agent_SOURCES = tests/gdbstub/test_rsp_agent.c
tests_gdbstub_test_rsp_agent_LDADD = liblanewise.a $(TEST_LIBS)
tests_gdbstub_test_rsp_packets_SOURCES = tests/gdbstub/test_rsp_packets.c tests/gdbstub/fake_dbg.c tests/gdbstub/fake_dbg.h tests/gdbstub/rsp_fixture.h
tests_gdbstub_test_rsp_packets_LDADD = liblanewise.a $(TEST_LIBS)
tests_gdbstub_test_rsp_python_SOURCES = tests/gdbstub/test_rsp_python.c tests/gdbstub/fake_dbg.c tests/gdbstub/fake_dbg.h tests/gdbstub/rsp_fixture.h
tests_gdbstub_test_rsp_python_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/gdbstub/test_rsp_python
tests_gdbstub_test_rsp_whose_SOURCES = tests/gdbstub/test_rsp_whose.c tests/debug/debug_fixture.h tests/gdbstub/rsp_fixture.h tests/gdbstub/fake_dbg.h
tests_gdbstub_test_rsp_whose_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/gdbstub/test_rsp_whose
tests_gdbstub_test_rsp_points_SOURCES = tests/gdbstub/test_rsp_points.c tests/gdbstub/fake_dbg.c tests/gdbstub/fake_dbg.h tests/gdbstub/rsp_fixture.h
tests_gdbstub_test_rsp_points_LDADD = liblanewise.a $(TEST_LIBS)
tests_gdbstub_test_rsp_socket_SOURCES = tests/gdbstub/test_rsp_socket.c tests/gdbstub/fake_dbg.c tests/gdbstub/fake_dbg.h tests/gdbstub/rsp_fixture.h
tests_gdbstub_test_rsp_socket_LDADD = liblanewise.a $(TEST_LIBS)
tests_gdbstub_fuzz_rsp_SOURCES = tests/gdbstub/fuzz_rsp.c tests/gdbstub/fake_dbg.c tests/gdbstub/fake_dbg.h
tests_gdbstub_fuzz_rsp_LDADD = liblanewise.a $(TEST_LIBS)

# gdb_carriers.sh runs this program, which is no test itself.
EXTRA_PROGRAMS += tests/clients/gdb_server
tests_clients_gdb_server_SOURCES = tests/clients/gdb_server.c tests/clients/fault_injection.c tests/clients/fault_injection.h tests/clients/fault_injection.def
# The linker replaces calls of these functions by calls of __wrap_NAME in fault_injection.c.
tests_clients_gdb_server_LDFLAGS = -Wl,--wrap=dbg_reported_lanes_add,--wrap=rsp_view,--wrap=rsp_do_shown,--wrap=rsp_reg_write,--wrap=rsp_reg_read,--wrap=dbg_mem_read \
    -Wl,--wrap=dbg_watch_add,--wrap=dbg_step,--wrap=dbg_step_range,--wrap=dbg_continue \
    -Wl,--wrap=dbg_stoppoint_set_condition,--wrap=dbg_interrupt,--wrap=dbg_thread_at,--wrap=dbg_thread_get \
    -Wl,--wrap=dbg_thread_count,--wrap=dbg_focus_set,--wrap=dbg_breakpoint_add,--wrap=dbg_stoppoint_remove,--wrap=isa_object_write_loaded \
    -Wl,--wrap=rsp_arrivals_pc,--wrap=rsp_arrivals_region
tests_clients_gdb_server_LDADD = $(LANEWISE_LIBS)
check_DATA = tests/clients/gdb_server$(EXEEXT)

check_SCRIPTS += tests/clients/gdb_session.sh tests/clients/gdb_launcher.sh tests/clients/gdb_features.sh tests/clients/gdb_carriers.sh \
    tests/clients/gdb_opencl.sh tests/clients/gdb_optimised.sh tests/clients/gdb_variables.sh tests/clients/gdb_calls.sh tests/clients/gdb_kernels.sh tests/clients/gdb_reverse.sh tests/clients/gdb_session_end.sh tests/clients/gdb_protocol.sh \
    tests/clients/gdb_python.sh tests/clients/gdb_watch_if.sh tests/clients/gdb_break_if.sh tests/debug/test_reverse_watch.sh tests/clients/gdb_mi.sh tests/clients/lldb_session.sh tests/clients/lldb_dap.sh
EXTRA_DIST += tests/lib/cli_lib.sh tests/clients/gdb_lib.sh tests/clients/dap_client.py tests/clients/golden

# Tests that check the table of behaviours in gdb and lldb.
long_tests += tests/clients/behaviours_gdb.sh
EXTRA_DIST += tests/clients/behaviours_gdb.sh
check_SCRIPTS += tests/clients/behaviours_gdb_x86_64.sh tests/clients/behaviours_gdb_aarch64.sh \
    tests/clients/behaviours_mi.sh tests/clients/behaviours_mi_x86_64.sh tests/clients/behaviours_mi_aarch64.sh \
    tests/clients/behaviours_lldb.sh tests/clients/behaviours_table.sh tests/clients/gdb_speed.sh
EXTRA_DIST += tests/clients/behaviours
