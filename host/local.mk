# SPDX-License-Identifier: Apache-2.0
# The library for other programs: lanewise.h, lanewise.pc and a shared object. The shared object links the parts of
# liblanewise.a that the functions of lanewise.h need, and exports only these functions.
noinst_LIBRARIES += libhost.a
libhost_a_SOURCES = \
	%D%/host_compile.c \
	%D%/host_findings.c \
	%D%/host_gdb.c \
	%D%/host_kernel.c \
	%D%/host_log.c \
	%D%/host_machine.c \
	%D%/host_record.c \
	%D%/host_record_memory.c \
	%D%/host_record_priv.h \
	%D%/host_memory.c \
	%D%/host_priv.h \
	%D%/host_run.c \
	%D%/host_settings.c
include_HEADERS = %D%/lanewise.h
HOST_LIBS = libhost.a liblanewise.a $(LANEWISE_LIBS)

LW_SONAME = liblanewise.so.0
# automake installs a folder whose name contains "exec" with the programs, by install-exec.
lwexecdir = $(libdir)
lwexec_DATA = $(LW_SONAME)
CLEANFILES += $(LW_SONAME) lanewise.pc
$(LW_SONAME): libhost.a liblanewise.a $(CORE_LIBS)
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -shared -Wl,-soname,$@ -Wl,-z,relro \
	    -o $@ -Wl,--whole-archive libhost.a -Wl,--no-whole-archive liblanewise.a $(LANEWISE_LIBS) $(LIBS)
install-exec-hook:
	ln -sf $(LW_SONAME) $(DESTDIR)$(libdir)/liblanewise.so
uninstall-hook:
	rm -f $(DESTDIR)$(libdir)/liblanewise.so $(DESTDIR)$(libdir)/lanewise-cuda/libcuda.so.1

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = lanewise.pc
lanewise.pc: Makefile
	$(AM_V_GEN){ echo 'prefix=$(prefix)'; echo 'exec_prefix=$${prefix}'; \
	    echo 'libdir=$(libdir)' | sed 's,=$(exec_prefix)/,=$${exec_prefix}/,'; \
	    echo 'includedir=$(includedir)' | sed 's,=$(prefix)/,=$${prefix}/,'; echo; \
	    echo 'Name: lanewise'; \
	    echo 'Description: runs GPU kernels without a GPU, with a debugger, cycles and checks'; \
	    echo 'Version: $(PACKAGE_VERSION)'; \
	    echo 'Libs: -L$${libdir} -llanewise'; \
	    echo 'Cflags: -I$${includedir}'; } >$@.new && mv $@.new $@

examplesdir = $(docdir)/examples
dist_examples_DATA = %D%/examples/saxpy.c %D%/examples/saxpy.py \
	docs/examples/lines.s docs/examples/lines.yaml docs/examples/overwrite.cl docs/examples/overwrite.yaml \
	docs/examples/first.cl docs/examples/first.yaml docs/examples/smooth.cl docs/examples/smooth.yaml \
	docs/examples/reverse.cl docs/examples/reverse.yaml docs/examples/clamp.s docs/examples/clamp.yaml \
	docs/examples/sums.cl docs/examples/sums_row.yaml docs/examples/sums_column.yaml \
	docs/examples/pairs.cu docs/examples/halve.cl docs/examples/halve.yaml docs/examples/lock.cl docs/examples/lock.yaml docs/examples/nearby.cl docs/examples/nearby.yaml \
	docs/examples/tags.yaml docs/examples/vws.yaml docs/examples/vws4.yaml docs/examples/dwr64.yaml
dist_examples_SCRIPTS = docs/examples/ci.sh docs/examples/sweep.sh

# The Python package. `pip install` is given the folder in which it is installed.
pythondir = $(datadir)/lanewise/python
dist_python_DATA = python/pyproject.toml
pypackagedir = $(pythondir)/lanewise
dist_pypackage_DATA = python/lanewise/__init__.py python/lanewise/_abi.py python/lanewise/_errors.py \
	python/lanewise/_findings.py python/lanewise/_library.py python/lanewise/_machine.py python/lanewise/_memory.py \
	python/lanewise/_signature.py
