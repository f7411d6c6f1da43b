/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of lnc_direct.c and lnc_direct_value.c, which convert a launch described by options to a launch
 * file. */
#ifndef LNC_DIRECT_PRIV_H
#define LNC_DIRECT_PRIV_H

#include "launch/launch_priv.h"

/** A parameter of the kernel, or a member of a structure parameter, and the option given for it. */
struct lnc_slot {
    const struct isa_param *param; /* the parameter; for a member, a parameter that was generated from the member's type */
    const char *name;   /* name in the source or, if that is not known, in the object; for a member "p.rows"; NULL: no name
                         * is known */
    struct lnc_element member; /* type of a member, which is u64 for a pointer. In the slot of a parameter, member.count is 0 */
    unsigned first, members; /* for a structure: index of the first slot of its members, and number of these slots.
                              * `members` 0: the parameter is not a structure, or launch files have no form for it */
    bool is_array; /* for a structure: all members have one type, so numbers between commas are accepted */
    const char *names; /* for a structure whose members options give: the names of the members, such as "rows, cols" */
    int64_t type;       /* type in the debug information, or ISA_NO_DIE */
    const char *value;  /* value that the option gives, which is the text after any "NAME=", or NULL if no option is given */
    const char *option; /* the option, as messages name it: "--arg n=1024" */
    /* members for a buffer: */
    const char *buffer; /* name of the buffer; NULL: the parameter is not a buffer */
    const char *declared; /* "{type: f32, count: 4, init: 1}", with file names relative to the working folder */
    const char *elsewhere; /* as `declared`, for a launch file in another folder */
    const char *element; /* type of the buffer's elements: "f32" */
    const char *argument; /* the argument in the form of launch files */
};
struct lnc_directing {
    const struct lnc_direct *d;
    struct lnc_file *file;
    const struct isa_object *described; /* the program's object, or another object of the same source that has source names and
                                         * types */
    const struct isa_function *kernel;
    const char *entry; /* name of the kernel in the launch file */
    struct lnc_slot *slots; /* parameters, then members */
    unsigned count, total;  /* count: number of parameters; total: number of all slots */
    struct lw_error *err;
    bool lost; /* memory was short for some text */
};

/** A buffer for text that must be complete. Unlike struct lw_buffer, it records whether memory was short. */
struct lnc_text {
    struct lw_sink sink; /* must be the first member, because the sink's function gets a pointer to it */
    struct lw_buffer buffer;
    bool lost; /* a part of the text is missing, because memory was short */
};
void lnc_text_init(struct lnc_text *text);
void lnc_text_fini(struct lnc_text *text);
/** Returns the element type of a type name such as "f32" or "float4", and sets *@each to the number of elements of one value,
 *  such as 1 for "f32" or 4 for "float4". NULL: there is no such type. */
const struct lnc_type *lnc_direct_type(const char *text, size_t size, uint64_t *each);
enum lw_status lnc_direct_no_memory(const struct lnc_directing *t);
/** Returns true if the slot is a pointer to __local memory. */
bool lnc_slot_is_local(const struct lnc_slot *s);
/** Returns true if the slot is a pointer of any kind. */
bool lnc_slot_is_pointer(const struct lnc_directing *t, const struct lnc_slot *s);
/** Gets the source type of a pointer's elements. Returns false if it is not known. */
bool lnc_slot_element(const struct lnc_directing *t, const struct lnc_slot *s, struct lnc_element *out);
/** Prints the type of a parameter for users, such as "const float *", or "a pointer" if the type is not known. */
void lnc_slot_put_words(const struct lnc_directing *t, const struct lnc_slot *s, struct lw_sink *out);
/** Prints an example option for parameter @index. */
void lnc_slot_example(const struct lnc_directing *t, unsigned index, struct lw_sink *out);
/** Returns true if an option gives a value for a member of this structure. */
bool lnc_slot_by_members(const struct lnc_directing *t, const struct lnc_slot *s);
/** Returns the parameter or member with a name, or NULL if there is none. */
struct lnc_slot *lnc_slot_named(const struct lnc_directing *t, const char *name, size_t size);
/** Converts the value of slot @index to the form of launch files (lnc_direct_value.c): sets the slot's argument and, if the
 *  value is a buffer, the members for a buffer. @here: the working folder as the saved launch file names it. Errors:
 *  LW_EUSAGE; the message names the option. */
enum lw_status lnc_slot_read(struct lnc_directing *t, unsigned index, const char *here) LW_MUST_CHECK;
/** Writes the check for the option "--expect @expect", such as "{buffer: y, constant: 3}" (lnc_direct_value.c). The values
 *  of all slots must have been converted. @folder: prefix of relative names. Errors: LW_EUSAGE; the message names the
 *  option. */
enum lw_status lnc_expect_put(struct lnc_directing *t, const char *expect, const char *folder, struct lw_sink *out)
    LW_MUST_CHECK;

#endif
