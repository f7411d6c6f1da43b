/* SPDX-License-Identifier: Apache-2.0 */
/* Separate compilation: compiles sources with headers to PTX, links PTX texts to a module, and gets declarations of
 * kernels. */
#include "host/host_priv.h"
#include "ptx/ptx.h"

#include <stdlib.h>

/** Copies @count texts and terminates each, as the compiler and the PTX parser need. Returns NULL if the host has no memory.
 *  The caller frees the result. */
static struct ptx_text *copy_texts(const lanewise_text *texts, unsigned count)
{
    struct ptx_text *copies;
    size_t bytes = 0;
    char *to;

    for (unsigned i = 0; i < count; i++)
        bytes += texts[i].size + 1;
    copies = malloc((count + 1u) * sizeof *copies + bytes);
    if (copies == NULL)
        return NULL;
    to = (char *)(copies + count + 1);
    for (unsigned i = 0; i < count; i++) {
        copies[i] = (struct ptx_text){texts[i].name, to, texts[i].size};
        if (texts[i].size != 0)
            memcpy(to, texts[i].text, texts[i].size);
        to[texts[i].size] = '\0';
        to += texts[i].size + 1;
    }
    return copies;
}

static bool are_complete(const lanewise_text *texts, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (texts[i].name == NULL || (texts[i].text == NULL && texts[i].size != 0))
            return false;
    return count == 0 || texts != NULL;
}

static size_t count_options(const char *const *options)
{
    size_t n = 0;

    while (options != NULL && options[n] != NULL)
        n++;
    return n;
}

/** Stores the message of @err and after it all output of a compiler. Returns LANEWISE_ERROR. */
static int fail_with(struct lanewise_machine *m, const struct lw_error *err, const struct lw_buffer *words)
{
    host_fail(m, err);
    if (words->size != 0) {
        lw_put(&m->error.sink, "\n");
        m->error.sink.write(&m->error.sink, words->text, words->size);
    }
    return LANEWISE_ERROR;
}

int lanewise_compile(lanewise_machine *m, const lanewise_text *source, const lanewise_text *headers, unsigned header_count,
                     const char *const *options, char **ptx, size_t *ptx_size, char **log)
{
    struct ptx_text *own, *includes;
    struct lw_buffer words;
    struct lw_error err;
    enum lw_status status;

    if (m == NULL || source == NULL || ptx == NULL || ptx_size == NULL || !are_complete(source, 1) ||
        (header_count != 0 && headers == NULL) || !are_complete(headers, header_count))
        return host_missing(m, "lanewise_compile", ptx == NULL || ptx_size == NULL ? "the PTX" : "a text");
    own = copy_texts(source, 1);
    includes = copy_texts(headers, header_count);
    lw_buffer_init(&words);
    if (own == NULL || includes == NULL)
        status = LW_FAIL(&err, LW_ENOMEM, "%.200s: the host has no memory for its text", source->name);
    else if (!ptx_is_compiled(source->name))
        status = LW_FAIL(&err, LW_EINPUT, "%.200s: only .cl, .cu and .spv sources can be compiled to PTX", source->name);
    else
        status = ptx_compile_texts(own, includes, header_count, options, count_options(options), m->settings.compiler, ptx,
                                   ptx_size, &words.sink, &err);
    if (status != LW_OK) {
        fail_with(m, &err, &words);
    } else if (log != NULL) {
        *log = words.text != NULL ? words.text : calloc(1, 1);
        words.text = NULL;
    }
    lw_buffer_fini(&words);
    free(own);
    free(includes);
    return status == LW_OK ? LANEWISE_OK : LANEWISE_ERROR;
}

int lanewise_has_spirv(lanewise_machine *m)
{
    struct lw_error err;

    if (ptx_find_spirv(m != NULL ? m->settings.compiler : NULL, &err) == LW_OK)
        return LANEWISE_OK;
    return m != NULL ? host_fail(m, &err) : LANEWISE_ERROR;
}

int lanewise_link(lanewise_machine *m, const lanewise_text *modules, unsigned count, lanewise_module **out)
{
    struct ptx_options options;
    struct isa_object *object = NULL;
    struct ptx_source *sources;
    struct ptx_text *texts;
    struct lw_buffer words;
    struct lw_error err;
    enum lw_status status;

    if (out != NULL)
        *out = NULL;
    if (m == NULL || modules == NULL || count == 0 || out == NULL || !are_complete(modules, count))
        return host_missing(m, "lanewise_link", out == NULL ? "the module" : "a text");
    status = host_begin(m, &err);
    texts = copy_texts(modules, count);
    sources = calloc(count, sizeof *sources);
    if (status == LW_OK && (texts == NULL || sources == NULL))
        status = LW_FAIL(&err, LW_ENOMEM, "the host has no memory for %u modules", count);
    for (unsigned i = 0; i < count && status == LW_OK; i++)
        sources[i] = (struct ptx_source){texts[i].name, texts[i].text, texts[i].size, ptx_is_compiled(texts[i].name)};
    options = host_translation(m);
    if (status == LW_OK)
        status = ptx_translate_all(sources, count, &options, &object, &err);
    free(texts);
    free(sources);
    if (status != LW_OK)
        return host_fail(m, &err);
    lw_buffer_init(&words);
    return host_module_add(m, strdup(modules[0].name), object, &words, out);
}

int lanewise_describe(lanewise_machine *m, const lanewise_text *source, const lanewise_text *headers, unsigned header_count,
                      const char *const *options, char **out)
{
    struct ptx_text *own, *includes;
    struct lw_buffer text;
    struct lw_error err;
    enum lw_status status;

    if (m == NULL || source == NULL || out == NULL || !are_complete(source, 1) || (header_count != 0 && headers == NULL) ||
        !are_complete(headers, header_count))
        return host_missing(m, "lanewise_describe", out == NULL ? "the result" : "a text");
    own = copy_texts(source, 1);
    includes = copy_texts(headers, header_count);
    lw_buffer_init(&text);
    status = own == NULL || includes == NULL
                 ? LW_FAIL(&err, LW_ENOMEM, "%.200s: the host has no memory for its text", source->name)
                 : ptx_describe_text(own, includes, header_count, options, count_options(options), m->settings.compiler,
                                     &text.sink, &err);
    free(own);
    free(includes);
    if (status == LW_OK && text.text == NULL)
        text.text = calloc(1, 1);
    if (status != LW_OK || text.text == NULL) {
        lw_buffer_fini(&text);
        return status != LW_OK ? host_fail(m, &err) : host_refuse(m, "%.200s: the host has no memory for its declarations", source->name);
    }
    *out = text.text;
    return LANEWISE_OK;
}
