/* SPDX-License-Identifier: Apache-2.0 */
/* Records launches: state that host_record.c, which writes launch files, shares with host_record_memory.c. */
#ifndef HOST_RECORD_PRIV_H
#define HOST_RECORD_PRIV_H

#include "host/host_priv.h"

enum { HOST_RECORD_NAME_BYTES = 40 };

/** Allocated memory without a gap: an allocation, or several that are mapped one after the other. */
struct host_area {
    uint64_t address, bytes;
    unsigned flags;       /* of enum emu_alloc_flag */
    const char *title;    /* name of the allocation on the machine, as messages have it */
    const char *variable; /* the variable of the launch's module that the area is, or NULL */
    bool is_skipped;      /* a variable that is not recorded, because loading the module gives it the same contents */
    char name[HOST_RECORD_NAME_BYTES]; /* name of the buffer in the launch file; "": the area is not recorded */
};
struct host_record {
    char *folder;
    unsigned launches; /* number of launches so far, recorded or not */
    unsigned before;   /* the number of a launch file is this number plus that of its launch */
    char path[4200];   /* the launch file of the active launch */
    const struct lanewise_module *copied; /* the module whose sources were copied last */
    uint64_t findings; /* number of findings of earlier launches, with repetitions, counted by lane */
    bool full;         /* a limit was reached, so later launches are not recorded */
    uint64_t bytes;    /* bytes written so far */
    bool active;       /* a launch is recorded and has not run yet; the members below describe that launch */
    char kernel[60];   /* the part of the launch file's name that comes from the kernel */
    char message[440]; /* reason why the last launch was not recorded; "": it was recorded */
    char machine[120]; /* line of the launch file */
    struct lw_buffer head, steps; /* text of the launch file up to the buffers, and text of its steps */
    struct host_area *areas;      /* all allocated memory, by address */
    size_t area_count;
    uint32_t *recorded; /* indices of the areas that are recorded, in the order in which they were found */
    size_t recorded_count;
    uint64_t recorded_bytes; /* size of these areas */
};

/** Writes @data to a file whose name is the hash of the data and @suffix, unless the file exists. Sets @name to its name. */
enum lw_status host_record_put(struct host_record *r, const void *data, uint64_t size, const char *suffix,
                               char name[HOST_RECORD_NAME_BYTES], struct lw_error *err) LW_MUST_CHECK;
/** Lists the memory that is allocated when a launch with a kernel of @module begins, none of it recorded. */
enum lw_status host_record_areas(struct lanewise_machine *m, const struct lanewise_module *module, struct lw_error *err)
    LW_MUST_CHECK;
/** Returns the area that contains @address, or NULL. */
struct host_area *host_record_area(const struct host_record *r, uint64_t address);
/** Records an area, unless it is recorded already. Errors: LW_ERANGE if it is too large. */
enum lw_status host_record_add(struct host_record *r, struct host_area *area, struct lw_error *err) LW_MUST_CHECK;
/** Records the variables of the launch's module. */
enum lw_status host_record_variables(struct lanewise_machine *m, struct lw_error *err) LW_MUST_CHECK;
/** Writes the contents of all recorded areas to files, and the areas to the head of the launch file. Records also the areas to
 *  which these contents point. */
enum lw_status host_record_contents(struct lanewise_machine *m, struct lw_error *err) LW_MUST_CHECK;
/** Writes the contents of a recorded area to a file, and sets @file to its name. Sets @file to "" if a kernel has freed the area. */
enum lw_status host_record_area_put(struct lanewise_machine *m, const struct host_area *area, char file[HOST_RECORD_NAME_BYTES],
                                    struct lw_error *err) LW_MUST_CHECK;

#endif
