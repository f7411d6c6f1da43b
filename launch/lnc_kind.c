/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other kinds given as launch file or program: their kinds, and what to give instead. */
#include "launch/launch_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#define GIVE_PTX "give its .cu source or its PTX (nvcc -ptx, or cuobjdump -ptx where it was kept)"
#define GIVE_KERNEL                                                                                             \
    "whole programs do not run here yet, their kernels do: give the file that has the kernel (.cl, .cu, .ptx) " \
    "with --grid, --block and --arg, or \"lanewise template\" writes a launch file for it"

/** Kinds by their first bytes. */
static const struct {
    unsigned size;
    const char *bytes, *is;
} magics[] = {
    {4, "\x50\xed\x55\xba", "is a fatbin, machine code of NVIDIA's GPUs, which does not run here: " GIVE_PTX},
    {8, "!<arch>\n", "is an archive of object files of the host, and kernels in it are machine code: " GIVE_PTX},
    {4, "\x03\x02\x23\x07", "is SPIR-V, which is not read here: give the OpenCL C that it was made of (.cl)"},
    {4, "\x07\x23\x02\x03", "is SPIR-V, which is not read here: give the OpenCL C that it was made of (.cl)"},
    {4, "BC\xc0\xde", "is bitcode of LLVM, which is not read here: give its source (.cl, .cu), or make PTX of it "
                         "with \"llc -march=nvptx64\""},
    {4, "\xde\xc0\x17\x0b", "is bitcode of LLVM, which is not read here: give its source (.cl, .cu), or make PTX of "
                               "it with \"llc -march=nvptx64\""},
    {8, "LWCHECK\n", "is a checkpoint: give the launch file that it was made of, with --resume"},
    {8, "LWSCHED\n", "is a schedule log: give the launch file that it was made of, with --replay"},
    {8, "\x89PNG\r\n\x1a\n", "is an image: a buffer takes it as plain numbers, init: {file: pixels.bin}; give a launch file"},
    {3, "\xff\xd8\xff", "is an image: a buffer takes it as plain numbers, init: {file: pixels.bin}; give a launch file"},
    {4, "GIF8", "is an image: a buffer takes it as plain numbers, init: {file: pixels.bin}; give a launch file"},
    {5, "%PDF-", "is a PDF document: give a launch file, or the file that has the kernel"},
    {4, "PK\x03\x04", "is a zip archive: unpack it, and give a launch file of what is in it"},
    {2, "\x1f\x8b", "is compressed (gzip): unpack it first"},
    {6, "\xfd" "7zXZ\0", "is compressed (xz): unpack it first"},
    {4, "\x28\xb5\x2f\xfd", "is compressed (zstd): unpack it first"},
    {4, "\xfe\xed\xfa\xcf", "is a program or library of macOS: " GIVE_KERNEL},
    {4, "\xcf\xfa\xed\xfe", "is a program or library of macOS: " GIVE_KERNEL},
    {2, "#!", "is a script: " GIVE_KERNEL},
};

/** Kinds by name, where the contents are ambiguous. */
static const struct {
    const char *suffix, *is;
} names[] = {
    {".c", "is C, a program of the host: " GIVE_KERNEL},
    {".cc", "is C++, a program of the host: " GIVE_KERNEL},
    {".cpp", "is C++, a program of the host: " GIVE_KERNEL},
    {".cxx", "is C++, a program of the host: " GIVE_KERNEL},
    {".c++", "is C++, a program of the host: " GIVE_KERNEL},
    {".h", "is a header: give the file that includes it and has the kernel (.cl, .cu)"},
    {".hpp", "is a header: give the file that includes it and has the kernel (.cl, .cu)"},
    {".cuh", "is a header: give the file that includes it and has the kernel (.cu)"},
    {".clh", "is a header: give the file that includes it and has the kernel (.cl)"},
    {".py", "is Python, a program of the host: " GIVE_KERNEL},
    {".jl", "is Julia, a program of the host: " GIVE_KERNEL},
    {".rs", "is Rust, a program of the host: " GIVE_KERNEL},
    {".sh", "is a script: " GIVE_KERNEL},
    {".ipynb", "is a notebook, a program of the host: " GIVE_KERNEL},
    {".f90", "is Fortran, a program of the host: " GIVE_KERNEL},
    {".hip", "is HIP, which is not read here: a kernel without AMD's own functions compiles as CUDA C++, under the name .cu"},
    {".ll", "is LLVM's assembly, which is not read here: make PTX of it with \"llc -march=nvptx64\""},
    {".sass", "is machine code of one NVIDIA GPU as text, which does not run here: " GIVE_PTX},
    {".metal", "is a shader of Metal, which is not read here: kernels are OpenCL C (.cl), CUDA C++ (.cu) or PTX"},
    {".hlsl", "is a shader, which is not read here: kernels are OpenCL C (.cl), CUDA C++ (.cu) or PTX"},
    {".glsl", "is a shader, which is not read here: kernels are OpenCL C (.cl), CUDA C++ (.cu) or PTX"},
    {".comp", "is a shader, which is not read here: kernels are OpenCL C (.cl), CUDA C++ (.cu) or PTX"},
    {".wgsl", "is a shader, which is not read here: kernels are OpenCL C (.cl), CUDA C++ (.cu) or PTX"},
};

const char *lnc_suffix(const char *path)
{
    const char *slash = strrchr(path, '/'), *suffix = strrchr(path, '.');

    return suffix == NULL || (slash != NULL && suffix < slash) ? "" : suffix;
}

bool lnc_is_source(const char *path)
{
    static const char *const suffixes[] = {".cl", ".cu", ".ptx", ".s", ".lwo"};
    const char *suffix = lnc_suffix(path);

    for (unsigned i = 0; i < LW_COUNT_OF(suffixes); i++)
        if (strcmp(suffix, suffixes[i]) == 0)
            return true;
    return false;
}

static enum lw_status refuse_elf(const char *path, const uint8_t head[20], struct lw_error *err)
{
    enum { ELF_CUDA = 190, ELF_AMDGPU = 224, ELF_RELOCATABLE = 1 };
    const unsigned machine = head[18] | (unsigned)head[19] << 8;

    if (machine == ISA_ELF_MACHINE)
        return LW_FAIL(err, LW_EUNSUPP, "%s: is an object that \"lanewise compile\" or \"lanewise asm\" wrote, which needs "
                       "the suffix .lwo: rename it", path);
    if (machine == ELF_CUDA)
        return LW_FAIL(err, LW_EUNSUPP, "%s: is a cubin, machine code of one NVIDIA GPU, which does not run here: " GIVE_PTX,
                       path);
    if (machine == ELF_AMDGPU)
        return LW_FAIL(err, LW_EUNSUPP, "%s: is machine code of one AMD GPU, which does not run here: give its OpenCL C "
                       "(.cl)", path);
    if (head[16] == ELF_RELOCATABLE)
        return LW_FAIL(err, LW_EUNSUPP, "%s: is an object file of the host, and kernels in it are machine code: " GIVE_PTX,
                       path);
    return LW_FAIL(err, LW_EUNSUPP, "%s: is a program or library of the host: " GIVE_KERNEL, path);
}

/** Returns true for text with a kernel in one of our languages, and without the keys of launch files. */
static bool has_kernel(const char *text, size_t size)
{
    static const char *const words[] = {"__kernel ", "kernel void ", "__global__", ".visible .entry ", ".kernel "};
    static const char *const others[] = {"program:", "steps:"};

    for (unsigned i = 0; i < LW_COUNT_OF(others); i++)
        if (memmem(text, size, others[i], strlen(others[i])) != NULL)
            return false;
    for (unsigned i = 0; i < LW_COUNT_OF(words); i++)
        if (memmem(text, size, words[i], strlen(words[i])) != NULL)
            return true;
    return false;
}

enum lw_status lnc_kind_refuse(const char *path, struct lw_error *err)
{
    const char *suffix = lnc_suffix(path);
    uint8_t head[4096] = {0};
    struct stat what;
    size_t size;
    FILE *file;

    if (stat(path, &what) != 0)
        return LW_OK;
    if (S_ISDIR(what.st_mode))
        return LW_FAIL(err, LW_EUNSUPP, "%s: is a folder: give a launch file in it, or a file with a kernel", path);
    if (!S_ISREG(what.st_mode)) /* a pipe can be read only once */
        return LW_OK;
    file = fopen(path, "rb");
    if (file == NULL)
        return LW_OK;
    size = fread(head, 1, sizeof head, file);
    fclose(file);
    if (lnc_is_source(path)) /* errors in it are reported by its reader */
        return LW_OK;
    if (size == 0)
        return LW_FAIL(err, LW_EUNSUPP, "%s: is empty: \"lanewise template k.cl\" writes a launch file to start from, for a "
                       "kernel's file k.cl", path);
    if (size >= 20 && memcmp(head, "\177ELF", 4) == 0)
        return refuse_elf(path, head, err);
    for (unsigned i = 0; i < LW_COUNT_OF(magics); i++)
        if (size >= magics[i].size && memcmp(head, magics[i].bytes, magics[i].size) == 0)
            return LW_FAIL(err, LW_EUNSUPP, "%s: %s", path, magics[i].is);
    for (unsigned i = 0; i < LW_COUNT_OF(names); i++)
        if (strcasecmp(suffix, names[i].suffix) == 0)
            return LW_FAIL(err, LW_EUNSUPP, "%s: %s", path, names[i].is);
    if (memchr(head, '\0', size) != NULL && memcmp(head, "\xff\xfe", 2) != 0 && memcmp(head, "\xfe\xff", 2) != 0)
        return LW_FAIL(err, LW_EUNSUPP, "%s: is no text, and of no kind that is known here: give a launch file (YAML), or a "
                       "file with a kernel (.cl, .cu, .ptx, .s, .lwo)", path);
    if (strcasecmp(suffix, ".yaml") != 0 && strcasecmp(suffix, ".yml") != 0 && has_kernel((const char *)head, size))
        return LW_FAIL(err, LW_EUNSUPP, "%s: holds a kernel, and a kernel's file is named .cl, .cu, .ptx, .s or .lwo: "
                       "rename it", path);
    return LW_OK;
}
