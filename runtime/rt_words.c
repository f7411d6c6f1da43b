/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a text into words as a shell does. */
#include "runtime/rt_priv.h"

#include <stdlib.h>
#include <string.h>

char **rt_words(const char *text)
{
    const size_t size = strlen(text);
    const size_t most = size / 2 + 2; /* largest number of elements: each word but the last has at least one character and
                                       * a separator; the last element is NULL */
    char **words = malloc(most * sizeof *words + size + 1);
    char *to, quote = '\0';
    size_t count = 0;
    bool inside = false;

    if (words == NULL)
        return NULL;
    to = (char *)(words + most);
    for (; *text != '\0'; text++) {
        if (quote == '\0' && strchr(" \t\r\n", *text) != NULL) {
            if (inside)
                *to++ = '\0';
            inside = false;
            continue;
        }
        if (!inside)
            words[count++] = to;
        inside = true;
        if (*text == quote)
            quote = '\0';
        else if (quote == '\0' && (*text == '"' || *text == '\''))
            quote = *text;
        else if (*text == '\\' && quote != '\'' && text[1] != '\0')
            *to++ = *++text;
        else
            *to++ = *text;
    }
    if (inside)
        *to++ = '\0';
    words[count] = NULL;
    return words;
}
