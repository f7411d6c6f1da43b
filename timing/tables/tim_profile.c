/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of loads, from the timing reports of earlier runs. */
#include "timing/tables/tim_profile_priv.h"

#include <stdlib.h>

static const char *const counter_names[] = {
#define X(name, help) #name,
    TIM_LOAD_COUNTERS(X)
#undef X
};

void tim_profile_share(struct tim_profile *profile)
{
    if (profile != NULL)
        profile->users++;
}

void tim_profile_release(struct tim_profile *profile)
{
    if (profile == NULL || --profile->users != 0)
        return;
    for (size_t i = 0; i < profile->count; i++)
        free(profile->load[i].function);
    free(profile->load);
    free(profile->name);
    free(profile);
}

const char *tim_code_location(const struct tim_code *code, uint64_t pc, uint64_t *offset)
{
    const uint32_t index = (uint32_t)((pc - code->base) / ISA_WORD_BYTES);
    const struct isa_function *in = isa_object_function_at(emu_program_object(code->program), index);

    *offset = (uint64_t)(index - (in != NULL ? in->first : 0)) * ISA_WORD_BYTES;
    return in != NULL ? in->name : "";
}

/** Reads the number that is member @key of @row. */
static enum lw_status read_number(const struct lw_yaml_document *doc, const struct lw_yaml *row, const char *key,
                                  uint64_t *out, struct lw_error *err)
{
    const struct lw_yaml *node = lw_yaml_get(row, key);

    if (node == NULL)
        return lw_yaml_fail(doc, row, err, "a load has no \"%s\": write the report again with --mechanism loads", key);
    return lw_yaml_u64(doc, node, 0, UINT64_MAX, out, err);
}

static enum lw_status read_load(const struct lw_yaml_document *doc, const struct lw_yaml *row,
                                struct tim_profile_load *load, struct lw_error *err)
{
    const struct lw_yaml *function, *loop;
    const char *text = NULL;
    enum lw_status status;

    if (row->kind != LW_YAML_MAPPING)
        return lw_yaml_fail(doc, row, err, "expected an entry for a load of a timing report");
    function = lw_yaml_get(row, "function");
    loop = lw_yaml_get(row, "loop");
    if (function == NULL || loop == NULL)
        return lw_yaml_fail(doc, row, err, "a load has no \"%s\": write the report again with --mechanism loads",
                            function == NULL ? "function" : "loop");
    status = lw_yaml_string(doc, function, &text, err);
    if (status == LW_OK)
        status = read_number(doc, row, "offset", &load->offset, err);
    load->loop = UINT64_MAX;
    if (status == LW_OK && !(loop->kind == LW_YAML_SCALAR && strcmp(loop->text, "null") == 0))
        status = lw_yaml_u64(doc, loop, 0, UINT64_MAX - 1, &load->loop, err);
    for (unsigned i = 0; i < TIM_LOAD_COUNT && status == LW_OK; i++)
        status = read_number(doc, row, counter_names[i], &load->count[i], err);
    if (status != LW_OK)
        return status;
    load->function = strdup(text);
    return load->function != NULL ? LW_OK : LW_FAIL(err, LW_ENOMEM, "the host has no memory for a profile");
}

static enum lw_status read_loads(const char *path, const struct lw_yaml_document *doc, struct tim_profile *profile,
                                 struct lw_error *err)
{
    const struct lw_yaml *root = lw_yaml_root(doc);
    const struct lw_yaml *loads = root->kind == LW_YAML_MAPPING ? lw_yaml_get(root, "loads") : NULL;
    enum lw_status status = LW_OK;
    size_t capacity = 0;

    if (loads == NULL || loads->kind != LW_YAML_SEQUENCE)
        return LW_FAIL(err, LW_EINPUT, "%s: expected a timing report with a profile of loads: write one with run "
                                       "--timing --mechanism loads --timing-report FILE", path);
    for (const struct lw_yaml *row = loads->first; row != NULL && status == LW_OK; row = row->next) {
        if (!lw_grow(&profile->load, &capacity, profile->count + 1, sizeof *profile->load))
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a profile");
        profile->load[profile->count] = (struct tim_profile_load){0};
        status = read_load(doc, row, &profile->load[profile->count], err);
        profile->count += status == LW_OK;
    }
    return status;
}

enum lw_status tim_config_set_profile(struct tim_config *config, const char *path, struct lw_error *err)
{
    struct tim_profile *profile = calloc(1, sizeof *profile);
    struct lw_yaml_document *doc = NULL;
    enum lw_status status;
    char *data = NULL;
    size_t size;

    if (profile == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a profile");
    profile->users = 1;
    profile->name = strdup(path);
    status = lw_file_read(path, &data, &size, err);
    if (status == LW_OK)
        status = lw_yaml_parse(path, data, size, &doc, err);
    free(data);
    if (status == LW_OK)
        status = read_loads(path, doc, profile, err);
    if (status == LW_OK && profile->name == NULL)
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for a profile");
    lw_yaml_destroy(doc);
    if (status != LW_OK) {
        tim_profile_release(profile);
        return status;
    }
    tim_profile_release(config->profile);
    config->profile = profile;
    return LW_OK;
}
