/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the program, for reports that say where it launched a kernel or created a buffer. A call is stored as a few
 * return addresses. Only when it is reported, libdw of elfutils finds the function, file and line of these addresses in the
 * program's debug information. */
#include "runtime/rt_priv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>
#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#endif

enum { OWN_FRAMES = 2 /* additional frames to read, for those of this file and the C library */, KEPT_BUFFERS = 1 << 16, KEPT_FREES = 256 };

/* This state is global, because a process has one device. */
static struct {
    struct rt_site *buffers; /* buffers[N - 1] is the call that created "buffer N" or "image N" */
    unsigned count, capacity; /* count: number of buffers created so far, of which only the first @capacity are stored */
    struct freed {
        uint64_t address, bytes;
        struct rt_site site;
    } freed[KEPT_FREES]; /* a ring of the latest calls that have freed memory */
    unsigned free_count; /* number of calls so far */
} sites;

/** The return addresses of the last call of rt_site_take() in this thread, and the places on the stack that contain them. While the
 *  program launches many small kernels in a loop, these places do not change, and to read them takes a hundredth of the time of
 *  unwinding. If a function between the program and the runtime has a frame of varying size, an outer address may be an old one. */
struct stack {
    const void *base; /* frame of rt_site_take(); NULL: the addresses are not known */
    const void *outer; /* first word of this frame: with frame pointers, the caller's frame */
    unsigned count;
    void *frame[RT_SITE_FRAMES + OWN_FRAMES];
    void *const *place[RT_SITE_FRAMES + OWN_FRAMES];
};

/** Adds the frame of @context. Called for each frame of the stack. */
static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *to)
{
    struct stack *stack = to;
    const uintptr_t at = _Unwind_GetIP(context), place = _Unwind_GetCFA(context) - sizeof(void *);

    if (at == 0 || stack->count == RT_SITE_FRAMES + OWN_FRAMES)
        return _URC_END_OF_STACK;
    memcpy(&stack->frame[stack->count], &at, sizeof at);
    memcpy(&stack->place[stack->count++], &place, sizeof place);
    return _URC_NO_REASON;
}

/** Returns true if the stack has the return addresses in @stack. */
__attribute__((no_sanitize("address"))) static bool is_same(const struct stack *stack, const void *base)
{
    if (stack->base != base || stack->outer != *(const void *const *)base || stack->count < 2)
        return false;
    for (unsigned i = 1; i < stack->count; i++) /* frame 0 is that of rt_site_take() itself */
        if (*stack->place[i] != stack->frame[i])
            return false;
    return true;
}

__attribute__((noinline)) void rt_site_take(struct rt_site *site)
{
    static _Thread_local struct stack last;
    const void *base = __builtin_frame_address(0);

    if (!is_same(&last, base)) {
        struct stack now = {.base = base, .outer = *(const void *const *)base};
        (void)_Unwind_Backtrace(add_frame, &now);
#ifdef __x86_64__
        if (!is_same(&now, base)) /* the code of a frame keeps its return address elsewhere */
            now.base = NULL;
#else
        now.base = NULL; /* return addresses are not below the frames */
#endif
        last = now; /* only after the unwinding, because a signal handler may end the unwinding by a jump */
    }
    const unsigned skipped = last.count > 1 ? 1 : 0; /* skips the frame of this function */
    site->count = last.count - skipped < RT_SITE_FRAMES ? last.count - skipped : RT_SITE_FRAMES;
    memcpy(site->frame, last.frame + skipped, site->count * sizeof *site->frame);
}

bool rt_site_is_same(const struct rt_site *a, const struct rt_site *b, unsigned own)
{
    return a->count == b->count && (a->count <= own || memcmp(a->frame + own, b->frame + own, (a->count - own) * sizeof *a->frame) == 0);
}

unsigned rt_site_of_buffer(void)
{
    if (sites.count == sites.capacity && sites.capacity < KEPT_BUFFERS) {
        const unsigned capacity = sites.capacity != 0 ? 2 * sites.capacity : 64;
        struct rt_site *more = realloc(sites.buffers, capacity * sizeof *more);

        if (more != NULL) {
            sites.buffers = more;
            sites.capacity = capacity;
        }
    }
    if (sites.count < sites.capacity)
        rt_site_take(&sites.buffers[sites.count]);
    sites.count++;
    return sites.count + 1;
}

const struct rt_site *rt_site_find_buffer(const char *name)
{
    unsigned number;

    return sscanf(name, "%*[a-z] %u", &number) == 1 && number >= 1 && number <= sites.count && number <= sites.capacity
               ? &sites.buffers[number - 1]
               : NULL;
}

void rt_site_print_buffers(const lanewise_finding *finding, int index)
{
    char name[80], what[sizeof name + 20];
    const struct rt_site *site;
    size_t size;

    for (const char *at = strchr(finding->message, '\''); at != NULL; at = strchr(at + size, '\'')) {
        size = strcspn(++at, "'");
        snprintf(name, sizeof name, "%.*s", (int)size, at);
        size += at[size] != '\0';
        if ((finding->allocation != NULL && strcmp(name, finding->allocation) == 0) || (site = rt_site_find_buffer(name)) == NULL)
            continue;
        snprintf(what, sizeof what, "%s was created", name);
        rt_print_site(site, what, index);
    }
}

void rt_site_of_free(uint64_t address, uint64_t bytes)
{
    struct freed *f = &sites.freed[sites.free_count++ % KEPT_FREES];

    f->address = address;
    f->bytes = bytes;
    rt_site_take(&f->site);
}

const struct rt_site *rt_site_find_free(uint64_t address)
{
    for (unsigned i = 1; i <= KEPT_FREES && i <= sites.free_count; i++) { /* the latest first */
        const struct freed *f = &sites.freed[(sites.free_count - i) % KEPT_FREES];

        if (address - f->address < f->bytes)
            return &f->site;
    }
    return NULL;
}

/** Returns true if @file is no code of the program: a library through which it calls the device, which is a runtime of Lanewise or
 *  OpenCL's loader, or a library that calls main() and functions of threads. */
static bool is_between(const char *file)
{
    static const char *const names[] = {"libOpenCL.so", "libcudart.so", "liblanewise", "libc.so", "libstdc++.so", "libpthread.so"};
    const char *slash = strrchr(file, '/'), *base = slash != NULL ? slash + 1 : file;

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/** Returns true for a function that a compiler or a header of CUDA has inserted between the program's code and a function of
 *  the runtime. @stub: name of another such function; or NULL. */
static bool is_stub(const char *function, const char *stub)
{
    const char *name = function;

    if (strncmp(name, "_Z", 2) == 0) { /* in a mangled C++ name, the length of the name precedes it */
        name += 2;
        name += *name == 'Z'; /* a lambda in the function */
        name += *name == 'L';
        name += strspn(name, "0123456789");
        name += strspn(name, "_");
        if (strncmp(name, "cuda", 4) == 0)
            return true;
    }
    return strstr(function, "__device_stub_") != NULL || strcmp(function, "hipLaunchKernel") == 0 || (stub != NULL && strcmp(function, stub) == 0);
}

/** Stores the name of a function in @out, as it is in the source. */
static void name_function(const char *function, struct rt_call *out)
{
    if (function != NULL)
        lanewise_plain_name(function, out->function, sizeof out->function);
    else
        snprintf(out->function, sizeof out->function, "the program");
}

#ifdef HAVE_LIBDW

/** Source location of a frame. libdw's session owns the texts. */
struct place {
    const char *function, *file;
    int line;
};

/** Finds the compilation unit of an address. libdw only searches the table .debug_aranges, which clang does not write, so this
 *  function also searches the units themselves. */
static Dwarf_Die *unit_of(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);

    if (unit != NULL)
        return unit;
    while ((unit = dwfl_module_nextcu(module, unit, bias)) != NULL && dwarf_haspc(unit, address - *bias) != 1)
        ;
    return unit;
}

/** Returns the symbol of a function, or its name if it has no symbol; NULL if it has no name. */
static const char *name_of(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;

    if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute) == NULL && dwarf_attr_integrate(function, DW_AT_name, &attribute) == NULL)
        return NULL;
    return dwarf_formstring(&attribute);
}

/** The calls of the program that lead to a call of the runtime, the innermost first. Calls of inlined functions are calls, too. */
struct chain {
    struct place place[24];
    unsigned count;
};

/** Appends a call, unless it is in a stub. */
static void add_place(struct chain *chain, const struct place *place, const char *stub)
{
    if (chain->count < sizeof chain->place / sizeof *chain->place && (place->function == NULL || !is_stub(place->function, stub)))
        chain->place[chain->count++] = *place;
}

/** Appends the calls at an address: the call in the innermost inlined function, the calls of inlined functions around it, and that of
 *  the function @outer that contains all of them. @file: path of the program or library. */
static void add_calls(struct chain *chain, Dwfl_Module *module, Dwarf_Addr address, const char *outer, const char *file, const char *stub)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = unit_of(module, address, &bias), *inner = NULL, *scopes = NULL;
    /* around an inlined function, the first function has the scopes of its definition, and the second one those of its call */
    const int count = unit != NULL && dwarf_getscopes(unit, address - bias, &inner) > 0 ? dwarf_getscopes_die(inner, &scopes) : 0;
    Dwarf_Line *line = unit != NULL ? dwarf_getsrc_die(unit, address - bias) : NULL;
    struct place place = {.file = file};
    Dwarf_Files *files = NULL;

    if (line != NULL && dwarf_lineno(line, &place.line) == 0)
        place.file = dwarf_linesrc(line, NULL, NULL);
    for (int i = 0; i < count; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Word number;

        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        place.function = name_of(&scopes[i]);
        add_place(chain, &place, stub);
        if (dwarf_attr(&scopes[i], DW_AT_call_line, &attribute) != NULL && dwarf_formudata(&attribute, &number) == 0)
            place.line = (int)number;
        if (dwarf_attr(&scopes[i], DW_AT_call_file, &attribute) != NULL && dwarf_formudata(&attribute, &number) == 0 &&
            dwarf_getsrcfiles(unit, &files, NULL) == 0)
            place.file = dwarf_filesrc(files, number, NULL, NULL);
    }
    free(inner);
    free(scopes);
    place.function = outer;
    add_place(chain, &place, stub);
}

/** Gets the calls of @site that are in the program's own code. */
static void get_chain(Dwfl *session, const struct rt_site *site, const char *stub, struct chain *chain)
{
    chain->count = 0;
    for (unsigned i = 0; i < site->count; i++) {
        /* The call instruction ends just before the return address. */
        const Dwarf_Addr address = (Dwarf_Addr)(uintptr_t)site->frame[i] - 1;
        Dwfl_Module *module = dwfl_addrmodule(session, address);
        const char *file, *function;

        if (module == NULL)
            continue;
        file = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL); /* path of the program or library */
        function = dwfl_module_addrname(module, address);
        if ((file == NULL || !is_between(file)) && (file != NULL || function != NULL))
            add_calls(chain, module, address, function, file, stub);
    }
}

static bool is_header(const char *file)
{
    static const char *const suffixes[] = {".h", ".hpp", ".hh", ".hxx", ".cuh", ".inl"};
    const char *last = strrchr(file, '.');

    for (unsigned i = 0; last != NULL && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(last, suffixes[i]) == 0)
            return true;
    return false;
}

static void set_call(const struct place *place, struct rt_call *out)
{
    name_function(place->function, out);
    snprintf(out->file, sizeof out->file, "%s", place->file != NULL ? place->file : "");
    out->line = (uint32_t)place->line;
    out->offset = 0;
}

/** Selects the call that reports name, and, if it is in a header, the call that led to it from another file. */
static void select_calls(const struct chain *chain, struct rt_call *out, struct rt_call *caller)
{
    const struct place *place = chain->place;
    unsigned i = 0;

    while (i < chain->count && place[i].line != 0 && place[i].file != NULL && lanewise_file_is_foreign(place[i].file))
        i++;
    i = i < chain->count ? i : 0; /* all are in the system's files */
    set_call(&place[i], out);
    if (caller == NULL || place[i].line == 0 || place[i].file == NULL || !is_header(place[i].file))
        return;
    for (unsigned k = i + 1; k < chain->count; k++)
        if (place[k].line != 0 && place[k].file != NULL && strcmp(place[k].file, place[i].file) != 0 && !lanewise_file_is_foreign(place[k].file)) {
            set_call(&place[k], caller);
            return;
        }
}

bool rt_site_find(const struct rt_site *site, const char *stub, struct rt_call *out, struct rt_call *caller)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo};
    Dwfl *session = dwfl_begin(&callbacks);
    struct chain chain = {.count = 0};

    if (caller != NULL)
        caller->function[0] = '\0';
    if (session == NULL)
        return false;
    if (dwfl_linux_proc_report(session, getpid()) == 0 && dwfl_report_end(session, NULL, NULL) == 0)
        get_chain(session, site, stub, &chain);
    if (chain.count != 0)
        select_calls(&chain, out, caller);
    dwfl_end(session);
    return chain.count != 0;
}

#else

bool rt_site_find(const struct rt_site *site, const char *stub, struct rt_call *out, struct rt_call *caller)
{
    if (caller != NULL) /* without line tables, headers are not known */
        caller->function[0] = '\0';
    for (unsigned i = 0; i < site->count; i++) {
        Dl_info info;

        if (dladdr(site->frame[i], &info) == 0 || info.dli_fname == NULL || is_between(info.dli_fname) ||
            (info.dli_sname != NULL && is_stub(info.dli_sname, stub)))
            continue;
        name_function(info.dli_sname, out);
        snprintf(out->file, sizeof out->file, "%s", info.dli_fname);
        out->line = 0;
        out->offset = (uint64_t)((char *)site->frame[i] - (char *)info.dli_fbase);
        return true;
    }
    return false;
}

#endif
