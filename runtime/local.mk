# SPDX-License-Identifier: Apache-2.0
# The core of the runtimes, which the OpenCL driver and the CUDA runtime share.
noinst_LIBRARIES += libruntime.a
libruntime_a_SOURCES = \
	%D%/rt_calls.c %D%/rt_device.c \
	%D%/rt_priv.h \
	%D%/rt_queue.c %D%/rt_report.c \
	%D%/rt_site.c \
	%D%/rt_source.c \
	%D%/rt_words.c
libruntime_a_CFLAGS = $(AM_CFLAGS) $(LIBDW_CFLAGS) $(LIBDW_DEFS)

# The core of the runtimes is a shared object, so that a program that uses both OpenCL and CUDA has one device.
LW_RUNTIME = liblanewise-runtime.so.0
lwexec_DATA += $(LW_RUNTIME)
CLEANFILES += $(LW_RUNTIME)
$(LW_RUNTIME): libruntime.a libhost.a liblanewise.a $(CORE_LIBS) %D%/exports.map
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -shared -Wl,-soname,$@ -Wl,-z,relro -Wl,-Bsymbolic \
	    -Wl,--version-script,$(srcdir)/%D%/exports.map \
	    -o $@ -Wl,--whole-archive libruntime.a libhost.a -Wl,--no-whole-archive liblanewise.a $(LANEWISE_LIBS) $(LIBDW_LIBS) $(LIBS)

# CUDA's runtime and driver interface. Programs that were linked with -cudart shared find this library by LD_LIBRARY_PATH, to
# which `lanewise app` adds its folder.
noinst_LIBRARIES += libcuda-runtime.a
libcuda_runtime_a_SOURCES = \
	%D%/cuda/calls/cu_absent.c \
	%D%/cuda/calls/cu_absent.def \
	%D%/cuda/calls/cu_copies.c \
	%D%/cuda/calls/cu_driver_same.c \
	%D%/cuda/calls/cu_libraries.c \
	%D%/cuda/calls/cu_memory_ops.c \
	%D%/cuda/calls/cu_old_launch.c \
	%D%/cuda/calls/cu_queries.c \
	%D%/cuda/calls/cu_thread_names.def \
	%D%/cuda/calls/cu_user_object.c \
	%D%/cuda/cu_capture.c \
	%D%/cuda/cu_device.c \
	%D%/cuda/cu_driver.c \
	%D%/cuda/cu_driver_graph.c \
	%D%/cuda/cu_driver_memory.c \
	%D%/cuda/cu_driver_module.c \
	%D%/cuda/cu_driver_priv.h \
	%D%/cuda/cu_driver_symbols.c \
	%D%/cuda/cu_error.c \
	%D%/cuda/cu_errors.def \
	%D%/cuda/cu_graph.c \
	%D%/cuda/cu_graph_exec.c \
	%D%/cuda/cu_graph_node.c \
	%D%/cuda/cu_graph_priv.h \
	%D%/cuda/graph/cu_driver_nodes.c \
	%D%/cuda/graph/cu_graph_attributes.c \
	%D%/cuda/graph/cu_graph_dot.c \
	%D%/cuda/graph/cu_graph_params.c \
	%D%/cuda/cu_launch.c \
	%D%/cuda/memory/cu_memory.c \
	%D%/cuda/memory/cu_device_functions.c \
	%D%/cuda/cu_link.c \
	%D%/cuda/cu_module.c \
	%D%/cuda/memory/cu_graph_memory.c \
	%D%/cuda/memory/cu_ipc.c \
	%D%/cuda/memory/cu_pool.c \
	%D%/cuda/memory/cu_registered.c \
	%D%/cuda/memory/cu_virtual.c \
	%D%/cuda/cu_priv.h \
	%D%/cuda/cu_stream.c \
	%D%/cuda/cu_trace.c \
	%D%/cuda/cu_trace_priv.h \
	%D%/cuda/texture/cu_array.c \
	%D%/cuda/texture/cu_driver_texture.c \
	%D%/cuda/texture/cu_texture.c \
	%D%/cuda/texture/cu_texture_priv.h
# -Wno-missing-prototypes: no header here declares these functions; compilers and CUDA's headers declare them.
# Without sibling calls, each function that the program calls has a frame, which cu_trace.c needs.
libcuda_runtime_a_CFLAGS = $(AM_CFLAGS) -fno-optimize-sibling-calls $(ZSTD_CFLAGS) $(ZSTD_DEFS) -Wno-missing-prototypes
LW_CUDART = lanewise-cuda/libcudart.so.13
# libcuda.so.1 is a symbolic link to libcudart.so.13. The dynamic linker then loads this file only once, so that a program that
# uses both the runtime and the driver interface has one device.
LW_CUDA = lanewise-cuda/libcuda.so.1
# Linkers search these names for -lcudart and -lcuda. They are symbolic links, too.
LW_CUDA_LINKS = lanewise-cuda/libcudart.so lanewise-cuda/libcuda.so
cudartdir = $(libdir)/lanewise-cuda
cudart_DATA = $(LW_CUDART)
noinst_DATA = $(LW_CUDA) $(LW_CUDA_LINKS)
CLEANFILES += $(LW_CUDART) $(LW_CUDA) $(LW_CUDA_LINKS)
$(LW_CUDA) $(LW_CUDA_LINKS): $(LW_CUDART)
	$(AM_V_GEN)ln -sf libcudart.so.13 $@
install-data-hook:
	for name in $(LW_CUDA) $(LW_CUDA_LINKS); do ln -sf libcudart.so.13 $(DESTDIR)$(cudartdir)/$${name#*/} || exit 1; done
$(LW_CUDART): libcuda-runtime.a $(LW_RUNTIME) %D%/cuda/exports.map %D%/cuda/calls/cu_thread_names.def
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-z,relro -Wl,-Bsymbolic \
	    -Wl,--version-script,$(srcdir)/%D%/cuda/exports.map \
	    `sed -n 's/^CU_THREAD_NAME(\(.*\), \(.*\))$$/-Wl,--defsym=\1_\2=\1/p' $(srcdir)/%D%/cuda/calls/cu_thread_names.def` \
	    -o $@ -Wl,--whole-archive libcuda-runtime.a -Wl,--no-whole-archive -Wl,-rpath,'$$ORIGIN/..' ./$(LW_RUNTIME) $(ZSTD_LIBS) $(LIBS)

# The OpenCL driver: a shared object that an OpenCL loader opens. It exports only the functions that the loader looks up.
if HAVE_OPENCL_HEADERS
noinst_LIBRARIES += libopencl.a
libopencl_a_SOURCES = \
	%D%/opencl/cl_calls.def \
	%D%/opencl/cl_context.c \
	%D%/opencl/cl_copy.c \
	%D%/opencl/cl_dispatch.c \
	%D%/opencl/cl_event.c \
	%D%/opencl/cl_il.c \
	%D%/opencl/cl_image.c \
	%D%/opencl/cl_image_copy.c \
	%D%/opencl/cl_kernel.c \
	%D%/opencl/cl_memory.c \
	%D%/opencl/cl_object.c \
	%D%/opencl/cl_platform.c \
	%D%/opencl/cl_priv.h \
	%D%/opencl/cl_program.c \
	%D%/opencl/cl_sampler.c \
	%D%/opencl/cl_svm.c \
	%D%/opencl/cl_trace.c \
	%D%/opencl/cl_unsupported.c
LW_OPENCL = liblanewise-opencl.so
lwexec_DATA += $(LW_OPENCL)
CLEANFILES += $(LW_OPENCL) lanewise.icd
$(LW_OPENCL): libopencl.a $(LW_RUNTIME) %D%/opencl/exports.map
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -shared -Wl,-soname,$@ -Wl,-z,relro -Wl,-Bsymbolic \
	    -Wl,--version-script,$(srcdir)/%D%/opencl/exports.map \
	    -o $@ -Wl,--whole-archive libopencl.a -Wl,--no-whole-archive -Wl,-rpath,'$$ORIGIN' ./$(LW_RUNTIME) $(LIBS)
# A loader finds the driver by a file lanewise.icd that contains the driver's path. There is one for this build, and one that
# is installed.
noinst_DATA += lanewise-icd/lanewise.icd
lanewise-icd/lanewise.icd: Makefile $(LW_OPENCL)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && echo '$(abs_builddir)/$(LW_OPENCL)' >$@.new && mv $@.new $@
icddir = $(libdir)/lanewise-icd
icd_DATA = lanewise.icd
lanewise.icd: Makefile
	$(AM_V_GEN)echo '$(libdir)/$(LW_OPENCL)' >$@.new && mv $@.new $@
CLEANFILES += lanewise-icd/lanewise.icd
endif
EXTRA_DIST += %D%/exports.map %D%/opencl/exports.map %D%/cuda/exports.map
