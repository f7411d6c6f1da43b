/* SPDX-License-Identifier: Apache-2.0 */
/* The command lanewise cc: reads a command line in the syntax of clang or nvcc, and calls ptx_build_program(). */
#include "cmd/cmd_priv.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/** The parsed command line. */
struct line {
    const struct cmd *cmd;
    struct lw_arena arena; /* owns texts that are not in argv */
    struct ptx_program program;
    struct ptx_input *inputs;
    const char **flags, **host, **plain; /* flags: options for all code; host: options for host code only; plain: all options,
                                          * for nvcc as the compiler */
    const char *language; /* operand of the last -x, "cu", "c" or "c++", for the files that follow; NULL: by their suffixes */
    bool verbose, dry; /* -v was given; --dryrun was given, so nothing is compiled */
    bool failed; /* an error message was printed */
};

/** Options of nvcc that have no effect, as kernels are always compiled to PTX of the same architecture. @operand: the option
 *  has an operand, in the same word after "=" or in the next word. */
static const struct {
    const char *name;
    bool operand;
} ignored[] = {
    {"arch", true}, {"gpu-architecture", true}, {"code", true}, {"gpu-code", true}, {"gencode", true},
    {"generate-code", true}, {"Xptxas", true}, {"ptxas-options", true}, {"Xnvlink", true}, {"Xcudafe", true},
    {"maxrregcount", true}, {"cudart", true}, {"ccbin", true}, {"compiler-bindir", true}, {"diag-suppress", true},
    {"default-stream", true}, {"threads", true}, {"t", true}, {"split-compile", true}, {"keep-dir", true}, {"time", true},
    {"use_fast_math", false}, {"expt-relaxed-constexpr", false}, {"expt-extended-lambda", false},
    {"extended-lambda", false}, {"lineinfo", false}, {"generate-line-info", false}, {"restrict", false},
    {"link", false}, {"cuda", false}, {"m64", false}, {"allow-unsupported-compiler", false}, {"keep", false},
    {"resource-usage", false}, {"res-usage", false}, {"source-in-ptx", false},
    {"ftz", true}, {"prec-div", true}, {"prec-sqrt", true}, {"compress-mode", true}, {"extra-device-vectorization", false},
    {"cudadevrt", true}, {"nvlink-options", true}, {"forward-unknown-opts", false}, {"Wno-deprecated-gpu-targets", false}, {"j", true},
    {"forward-unknown-to-host-compiler", false}, {"forward-unknown-to-host-linker", false},
};

/** Options of nvcc and their names for clang. @operand: the option has an operand, which is appended to the name. */
static const struct {
    const char *name, *of_clang;
    bool operand;
} renamed[] = {
    {"std", "-std=", true}, {"optimize", "-O", true}, {"define-macro", "-D", true}, {"undefine-macro", "-U", true},
    {"include-path", "-I", true}, {"system-include", "-isystem", true}, {"pre-include", "-include", true}, {"library", "-l", true},
    {"library-path", "-L", true}, {"dependency-output", "-MF", true}, {"dependency-target-name", "-MT", true},
    {"generate-dependencies", "-M", false}, {"generate-nonsystem-dependencies", "-MM", false},
    {"generate-dependencies-with-compile", "-MD", false}, {"generate-nonsystem-dependencies-with-compile", "-MMD", false},
    {"generate-dependency-targets", "-MP", false},
};

/** Options of clang whose operand is the next word. */
static const char *const with_operand[] = {"-D", "-U", "-I", "-include", "-imacros", "-isystem", "-iquote", "-idirafter",
                                           "-MF", "-MT", "-MQ", "-Xclang", "-target", "-mllvm", "-Xpreprocessor", "-Xassembler"};

/** Beginnings of options that apply only to host code and its linker. */
static const char *const of_host[] = {"-march=", "-mtune=", "-mcpu=", "-msse", "-mavx", "-mfma", "-mno-", "-fopenmp", "-pthread",
                                      "-fPIC", "-fpic", "-fPIE", "-fpie", "-fsanitize", "-fprofile", "-fcoverage", "--coverage",
                                      "-pg", "-flto", "-M", "-pipe", "-fstack-", "-shared", "-static-lib", "-rdynamic",
                                      "-fvisibility", "-stdlib=", "-fuse-ld", "-no-pie", "-pie", "-nostdlib", "-D_GLIBCXX"};

static bool has_suffix(const char *path, const char *const *suffixes, size_t count)
{
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot != NULL && i < count; i++)
        if (strcmp(dot, suffixes[i]) == 0)
            return true;
    return false;
}

static void add_file(struct line *l, const char *word)
{
    static const char *const cuda[] = {".cu"}, *const host[] = {".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".cp", ".CPP"};
    struct ptx_program *p = &l->program;
    struct ptx_input *input = &l->inputs[p->input_count++];

    input->word = word;
    input->kind = has_suffix(word, cuda, LW_COUNT_OF(cuda)) ? PTX_INPUT_CUDA
                  : has_suffix(word, host, LW_COUNT_OF(host)) ? PTX_INPUT_HOST
                                                              : PTX_INPUT_WORD;
    if (input->kind != PTX_INPUT_WORD && l->language != NULL)
        input->kind = strncmp(l->language, "cu", 2) == 0 ? PTX_INPUT_CUDA : PTX_INPUT_HOST;
    if (input->kind == PTX_INPUT_HOST)
        input->language = l->language;
    if (input->kind == PTX_INPUT_WORD)
        return;
    if (p->source == NULL)
        p->source = word;
    p->source_count++;
}

static void add_word(struct line *l, const char *word)
{
    l->inputs[l->program.input_count++] = (struct ptx_input){.kind = PTX_INPUT_WORD, .word = word};
}

/** Returns true if the folder @path has the headers of NVIDIA's SDK. clang cannot use them together with those of Lanewise. */
static bool has_sdk(const char *path)
{
    static const char *const names[] = {"cuda_runtime.h", "crt/host_config.h"};
    char name[PATH_MAX];

    for (size_t k = 0; k < LW_COUNT_OF(names); k++) {
        snprintf(name, sizeof name, "%s/%s", path, names[k]);
        if (access(name, R_OK) != 0)
            return false;
    }
    return true;
}

/** Returns true if option @word, whose operand may be the next word @next, names a folder with the headers of NVIDIA's SDK. Then
 *  adds the folder of CUB, Thrust and libcu++ below it, which nvcc reads, too, and which clang can use. */
static bool replaces_sdk(struct line *l, const char *word, const char *next)
{
    static const char *const options[] = {"-I", "-isystem", "-iquote", "-idirafter"};

    for (size_t k = 0; k < LW_COUNT_OF(options); k++) {
        const size_t size = strlen(options[k]);
        const char *path = word[size] != '\0' ? word + size : next;

        if (strncmp(word, options[k], size) != 0 || path == NULL || !has_sdk(path))
            continue;
        if (l->verbose)
            fprintf(stderr, "lanewise: cc: %s: left out, because clang needs the headers of Lanewise instead of NVIDIA's\n", path);
        path = lw_arena_printf(&l->arena, "-I%s/cccl", path);
        if (path != NULL && access(path + 2, R_OK) == 0)
            l->flags[l->program.flag_count++] = path;
        return true;
    }
    return false;
}

/** Adds @word, one option of an operand of -Xcompiler or -Xlinker. Options of the preprocessor also apply to kernels, as with nvcc. */
static void add_listed(struct line *l, const char *word, bool links)
{
    struct ptx_program *p = &l->program;
    const bool both = strncmp(word, "-D", 2) == 0 || strncmp(word, "-U", 2) == 0 || strncmp(word, "-I", 2) == 0;

    if (links) {
        add_word(l, "-Xlinker");
        add_word(l, word);
    } else if (!replaces_sdk(l, word, NULL)) {
        *(both && word[2] != '\0' ? &l->flags[p->flag_count++] : &l->host[p->host_flag_count++]) = word;
    }
}

/** Adds the options in an operand of -Xcompiler or -Xlinker, which are separated by commas or blanks. As in a shell, quotes and backslashes
 *  are removed, and quoted separators are a part of the option. */
static void add_list(struct line *l, const char *list, bool links)
{
    char *word = lw_arena_alloc(&l->arena, strlen(list) + 1), quote = '\0';

    for (size_t size = 0; word != NULL; list++) {
        const bool ends = *list == '\0' || (quote == '\0' && strchr(", \t\n", *list) != NULL);

        if (*list == '\\' && quote != '\'' && list[1] != '\0') {
            word[size++] = *++list;
        } else if (!ends && (*list == quote || (quote == '\0' && (*list == '"' || *list == '\'')))) {
            quote = quote != '\0' ? '\0' : *list;
        } else if (!ends) {
            word[size++] = *list;
        } else if (size != 0) {
            const char *option = lw_arena_printf(&l->arena, "%.*s", (int)size, word);
            if (option != NULL)
                add_listed(l, option, links);
            size = 0;
        }
        if (*list == '\0')
            break;
    }
}

/** Returns true if @word is the option @name with one or two dashes. Sets *@value to the text after "=", or to NULL. */
static bool is_option(const char *word, const char *name, const char **value)
{
    const size_t size = strlen(name);

    *value = NULL;
    if (word[0] != '-')
        return false;
    word += word[1] == '-' ? 2 : 1;
    if (strncmp(word, name, size) != 0 || (word[size] != '\0' && word[size] != '='))
        return false;
    if (word[size] == '=')
        *value = word + size + 1;
    return true;
}

/** Returns the operand of option @word: @value if it is not NULL, else the next word. If there is no next word, prints a
 *  message and returns NULL. */
static const char *operand(struct line *l, const char *word, const char *value, char **argv, int *i)
{
    if (value == NULL && argv[*i + 1] != NULL)
        value = argv[++*i];
    if (value == NULL) {
        cmd_wrong_usage(l->cmd, "option \"%s\" needs an operand", word);
        l->failed = true;
    }
    return value;
}

/** Returns true if @word is a kind of warnings that -Werror of nvcc names. */
static bool is_kind_of_warning(const char *word)
{
    static const char *const kinds[] = {"all-warnings", "cross-execution-space-call", "reorder", "default-stream-launch",
                                        "missing-launch-bounds", "ext-lambda-captures-this", "deprecated-declarations"};

    for (size_t k = 0; word != NULL && k < LW_COUNT_OF(kinds); k++)
        if (strcmp(word, kinds[k]) == 0)
            return true;
    return false;
}

static bool begins(const char *word, const char *const *begins_with, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(word, begins_with[i], strlen(begins_with[i])) == 0)
            return true;
    return false;
}

/** Returns true if @word is a language that option -x supports. */
static bool is_language(const char *word)
{
    static const char *const names[] = {"cu", "cuda", "c", "c++", "none"};

    for (size_t k = 0; k < LW_COUNT_OF(names); k++)
        if (strcmp(word, names[k]) == 0)
            return true;
    return false;
}

/** Reads option @word, which is argv[*@i] in the syntax of clang, if it is one of lanewise cc or of nvcc. Returns false for any other option. Sets *@ours if the option must not be passed
 *  to nvcc when nvcc is the compiler. */
static bool take_own(struct line *l, const char *word, char **argv, int *i, bool *ours)
{
    struct ptx_program *p = &l->program;
    const char *value;

    if (is_option(word, "compiler", &value)) {
        *ours = true;
        p->compiler = operand(l, word, value, argv, i);
    } else if (strcmp(word, "-o") == 0 || is_option(word, "output", &value) || is_option(word, "output-file", &value)) {
        *ours = true;
        p->output = operand(l, word, strcmp(word, "-o") == 0 ? NULL : value, argv, i);
    } else if (strncmp(word, "-o", 2) == 0 && word[2] != '\0') {
        *ours = true;
        p->output = word + 2;
    } else if (strcmp(word, "-c") == 0 || strcmp(word, "--compile") == 0) {
        p->compile_only = true;
    } else if (strcmp(word, "-G") == 0 || strcmp(word, "--device-debug") == 0) {
        p->device_debug = true;
    } else if (strcmp(word, "-dc") == 0 || strcmp(word, "--device-c") == 0) {
        p->compile_only = p->linked = true;
    } else if (is_option(word, "rdc", &value) || is_option(word, "relocatable-device-code", &value)) {
        value = operand(l, word, value, argv, i);
        p->linked = value != NULL && strcmp(value, "true") == 0;
    } else if (is_option(word, "fmad", &value)) {
        value = operand(l, word, value, argv, i);
        if (value != NULL && strcmp(value, "false") == 0)
            l->flags[l->program.flag_count++] = "-ffp-contract=off";
    } else if (strcmp(word, "-fgpu-rdc") == 0) {
        p->linked = true;
    } else if (is_option(word, "Xcompiler", &value) || is_option(word, "compiler-options", &value)) {
        value = operand(l, word, value, argv, i);
        add_list(l, value != NULL ? value : "", false);
    } else if (is_option(word, "Xlinker", &value) || is_option(word, "linker-options", &value)) {
        value = operand(l, word, value, argv, i);
        add_list(l, value != NULL ? value : "", true);
    } else if (is_option(word, "dryrun", &value)) {
        l->dry = true;
    } else if (word[1] == 't' && word[2] != '\0' && word[2 + strspn(word + 2, "0123456789")] == '\0') {
        /* -t4 is --threads 4 */
    } else if (is_option(word, "x", &value) || (word[1] == 'x' && is_language(word + 2))) {
        value = word[1] == 'x' && word[2] != '\0' && word[2] != '=' ? word + 2 : operand(l, word, value, argv, i);
        l->language = value != NULL && strcmp(value, "none") == 0 ? NULL : value;
        if (value != NULL && !is_language(value)) {
            cmd_wrong_usage(l->cmd, "-x %s: expected cu, c, c++ or none", value);
            l->failed = true;
        }
    } else if (strcmp(word, "-ptx") == 0 || strcmp(word, "--ptx") == 0) {
        p->compile_only = true;
        p->emit = PTX_EMIT_PTX;
    } else if (strcmp(word, "-fatbin") == 0 || strcmp(word, "--fatbin") == 0) {
        p->compile_only = true;
        p->emit = PTX_EMIT_FATBIN;
    } else if (strcmp(word, "-dlink") == 0 || strcmp(word, "--device-link") == 0) {
        p->link = PTX_LINK_NOTHING;
        p->linked = true;
    } else if (strcmp(word, "-lib") == 0 || strcmp(word, "--lib") == 0) {
        p->link = PTX_LINK_ARCHIVE;
    } else if (strcmp(word, "-M") == 0 || strcmp(word, "-MM") == 0) {
        p->compile_only = true;
        p->emit = PTX_EMIT_DEPENDENCIES;
        l->host[p->host_flag_count++] = word;
    } else if (strcmp(word, "-run") == 0 || strcmp(word, "--run") == 0) {
        cmd_wrong_usage(l->cmd, "%s: lanewise cc does not run programs: use \"lanewise app ./PROGRAM\"", word);
        l->failed = true;
    } else if (strcmp(word, "-E") == 0 || strcmp(word, "-S") == 0 || strcmp(word, "-cubin") == 0 || strcmp(word, "--cubin") == 0) {
        cmd_wrong_usage(l->cmd, "%s: lanewise cc does not write this kind of file: -ptx and -fatbin write the PTX of kernels", word);
        l->failed = true;
    } else {
        for (size_t k = 0; k < LW_COUNT_OF(ignored); k++)
            if (is_option(word, ignored[k].name, &value)) {
                *ours = strcmp(ignored[k].name, "cudart") == 0;
                if (ignored[k].operand)
                    (void)operand(l, word, value, argv, i);
                return true;
            }
        return false;
    }
    return true;
}

/** Returns the option at argv[*i] in the syntax of clang, and moves *@i to its last word. */
static const char *as_clang(struct line *l, char **argv, int *i)
{
    const char *word = argv[*i], *value;

    for (size_t k = 0; k < LW_COUNT_OF(renamed); k++)
        if (is_option(word, renamed[k].name, &value) && !renamed[k].operand) {
            return renamed[k].of_clang;
        } else if (is_option(word, renamed[k].name, &value)) {
            value = operand(l, word, value, argv, i);
            word = lw_arena_printf(&l->arena, "%s%s", renamed[k].of_clang, value != NULL ? value : "");
            return word != NULL ? word : argv[*i];
        }
    if (is_option(word, "Werror", &value) && (value != NULL || is_kind_of_warning(argv[*i + 1]))) {
        value = operand(l, word, value, argv, i);
        return is_kind_of_warning(value) ? "-Werror" : word;
    }
    return word;
}

/** Returns true if @word is an option whose operand is the next word. */
static bool takes_next(const char *word)
{
    for (size_t k = 0; k < LW_COUNT_OF(with_operand); k++)
        if (strcmp(word, with_operand[k]) == 0)
            return true;
    return false;
}

static void read_line(struct line *l, char **argv)
{
    struct ptx_program *p = &l->program;

    for (int i = 1; argv[i] != NULL && !l->failed; i++) {
        const int first = i;
        const char *word = as_clang(l, argv, &i);
        bool ours = false;

        if (word[0] != '-' || word[1] == '\0') {
            add_file(l, word);
        } else if (take_own(l, word, argv, &i, &ours)) {
            /* the loop below adds the option to those for nvcc, unless @ours is set */
        } else if (strcmp(word, "-lcudart") == 0 || strcmp(word, "-lcudart_static") == 0 || strcmp(word, "-lcudadevrt") == 0) {
            /* these options name libraries of NVIDIA, which Lanewise's runtime replaces */
        } else if (strncmp(word, "-l", 2) == 0 || strncmp(word, "-L", 2) == 0 || strncmp(word, "-Wl,", 4) == 0) {
            add_word(l, word);
            if (word[2] == '\0' && argv[i + 1] != NULL)
                add_word(l, argv[++i]);
        } else {
            const bool host = begins(word, of_host, LW_COUNT_OF(of_host)), two = takes_next(word) && argv[i + 1] != NULL;
            const char *const words[] = {word, argv[i + 1]};

            for (int n = 0; n < 1 + two && !replaces_sdk(l, word, argv[i + 1]); n++) {
                if (host)
                    l->host[p->host_flag_count++] = words[n];
                else
                    l->flags[p->flag_count++] = words[n];
            }
            i += two;
        }
        for (int n = first; n <= i && argv[n] != NULL && !ours; n++)
            l->plain[p->plain_count++] = argv[n];
    }
}

/** Returns the first source of host code among the inputs, or NULL. */
static const char *host_source(const struct line *l)
{
    for (size_t i = 0; i < l->program.input_count; i++)
        if (l->inputs[i].kind == PTX_INPUT_HOST)
            return l->inputs[i].word;
    return NULL;
}

int cmd_cc(const struct cmd *cmd, int argc, char **argv)
{
    static const char *const names[] = {
        [PTX_LINK_PROGRAM] = "a.out", [PTX_LINK_ARCHIVE] = "a.a", [PTX_LINK_NOTHING] = "a_dlink.o"};
    struct line l = {.cmd = cmd};
    struct lw_buffer words;
    struct lw_error err;
    char runtime[2 * PATH_MAX];
    size_t room = (size_t)argc + 8;
    int status = CMD_FINE;

    for (int i = 1; i < argc; i++) {
        room += strlen(argv[i]); /* -Xcompiler a,b,c has several options in one word, at most one for each character */
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            struct lw_file_sink out;

            lw_file_sink_init(&out, stdout);
            cmd_help(cmd, &out.sink);
            return CMD_FINE;
        }
        if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-V") == 0) { /* scripts search the output for the release */
            printf("lanewise cc %s\nCuda compilation tools, release 13.0, V13.0.0\n", cmd_version());
            return CMD_FINE;
        }
        l.verbose |= strcmp(argv[i], "-v") == 0 || strcmp(argv[i], "--verbose") == 0;
    }
    lw_arena_init(&l.arena);
    lw_buffer_init(&words);
    l.inputs = calloc(2 * room, sizeof *l.inputs);
    l.flags = calloc(room, sizeof *l.flags);
    l.host = calloc(room, sizeof *l.host);
    l.plain = calloc(room, sizeof *l.plain);
    if (l.inputs == NULL || l.flags == NULL || l.host == NULL || l.plain == NULL) {
        lw_fail(&err, LW_ENOMEM, "cc: the host has no memory for %d words", argc);
        status = cmd_error(&err);
        goto cleanup;
    }
    read_line(&l, argv);
    l.program.inputs = l.inputs;
    l.program.flags = l.flags;
    l.program.host_flags = l.host;
    l.program.plain = l.plain;
    l.program.runtime = runtime;
    if (l.failed) {
        status = CMD_USAGE;
    } else if (l.program.input_count == 0) {
        status = cmd_wrong_usage(cmd, "expected a file, as in \"lanewise cc saxpy.cu -o saxpy\"");
    } else if (l.program.compile_only && l.program.source == NULL) {
        status = cmd_wrong_usage(cmd, "-c: %s is not a source file: expected .cu, .cpp, .cc or .c", l.inputs[0].word);
    } else if ((l.program.emit == PTX_EMIT_PTX || l.program.emit == PTX_EMIT_FATBIN) && host_source(&l) != NULL) {
        status = cmd_wrong_usage(cmd, "-ptx and -fatbin compile kernels, but %s is a source of host code: give -x cu before it if it "
                                      "has kernels", host_source(&l));
    } else if (l.program.output != NULL && strcmp(l.program.output, "-") == 0 && l.program.emit != PTX_EMIT_PTX &&
               l.program.emit != PTX_EMIT_DEPENDENCIES) {
        status = cmd_wrong_usage(cmd, "-o -: only PTX (-ptx) and dependencies (-M) can be written to standard output: name a file");
    } else if (l.program.compile_only && l.program.output != NULL && l.program.source_count > 1) {
        status = cmd_wrong_usage(cmd, "-o %s: only one file at a time can be compiled with -o: give one file, or leave -o "
                                      "out", l.program.output);
    } else if (!cmd_find_folder("lanewise-cuda", "libcudart.so.13", runtime, sizeof runtime)) {
        status = cmd_wrong_usage(cmd, "the CUDA runtime of Lanewise (libcudart.so.13) is not in %s: run \"make\" in the build folder, "
                                      "which builds it", runtime);
    } else {
        enum lw_status got;

        if (!l.program.compile_only && l.program.output == NULL)
            l.program.output = names[l.program.link];
        if (l.dry) {
            fprintf(stderr, "lanewise: cc: --dryrun: nothing is compiled\n");
            goto cleanup;
        }
        got = ptx_build_program(&l.program, &words.sink, &err);
        fflush(stdout);
        if (words.size != 0)
            fwrite(words.text, 1, words.size, stderr);
        if (words.size != 0 && strstr(words.text, "cannot find -lomp") != NULL)
            fputs("lanewise: cc: -fopenmp needs the OpenMP library of clang: install the Debian package libomp-19-dev (the number is that "
                  "of clang)\n", stderr);
        if (got == LW_EINPUT && words.size != 0) /* the messages of the compiler, printed above, say what is wrong */
            status = CMD_USAGE;
        else if (got != LW_OK)
            status = cmd_open_error(&err, l.program.compiler);
    }
cleanup:
    free(l.inputs);
    free(l.flags);
    free(l.host);
    free(l.plain);
    lw_buffer_fini(&words);
    lw_arena_fini(&l.arena);
    return status;
}
