/* SPDX-License-Identifier: Apache-2.0 */
/* Between lnc_direct.c and lnc_direct_value.c: a launch that options describe, while it is made. */
#ifndef LNC_DIRECT_PRIV_H
#define LNC_DIRECT_PRIV_H

#include "launch/launch_priv.h"

/** A parameter of the kernel, or a member of one that is a structure, and what was given for it. */
struct lnc_slot {
    const struct isa_param *param; /* of a member: made up of its type */
    const char *name;   /* of the source, else as the object has it; NULL: none. Of a member "p.rows" */
    struct lnc_element member; /* of a member: its type, u64 of a pointer; else `count` is 0 */
    unsigned first, members; /* of a structure: its members' slots; `members` 0: it is none, or one without a form */
    bool is_array; /* of a structure: all members are of one type, and numbers between commas will do */
    const char *names; /* of a structure by members: "rows, cols" */
    int64_t type;       /* in the debug information, or ISA_NO_DIE */
    const char *value;  /* after the "=" of an option; NULL: nothing was given */
    const char *option; /* "--arg n=1024" */
    /* a buffer: */
    const char *buffer; /* its name; NULL: it is none */
    const char *declared; /* "{type: f32, count: 4, init: 1}", names of files relative to the working folder, */
    const char *elsewhere; /* the same as a launch file in another folder names them */
    const char *element; /* its type: "f32" */
    const char *argument; /* as launch files have it */
};
struct lnc_directing {
    const struct lnc_direct *d;
    struct lnc_file *file;
    const struct isa_object *described; /* the object, or one with names and types of the source */
    const struct isa_function *kernel;
    const char *entry;
    struct lnc_slot *slots; /* parameters, then members */
    unsigned count, total;  /* parameters; all of them */
    struct lw_error *err;
    bool lost; /* there was no memory for some text */
};

/** A buffer for text of which nothing may be missing: it says whether some is. */
struct lnc_text {
    struct lw_sink sink; /* first: lnc_text_init's writer finds the rest */
    struct lw_buffer buffer;
    bool lost; /* there was no memory for some of it */
};
void lnc_text_init(struct lnc_text *text);
void lnc_text_fini(struct lnc_text *text);
/** "f32", "float4": the type of one number, and how many a name means. NULL: none. */
const struct lnc_type *lnc_direct_type(const char *text, size_t size, uint64_t *each);
enum lw_status lnc_direct_no_memory(const struct lnc_directing *t);
/** __local memory; a pointer of any kind. */
bool lnc_slot_is_local(const struct lnc_slot *s);
bool lnc_slot_is_pointer(const struct lnc_directing *t, const struct lnc_slot *s);
/** What a pointer's elements are in the source. False: not known. */
bool lnc_slot_element(const struct lnc_directing *t, const struct lnc_slot *s, struct lnc_element *out);
/** What a parameter is, for people: "const float *", "a pointer". */
void lnc_slot_put_words(const struct lnc_directing *t, const struct lnc_slot *s, struct lw_sink *out);
/** An option that somebody may type for parameter @index. */
void lnc_slot_example(const struct lnc_directing *t, unsigned index, struct lw_sink *out);
/** Is anything given for a member of this structure? */
bool lnc_slot_by_members(const struct lnc_directing *t, const struct lnc_slot *s);
/** The parameter or member of this name, NULL: none. */
struct lnc_slot *lnc_slot_named(const struct lnc_directing *t, const char *name, size_t size);
/** What was typed for parameter @index (lnc_direct_value.c): its buffer, if it is one, and its argument. @here: the
 *  working folder as the saved launch file names it. Errors: LW_EUSAGE, with the option. */
enum lw_status lnc_slot_read(struct lnc_directing *t, unsigned index, const char *here) LW_MUST_CHECK;
/** The check that "--expect @expect" describes, "{buffer: y, constant: 3}" (lnc_direct_value.c); arguments are read. Errors:
 *  LW_EUSAGE, with the option. */
enum lw_status lnc_expect_put(struct lnc_directing *t, const char *expect, const char *folder, struct lw_sink *out)
    LW_MUST_CHECK;

#endif
