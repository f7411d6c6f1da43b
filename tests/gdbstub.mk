# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_rsp_frame tests/test_rsp_agent tests/test_rsp_packets
tests_test_rsp_frame_SOURCES = tests/test_rsp_frame.c tests/fake_dbg.c tests/fake_dbg.h tests/rsp_fixture.h
tests_test_rsp_frame_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_rsp_agent_SOURCES = tests/test_rsp_agent.c
tests_test_rsp_agent_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_rsp_packets_SOURCES = tests/test_rsp_packets.c tests/fake_dbg.c tests/fake_dbg.h tests/rsp_fixture.h
tests_test_rsp_packets_LDADD = liblanewise.a $(TEST_LIBS)
