# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += tests/runtime/cc/texture.cu tests/runtime/cc/driver.cpp tests/runtime/cc/stages.cu tests/runtime/cc/toolkit.cu tests/runtime/cc/managed.cu tests/runtime/cc/managed_two.cu tests/runtime/mathematics/mathematics.cu tests/runtime/mathematics/mathematics.h tests/runtime/mathematics/mathematics.py tests/runtime/cc/matrix.cu tests/runtime/cc/names.cuh tests/runtime/cc/names_one.cu tests/runtime/cc/names_two.cu tests/runtime/cc/linked_one.cu tests/runtime/cc/linked_two.cu tests/runtime/cc/headers.cu tests/runtime/cc/declared.cu
if HAVE_OPENCL
check_PROGRAMS += tests/runtime/opencl/test_opencl
tests_runtime_opencl_test_opencl_SOURCES = tests/runtime/opencl/test_opencl.c tests/runtime/opencl/opencl_test.h
tests_runtime_opencl_test_opencl_CFLAGS = $(AM_CFLAGS) $(OPENCL_CFLAGS)
tests_runtime_opencl_test_opencl_LDADD = $(OPENCL_LIBS) $(CMOCKA_LIBS) -lpthread
tests_runtime_opencl_test_opencl_DEPENDENCIES = lanewise-icd/lanewise.icd
check_PROGRAMS += tests/runtime/opencl/test_opencl_programs
tests_runtime_opencl_test_opencl_programs_SOURCES = tests/runtime/opencl/test_opencl_programs.c tests/runtime/opencl/opencl_test.h
tests_runtime_opencl_test_opencl_programs_CFLAGS = $(AM_CFLAGS) $(OPENCL_CFLAGS)
tests_runtime_opencl_test_opencl_programs_LDADD = $(OPENCL_LIBS) $(CMOCKA_LIBS)
tests_runtime_opencl_test_opencl_programs_DEPENDENCIES = lanewise-icd/lanewise.icd
check_PROGRAMS += tests/runtime/opencl/test_opencl_il
tests_runtime_opencl_test_opencl_il_SOURCES = tests/runtime/opencl/test_opencl_il.c tests/runtime/opencl/opencl_test.h
tests_runtime_opencl_test_opencl_il_CFLAGS = $(AM_CFLAGS) $(OPENCL_CFLAGS)
tests_runtime_opencl_test_opencl_il_LDADD = $(OPENCL_LIBS) $(CMOCKA_LIBS)
tests_runtime_opencl_test_opencl_il_DEPENDENCIES = lanewise-icd/lanewise.icd
check_PROGRAMS += tests/runtime/opencl/test_opencl_images
tests_runtime_opencl_test_opencl_images_SOURCES = tests/runtime/opencl/test_opencl_images.c tests/runtime/opencl/opencl_test.h
tests_runtime_opencl_test_opencl_images_CFLAGS = $(AM_CFLAGS) $(OPENCL_CFLAGS)
tests_runtime_opencl_test_opencl_images_LDADD = $(OPENCL_LIBS) $(CMOCKA_LIBS) -lm
tests_runtime_opencl_test_opencl_images_DEPENDENCIES = lanewise-icd/lanewise.icd
check_PROGRAMS += tests/runtime/opencl/test_misuse
tests_runtime_opencl_test_misuse_SOURCES = tests/runtime/opencl/test_misuse.c tests/runtime/opencl/opencl_test.h
tests_runtime_opencl_test_misuse_CFLAGS = $(AM_CFLAGS) $(OPENCL_CFLAGS)
tests_runtime_opencl_test_misuse_LDADD = $(OPENCL_LIBS) $(CMOCKA_LIBS)
tests_runtime_opencl_test_misuse_DEPENDENCIES = lanewise-icd/lanewise.icd
check_PROGRAMS += tests/runtime/opencl/test_macros
tests_runtime_opencl_test_macros_SOURCES = tests/runtime/opencl/test_macros.c tests/runtime/opencl/opencl_test.h
tests_runtime_opencl_test_macros_CFLAGS = $(AM_CFLAGS) $(OPENCL_CFLAGS)
tests_runtime_opencl_test_macros_LDADD = $(OPENCL_LIBS) $(CMOCKA_LIBS)
tests_runtime_opencl_test_macros_DEPENDENCIES = lanewise-icd/lanewise.icd
check_PROGRAMS += tests/runtime/opencl/test_forks
tests_runtime_opencl_test_forks_SOURCES = tests/runtime/opencl/test_forks.c tests/runtime/opencl/opencl_test.h
tests_runtime_opencl_test_forks_CFLAGS = $(AM_CFLAGS) $(OPENCL_CFLAGS)
tests_runtime_opencl_test_forks_LDADD = $(OPENCL_LIBS) $(CMOCKA_LIBS) -lpthread
tests_runtime_opencl_test_forks_DEPENDENCIES = lanewise-icd/lanewise.icd
# prop_opencl calls the driver without the loader, because the loader reads the memory of every handle.
check_PROGRAMS += tests/runtime/calls/prop_opencl
tests_runtime_calls_prop_opencl_SOURCES = tests/runtime/calls/prop_opencl.c tests/runtime/calls/prop_opencl_buffers.h tests/runtime/calls/prop_opencl_objects.h tests/runtime/calls/prop_opencl_queries.h tests/runtime/calls/prop_calls.h
tests_runtime_calls_prop_opencl_CFLAGS = $(AM_CFLAGS) $(OPENCL_CFLAGS)
tests_runtime_calls_prop_opencl_LDADD = -ldl -lpthread
tests_runtime_calls_prop_opencl_DEPENDENCIES = $(LW_OPENCL)
check_SCRIPTS += tests/runtime/test_app.sh tests/runtime/test_api_checks.sh
endif
check_PROGRAMS += tests/runtime/calls/prop_cuda
tests_runtime_calls_prop_cuda_SOURCES = tests/runtime/calls/prop_cuda.c tests/runtime/calls/prop_cuda_graphs.h tests/runtime/calls/prop_cuda_launches.h tests/runtime/calls/prop_cuda_objects.h tests/runtime/calls/prop_calls.h
tests_runtime_calls_prop_cuda_LDADD = -ldl -lpthread
tests_runtime_calls_prop_cuda_DEPENDENCIES = $(LW_CUDA)
check_SCRIPTS += tests/runtime/test_cuda.sh tests/runtime/test_cuda_checks.sh tests/runtime/test_cc.sh tests/runtime/test_link.sh tests/runtime/test_app_gdb.sh tests/runtime/test_probes.sh tests/runtime/test_app_native.sh tests/runtime/test_graphs.sh tests/runtime/test_memory.sh tests/runtime/app/test_app_options.sh tests/runtime/app/test_app_record.sh tests/runtime/record/test_record_memory.sh tests/runtime/app/test_app_reports.sh tests/runtime/app/test_app_builds.sh tests/runtime/app/test_app_log.sh tests/runtime/test_nvcc.sh
EXTRA_DIST += tests/runtime/test_app.sh tests/runtime/test_api_checks.sh tests/runtime/test_cuda_checks.sh tests/runtime/test_cuda.sh tests/runtime/vector.cu tests/runtime/mini_cuda.h tests/runtime/test_cuda_driver.c \
	tests/runtime/test_cc.sh tests/runtime/test_link.sh tests/runtime/link tests/runtime/test_nvcc.sh tests/runtime/nvcc/instructions.cu tests/runtime/nvcc/copies.cu tests/runtime/cc/parts.h tests/runtime/cc/one.cu tests/runtime/cc/two.cu tests/runtime/cc/three.cpp tests/runtime/cc/function.cu tests/runtime/cc/check.h tests/runtime/cc/host.c tests/runtime/cc/plain.c tests/runtime/cc/grid.cu tests/runtime/cc/half.cu \
	tests/runtime/test_app_gdb.sh tests/runtime/debug/first.cu tests/runtime/debug/second.cu tests/runtime/debug/past.cu tests/runtime/debug/kept.cu \
	tests/runtime/debug/modules.cuh tests/runtime/debug/modules_main.cu tests/runtime/debug/modules_device.cu tests/runtime/debug/modules_other.cu \
	tests/runtime/debug/recover.cu tests/runtime/debug/queue.c tests/runtime/debug/images.c tests/runtime/debug/both.cu \
	tests/runtime/test_probes.sh tests/runtime/probes tests/runtime/devices tests/runtime/test_app_native.sh tests/runtime/native/children.cu tests/runtime/native/invalid.cu \
	tests/runtime/cuda_lib.sh tests/runtime/test_graphs.sh tests/runtime/graphs/graphs.cu tests/runtime/graphs/fault.cu tests/runtime/graphs/changes.cu tests/runtime/app/test_app_options.sh \
	tests/runtime/record/test_record_memory.sh tests/runtime/record/reach.cu tests/runtime/record/heap.cu tests/runtime/record/textures.cu tests/runtime/record/shared.c \
	tests/runtime/app/test_app_record.sh tests/runtime/app/dimensions.c tests/runtime/app/test_app_builds.sh tests/runtime/app/test_app_log.sh tests/runtime/app/test_app_reports.sh \
	tests/runtime/test_memory.sh tests/runtime/memory/virtual.cu tests/runtime/memory/nodes.cu tests/runtime/memory/tiles.cu \
	tests/runtime/memory/limits.cu tests/runtime/memory/host_functions.cu tests/runtime/memory/check.h
