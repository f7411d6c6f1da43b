/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the inlined calls that contain a location, and for functions of the compiler also the executed calls. */
#include "check/chk_priv.h"

#include <stdlib.h>

bool chk_is_foreign(const char *file)
{
    /* Folders of sources are the user's. A toolkit in a Python package is in a folder such as site-packages/nvidia/cu13. */
    if (strncmp(file, "/usr/src/", 9) == 0 || strncmp(file, "/usr/local/src/", 15) == 0)
        return false;
    return strncmp(file, "/usr/", 5) == 0 || strncmp(file, "/opt/", 5) == 0 || strstr(file, "/lib/clang/") != NULL ||
           strstr(file, "/nvidia/cu") != NULL;
}

static const char *name_or(const char *name, const char *otherwise)
{
    return name != NULL ? name : otherwise;
}

/** Gets the inlined calls that contain instruction @insn, innermost first. Returns their number. */
static unsigned inlined(const struct isa_object *object, uint32_t insn, struct chk_call *out)
{
    const struct isa_debug *debug = object->debug;
    uint32_t scopes[CHK_MOST_SCOPES];
    unsigned count = 0;

    for (unsigned n = isa_scopes_find(object, insn, ISA_NO_DIE, scopes, CHK_MOST_SCOPES); n-- > 0 && count < CHK_MOST_CALLS;) {
        const uint64_t file = isa_die_number(debug, scopes[n], ISA_AT_CALL_FILE, 0);

        if (debug->dies[scopes[n]].tag != ISA_TAG_INLINED)
            continue;
        out[count++] = (struct chk_call){name_or(isa_die_name(debug, scopes[n]), ""),
                                         file < object->file_count ? object->files[file] : "",
                                         (uint32_t)isa_die_number(debug, scopes[n], ISA_AT_CALL_LINE, 0), false};
    }
    return count;
}

uint64_t chk_inline_key(const struct isa_object *object, uint32_t insn)
{
    struct chk_call call[CHK_MOST_CALLS];
    const unsigned count = object->debug != NULL ? inlined(object, insn, call) : 0;
    uint64_t key = count;

    for (unsigned i = 0; i < count; i++) /* equal names and equal files have equal pointers */
        key = (key ^ (uintptr_t)call[i].function ^ (uintptr_t)call[i].file << 16 ^ call[i].line) *
              UINT64_C(0x9E3779B97F4A7C15);
    return key;
}

/** Returns the name that a function has in the source or, if it is not known, the symbol. */
static const char *function_name(const struct isa_object *object, const struct isa_function *f)
{
    const int64_t die = isa_function_die(object, f);

    return name_or(die != ISA_NO_DIE ? isa_die_name(object->debug, (uint32_t)die) : NULL, f->name);
}

/** Returns the function that instruction @index calls, or NULL if it is no call. For a call through a register, which may call
 *  any function, sets *@anything and returns NULL. */
static const struct isa_function *callee_of(const struct emu_program *program, uint32_t index, bool *anything)
{
    const struct isa_object *object = emu_program_object(program);
    const struct isa_insn *insn = chk_insn_at(program, index);
    int64_t target;

    if (insn == NULL || insn->op == ISA_CALLX)
        *anything = true;
    if (insn == NULL || insn->op != ISA_CALL || !isa_insn_target(insn, index, &target) || target < 0 ||
        target >= object->text_count)
        return NULL;
    return isa_object_function_at(object, (uint32_t)target);
}

/** Returns an array that has true for each function of the object that @kernel may reach; NULL: there is no memory, or
 *  the kernel may reach any function. */
static bool *reachable_from(const struct emu_program *program, const char *kernel)
{
    const struct isa_object *object = emu_program_object(program);
    bool *reached = calloc(object->function_count + 1u, sizeof *reached), anything = false, grew = true;

    for (unsigned i = 0; reached != NULL && i < object->function_count; i++)
        reached[i] = object->functions[i].kernel && strcmp(object->functions[i].name, kernel) == 0;
    while (reached != NULL && grew && !anything) {
        grew = false;
        for (unsigned i = 0; i < object->function_count; i++) {
            const struct isa_function *f = &object->functions[i];

            for (uint32_t k = f->first; reached[i] && k < f->first + f->count; k++) {
                const struct isa_function *to = callee_of(program, k, &anything);

                if (to == NULL || reached[to - object->functions])
                    continue;
                reached[to - object->functions] = grew = true;
            }
        }
    }
    if (!anything)
        return reached;
    free(reached);
    return NULL;
}

/** Returns the only call of @f that @kernel may reach. Returns text_count if there is no such call, if there are
 *  several, or if an indirect call may be one. */
static uint32_t only_call(const struct emu_program *program, const struct isa_function *f,
                          const char *kernel)
{
    const struct isa_object *object = emu_program_object(program);
    uint32_t found = object->text_count;
    bool anything = false, *reached = reachable_from(program, kernel);

    for (uint32_t i = 0; reached != NULL && i < object->text_count; i++) {
        const struct isa_function *caller = isa_object_function_at(object, i);

        if (caller == NULL || !reached[caller - object->functions] ||
            callee_of(program, i, &anything) != f)
            continue;
        if (found != object->text_count) {
            found = object->text_count;
            break;
        }
        found = i;
    }
    free(reached);
    return found;
}

unsigned chk_inline_collect(const struct chk *chk, const struct chk_location *location,
                            struct chk_call *out)
{
    const struct emu_program *program = emu_machine_program_at(chk->machine, location->pc);
    const struct isa_object *object = program != NULL ? emu_program_object(program) : NULL;
    uint64_t frame[CHK_MOST_FRAMES];
    unsigned count = 0, frames = 0, at = 0;
    bool walked = false, anything = false;

    if (object == NULL)
        return 0;
    uint32_t insn = chk_pc_index(program, location->pc);
    if (object->debug != NULL)
        count = inlined(object, insn, out);
    const char *file = count != 0 ? out[count - 1].file : chk_line_file(object, isa_object_line_at(object, insn));
    /* Continues from each function to its caller. The stack frames at the first occurrence of the finding have the callers.
     * Without frames, the loop continues as long as the function has only one caller. */
    while (count < CHK_MOST_CALLS) {
        const bool own = file[0] == '\0' || chk_is_foreign(file);
        const struct isa_function *f = isa_object_function_at(object, insn);
        const struct isa_line *line;
        struct chk_call more[CHK_MOST_CALLS];

        if (f == NULL || f->kernel)
            break;
        if (!walked)
            frames = chk_frames(chk, location, frame, CHK_MOST_FRAMES);
        if (own && location->caller != 0 && !walked) /* skips frames up to location->caller, the first call by other
                                                      * code */
            while (at < frames && frame[at] != location->caller)
                at++;
        insn = at < frames ? chk_pc_index(program, frame[at++])
               : own && location->caller != 0 && !walked ? chk_pc_index(program, location->caller)
                                                         : only_call(program, f, location->kernel);
        walked = true;
        if (insn >= object->text_count)
            break;
        const struct isa_function *called = callee_of(program, insn, &anything);
        line = isa_object_line_at(object, insn);
        file = chk_line_file(object, line);
        if (file[0] == '\0')
            break;
        out[count++] = (struct chk_call){function_name(object, called != NULL ? called : f), file, line->line, true};
        const unsigned n = object->debug != NULL ? inlined(object, insn, more) : 0;
        for (unsigned i = 0; i < n && count < CHK_MOST_CALLS; i++) {
            out[count++] = more[i];
            file = more[i].file;
        }
    }
    for (unsigned i = 0; i < count; i++)
        out[i].file = chk_file_plain(chk, out[i].file);
    return count;
}

bool chk_inline_calls(struct chk *chk, struct chk_location *location)
{
    struct chk_call call[CHK_MOST_CALLS];
    const unsigned count = location->calls == NULL ? chk_inline_collect(chk, location, call) : 0;

    const bool none = location->line == 0;
    if (count == 0)
        return true;
    struct chk_call *calls = lw_arena_alloc(&chk->strings, count * sizeof *calls);
    if (calls == NULL)
        return false;
    memcpy(calls, call, count * sizeof *calls);
    location->calls = calls;
    location->call_count = count;
    /* An instruction without a line gets the line of the innermost call that is not in a header of a compiler or the
     * system. */
    for (unsigned i = 0; none && i < count; i++)
        if (location->line == 0 || chk_is_foreign(location->file)) {
            location->file = calls[i].file;
            location->line = calls[i].line;
        }
    return true;
}
