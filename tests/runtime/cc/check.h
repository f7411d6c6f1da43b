/* SPDX-License-Identifier: Apache-2.0 */
/* Counts conditions that are not true, and prints the first ones. */
#include <stdio.h>

static int wrong;
#define CHECK(what) \
    do { \
        if (!(what) && wrong++ < 9) \
            printf("line %d: not true: %s\n", __LINE__, #what); \
    } while (0)
