# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += %D%/source/ptx_assigned.c %D%/source/ptx_assigned_uses.c %D%/source/ptx_device_launches.c %D%/source/ptx_source_blocks.c %D%/source/ptx_source_text.c %D%/source/ptx_source_priv.h \
	%D%/ptx_cache.c %D%/ptx_clang.c %D%/ptx_compile_text.c %D%/ptx_cuda.c %D%/ptx_dependencies.c %D%/ptx_describe.c %D%/ptx_dump_calls.c %D%/ptx_initialisers.c %D%/ptx_link_symbols.c %D%/ptx_program.c %D%/ptx_spirv.c %D%/ptx_spirv_priv.h %D%/ptx_spirv_text.c %D%/ptx_subprocess.c %D%/ptx_values.c %D%/ptx_values_dump.c %D%/ptx_values_memory.c %D%/ptx_values_priv.h %D%/ptx_compile_priv.h \
	%D%/overrides/over_cl.inc %D%/overrides/over_atomics.inc %D%/overrides/over_convert.inc %D%/overrides/over_enqueue.inc %D%/overrides/over_groups.inc %D%/overrides/over_subgroups.inc %D%/overrides/over_half.inc %D%/overrides/over_images.inc \
	%D%/overrides/over_originals.inc %D%/overrides/over_scratch.inc %D%/overrides/nvcc_compat.inc
# The program contains our headers for CUDA C++ as texts in one table.
LW_CUDA_TEXTS = %D%/cuda/lanewise_cuda.h %D%/cuda/lanewise_types.h %D%/cuda/lanewise_host.h %D%/cuda/lanewise_driver.h %D%/cuda/lanewise_library.h %D%/cuda/lanewise_driver_graph.h %D%/cuda/lanewise_graph.h %D%/cuda/lanewise_calls.h %D%/cuda/lanewise_host_math.h %D%/cuda/lanewise_texture.h \
	%D%/cuda/lanewise_math.h %D%/cuda/lanewise_erf.h %D%/cuda/lanewise_special.h %D%/cuda/lanewise_std.h %D%/cuda/lanewise_device.h %D%/cuda/lanewise_launch.h %D%/cuda/lanewise_managed.h %D%/cuda/cmath \
	%D%/cuda/cooperative_groups.h %D%/cuda/lanewise_sync.h %D%/cuda/lanewise_half.h %D%/cuda/cuda_fp16.h %D%/cuda/cuda_bf16.h %D%/cuda/cuda_fp8.h \
	%D%/cuda/math_constants.h %D%/cuda/mma.h %D%/cuda/cuComplex.h %D%/cuda/cuda_awbarrier.h %D%/cuda/library_types.h %D%/cuda/nvfunctional %D%/cuda/lanewise_names_begin.h %D%/cuda/lanewise_names_end.h \
	runtime/cuda/cu_errors.def
EXTRA_DIST += $(LW_CUDA_TEXTS)
CLEANFILES += %D%/cuda_headers.inc
%D%/cuda_headers.inc: $(LW_CUDA_TEXTS)
	@$(MKDIR_P) %D%
	$(AM_V_GEN)for h in $(LW_CUDA_TEXTS); do f=$$h; [ -f $$f ] || f=$(srcdir)/$$h; \
	    echo "{\"$${h##*/}\","; \
	    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/    "/' -e 's/$$/\\n"/' $$f; \
	    echo "},"; done >$@.new && mv $@.new $@
%D%/ptx_cuda.$(OBJEXT): %D%/cuda_headers.inc
# The program also contains the bytes of the shared library that it loads into clang (ptx_clang_words.c).
EXTRA_DIST += %D%/ptx_clang_words.c
CLEANFILES += %D%/clang_words.inc
%D%/clang_words.inc: %D%/ptx_clang_words.c
	@$(MKDIR_P) %D%
	$(AM_V_GEN)$(CC) -std=gnu11 -O2 -fPIC -shared -nostdlib -fvisibility=hidden -s -o $@.so $(srcdir)/%D%/ptx_clang_words.c && \
	    od -An -v -t x1 $@.so | sed 's/\([0-9a-f][0-9a-f]\)/0x\1,/g' >$@.new && rm -f $@.so && mv $@.new $@
%D%/ptx_subprocess.$(OBJEXT): %D%/clang_words.inc
