/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a page of docs/ with the text that a program prints. `make golden` writes the page. */
#ifndef GOLDEN_PAGE_H
#define GOLDEN_PAGE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lw.h"

/** Fail the test if the file @page of the source tree differs from @wanted. The message names the first line that
 *  differs, and the test @test, which can write the page: with UPDATE_GOLDEN=1 in the environment this function writes
 *  the page before it compares. */
static inline void golden_page(const char *page, const struct lw_buffer *wanted, const char *test)
{
    const char *dir = getenv("srcdir"), *update = getenv("UPDATE_GOLDEN");
    const char *new_line = wanted->text, *old_line;
    struct lw_error err;
    char path[1024], *text;
    unsigned line = 1;
    size_t size;

    snprintf(path, sizeof path, "%s/%s", dir != NULL ? dir : ".", page);
    if (update != NULL && strcmp(update, "1") == 0 &&
        lw_file_write(path, wanted->text, wanted->size, &err) != LW_OK)
        fail_msg("%s", err.text);
    if (lw_file_read(path, &text, &size, &err) != LW_OK)
        fail_msg("%s", err.text);
    old_line = text;
    while (*new_line != '\0' || *old_line != '\0') {
        size_t old_size = strcspn(old_line, "\n"), new_size = strcspn(new_line, "\n");

        if (old_size != new_size || memcmp(old_line, new_line, old_size) != 0)
            fail_msg("%s:%u: \"%.*s\" should be \"%.*s\"; `make golden T=%s` in a build folder renews the page", page, line,
                     (int)old_size, old_line, (int)new_size, new_line, test);
        old_line += old_size + (old_line[old_size] == '\n');
        new_line += new_size + (new_line[new_size] == '\n');
        line++;
    }
    assert_int_equal(size, wanted->size);
    free(text);
}

#endif
