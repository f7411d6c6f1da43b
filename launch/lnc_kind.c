/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises files of other kinds that users give as launch file or program, and says what to give instead. */
#include "launch/launch_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#define GIVE_PTX "give its .cu source or its PTX (from nvcc -ptx, or cuobjdump -ptx if the file contains PTX)"
#define GIVE_KERNEL                                                                                             \
    "Lanewise runs kernels, not whole programs: give the file that has the kernel (.cl, .cu, .spv, .ptx) "           \
    "with --grid, --block and --arg, or write a launch file for it with \"lanewise template\""

/** Kinds of files that are recognised by their first bytes. */
static const struct {
    unsigned size;
    const char *bytes, *is;
} magics[] = {
    {4, "\x50\xed\x55\xba", "this file is a fatbin with machine code of NVIDIA GPUs, which Lanewise cannot run: " GIVE_PTX},
    {8, "!<arch>\n", "this file is an archive of host object files, in which kernels are machine code that Lanewise "
                     "cannot run: " GIVE_PTX},
    {4, "\x03\x02\x23\x07", "this file is SPIR-V: rename it to .spv"},
    {4, "\x07\x23\x02\x03", "this file is SPIR-V: rename it to .spv"},
    {4, "BC\xc0\xde", "this file is LLVM bitcode, which Lanewise cannot read: give its source (.cl, .cu), or make PTX "
                      "from it with \"llc -march=nvptx64\""},
    {4, "\xde\xc0\x17\x0b", "this file is LLVM bitcode, which Lanewise cannot read: give its source (.cl, .cu), or "
                            "make PTX from it with \"llc -march=nvptx64\""},
    {8, "LWCHECK\n", "this file is a checkpoint: give the launch file from which it was made, and the checkpoint with "
                     "--resume"},
    {8, "LWSCHED\n", "this file is a schedule log: give the launch file from which it was made, and the log with "
                     "--replay"},
    {8, "\x89PNG\r\n\x1a\n", "this file is an image: give a launch file, and load the pixels into a buffer as plain "
                             "numbers, with init: {file: pixels.bin}"},
    {3, "\xff\xd8\xff", "this file is an image: give a launch file, and load the pixels into a buffer as plain "
                        "numbers, with init: {file: pixels.bin}"},
    {4, "GIF8", "this file is an image: give a launch file, and load the pixels into a buffer as plain numbers, with "
                "init: {file: pixels.bin}"},
    {5, "%PDF-", "this file is a PDF document: give a launch file, or the file that has the kernel"},
    {4, "PK\x03\x04", "this file is a zip archive: unpack it, and give one of the unpacked launch files"},
    {2, "\x1f\x8b", "this file is compressed (gzip): unpack it first"},
    {6, "\xfd" "7zXZ\0", "this file is compressed (xz): unpack it first"},
    {4, "\x28\xb5\x2f\xfd", "this file is compressed (zstd): unpack it first"},
    {4, "\xfe\xed\xfa\xcf", "this file is a program or library of macOS: " GIVE_KERNEL},
    {4, "\xcf\xfa\xed\xfe", "this file is a program or library of macOS: " GIVE_KERNEL},
    {2, "#!", "this file is a script: " GIVE_KERNEL},
};

/** Kinds of files that are recognised by their suffixes, because their contents are ambiguous. */
static const struct {
    const char *suffix, *is;
} names[] = {
    {".c", "this file is a host program in C: " GIVE_KERNEL},
    {".cc", "this file is a host program in C++: " GIVE_KERNEL},
    {".cpp", "this file is a host program in C++: " GIVE_KERNEL},
    {".cxx", "this file is a host program in C++: " GIVE_KERNEL},
    {".c++", "this file is a host program in C++: " GIVE_KERNEL},
    {".h", "this file is a header: give the file that includes it and has the kernel (.cl, .cu)"},
    {".hpp", "this file is a header: give the file that includes it and has the kernel (.cl, .cu)"},
    {".cuh", "this file is a header: give the file that includes it and has the kernel (.cu)"},
    {".clh", "this file is a header: give the file that includes it and has the kernel (.cl)"},
    {".py", "this file is a host program in Python: " GIVE_KERNEL},
    {".jl", "this file is a host program in Julia: " GIVE_KERNEL},
    {".rs", "this file is a host program in Rust: " GIVE_KERNEL},
    {".sh", "this file is a script: " GIVE_KERNEL},
    {".ipynb", "this file is a notebook, that is, a host program: " GIVE_KERNEL},
    {".f90", "this file is a host program in Fortran: " GIVE_KERNEL},
    {".hip", "this file is HIP, which Lanewise cannot read: if the kernel does not use functions of AMD, rename the file to .cu and compile it as CUDA C++"},
    {".ll", "this file is LLVM assembly, which Lanewise cannot read: make PTX from it with \"llc -march=nvptx64\""},
    {".sass", "this file is machine code of an NVIDIA GPU as text, which Lanewise cannot run: " GIVE_PTX},
    {".metal", "this file is a Metal shader, which Lanewise cannot read: write kernels in OpenCL C (.cl), CUDA C++ (.cu) or PTX"},
    {".hlsl", "this file is a shader, which Lanewise cannot read: write kernels in OpenCL C (.cl), CUDA C++ (.cu) or PTX"},
    {".glsl", "this file is a shader, which Lanewise cannot read: write kernels in OpenCL C (.cl), CUDA C++ (.cu) or PTX"},
    {".comp", "this file is a shader, which Lanewise cannot read: write kernels in OpenCL C (.cl), CUDA C++ (.cu) or PTX"},
    {".wgsl", "this file is a shader, which Lanewise cannot read: write kernels in OpenCL C (.cl), CUDA C++ (.cu) or PTX"},
};

const char *lnc_suffix(const char *path)
{
    const char *slash = strrchr(path, '/'), *suffix = strrchr(path, '.');

    return suffix == NULL || (slash != NULL && suffix < slash) ? "" : suffix;
}

bool lnc_is_source(const char *path)
{
    static const char *const suffixes[] = {".cl", ".cu", ".spv", ".ptx", ".s", ".lwo"};
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
        return LW_FAIL(err, LW_EUNSUPP, "%s: this file is an object that \"lanewise compile\" or \"lanewise asm\" "
                                        "wrote: rename it to .lwo", path);
    if (machine == ELF_CUDA)
        return LW_FAIL(err, LW_EUNSUPP, "%s: this file is a cubin with machine code of an NVIDIA GPU, which Lanewise "
                                        "cannot run: " GIVE_PTX,
                       path);
    if (machine == ELF_AMDGPU)
        return LW_FAIL(err, LW_EUNSUPP, "%s: this file is machine code of an AMD GPU, which Lanewise cannot run: give "
                                        "its OpenCL C source (.cl)", path);
    if (head[16] == ELF_RELOCATABLE)
        return LW_FAIL(err, LW_EUNSUPP, "%s: this file is a host object file, in which kernels are machine code that "
                                        "Lanewise cannot run: " GIVE_PTX,
                       path);
    return LW_FAIL(err, LW_EUNSUPP, "%s: this file is a program or library of the host: " GIVE_KERNEL, path);
}

/** Returns true for text that has a kernel in a supported language, and none of the keys of launch files. */
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
        return LW_FAIL(err, LW_EUNSUPP, "%s: this is a folder: give a launch file in it, or a file with a kernel",
                       path);
    if (!S_ISREG(what.st_mode)) /* a pipe, which can be read only once, is not examined */
        return LW_OK;
    file = fopen(path, "rb");
    if (file == NULL)
        return LW_OK;
    size = fread(head, 1, sizeof head, file);
    fclose(file);
    if (lnc_is_source(path)) /* the compiler or assembler reports errors in the file */
        return LW_OK;
    if (size == 0)
        return LW_FAIL(err, LW_EUNSUPP, "%s: the file is empty: \"lanewise template k.cl\" writes a launch file for "
                                        "the kernel file k.cl", path);
    if (size >= 20 && memcmp(head, "\177ELF", 4) == 0)
        return refuse_elf(path, head, err);
    for (unsigned i = 0; i < LW_COUNT_OF(magics); i++)
        if (size >= magics[i].size && memcmp(head, magics[i].bytes, magics[i].size) == 0)
            return LW_FAIL(err, LW_EUNSUPP, "%s: %s", path, magics[i].is);
    for (unsigned i = 0; i < LW_COUNT_OF(names); i++)
        if (strcasecmp(suffix, names[i].suffix) == 0)
            return LW_FAIL(err, LW_EUNSUPP, "%s: %s", path, names[i].is);
    if (memchr(head, '\0', size) != NULL && memcmp(head, "\xff\xfe", 2) != 0 && memcmp(head, "\xfe\xff", 2) != 0)
        return LW_FAIL(err, LW_EUNSUPP, "%s: the file is not text, and its format is not known: give a launch file "
                                        "(YAML), or a file with a kernel (.cl, .cu, .spv, .ptx, .s, .lwo)", path);
    if (strcasecmp(suffix, ".yaml") != 0 && strcasecmp(suffix, ".yml") != 0 && has_kernel((const char *)head, size))
        return LW_FAIL(err, LW_EUNSUPP, "%s: the file contains a kernel, but its suffix does not say in which "
                                        "language: rename it to .cl, .cu, .spv, .ptx, .s or .lwo", path);
    return LW_OK;
}
