/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of lnc_direct.c and lnc_direct_value.c: a launch described by options, while it is
 * built. */
#ifndef LNC_DIRECT_PRIV_H
#define LNC_DIRECT_PRIV_H

#include "launch/launch_priv.h"

/** A parameter of the kernel, or a member of a structure parameter, and the option given for it. */
struct lnc_slot {
    const struct isa_param *param; /* the parameter; for a member: generated from the member's type */
    const char *name;   /* name in the source, else in the object; for a member "p.rows"; NULL: no name is known */
    struct lnc_element member; /* for a member: the member's type, u64 for a pointer. For a parameter `count` is 0 */
    unsigned first, members; /* for a structure: index of the first slot and number of the slots of its members.
                              * `members` 0: the parameter is no structure, or launch files have no form for it */
    bool is_array; /* for a structure: all members have one type, so numbers between commas are accepted */
    const char *names; /* names of the members of a structure given by members: "rows, cols" */
    int64_t type;       /* type in the debug information, or ISA_NO_DIE */
    const char *value;  /* text after the "=" of an option; NULL: nothing was given */
    const char *option; /* "--arg n=1024" */
    /* members for a buffer: */
    const char *buffer; /* name of the buffer; NULL: the parameter is not a buffer */
    const char *declared; /* "{type: f32, count: 4, init: 1}", with file names relative to the working folder */
    const char *elsewhere; /* as `declared`, for a launch file in another folder */
    const char *element; /* type of the buffer's elements: "f32" */
    const char *argument; /* argument as launch files write it */
};
struct lnc_directing {
    const struct lnc_direct *d;
    struct lnc_file *file;
    const struct isa_object *described; /* the object, or one with source names and types */
    const struct isa_function *kernel;
    const char *entry;
    struct lnc_slot *slots; /* parameters, then members */
    unsigned count, total;  /* count: number of parameters; total: number of all slots */
    struct lw_error *err;
    bool lost; /* memory was short for some text */
};

/** A buffer for text that must be complete: it records whether memory was short. */
struct lnc_text {
    struct lw_sink sink; /* first member: lnc_text_init's writer is passed this */
    struct lw_buffer buffer;
    bool lost; /* a part of the text is missing, because memory was short */
};
void lnc_text_init(struct lnc_text *text);
void lnc_text_fini(struct lnc_text *text);
/** Returns the type of one number of "f32", "float4", and gets how many numbers the name stands for. NULL:
 *  none. */
const struct lnc_type *lnc_direct_type(const char *text, size_t size, uint64_t *each);
enum lw_status lnc_direct_no_memory(const struct lnc_directing *t);
/** Returns true if the slot is a pointer to __local memory. */
bool lnc_slot_is_local(const struct lnc_slot *s);
/** Returns true if the slot is a pointer of any kind. */
bool lnc_slot_is_pointer(const struct lnc_directing *t, const struct lnc_slot *s);
/** Gets the source type of a pointer's elements. Returns false if it is not known. */
bool lnc_slot_element(const struct lnc_directing *t, const struct lnc_slot *s, struct lnc_element *out);
/** Prints what a parameter is, for users: "const float *", "a pointer". */
void lnc_slot_put_words(const struct lnc_directing *t, const struct lnc_slot *s, struct lw_sink *out);
/** Prints an example option for parameter @index. */
void lnc_slot_example(const struct lnc_directing *t, unsigned index, struct lw_sink *out);
/** Returns true if something is given for a member of this structure. */
bool lnc_slot_by_members(const struct lnc_directing *t, const struct lnc_slot *s);
/** Returns the parameter or member with a name; NULL: none. */
struct lnc_slot *lnc_slot_named(const struct lnc_directing *t, const char *name, size_t size);
/** Converts the option for parameter @index (lnc_direct_value.c): its buffer, if it is one, and its argument.
 *  @here: the working folder as the saved launch file names it. Errors: LW_EUSAGE, with the option. */
enum lw_status lnc_slot_read(struct lnc_directing *t, unsigned index, const char *here) LW_MUST_CHECK;
/** Writes the check for "--expect @expect", "{buffer: y, constant: 3}" (lnc_direct_value.c); arguments must
 *  have been converted. Errors: LW_EUSAGE, with the option. */
enum lw_status lnc_expect_put(struct lnc_directing *t, const char *expect, const char *folder, struct lw_sink *out)
    LW_MUST_CHECK;

#endif
