/* SPDX-License-Identifier: Apache-2.0 */
/* The option --stats: writes statistics as one JSON object. docs/howto/run-and-verify.md lists its keys. */
#include "cmd/cmd_priv.h"
#include "native/native.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_text(struct lw_sink *out, const char *key, const char *text)
{
    lw_printf(out, ",\n  \"%s\": ", key);
    lw_put_json(out, text);
}

static void put_number(struct lw_sink *out, const char *key, uint64_t value)
{
    lw_printf(out, ",\n  \"%s\": %" PRIu64, key, value);
}

/* Writes an object with the counts for the tags u (uniform), a (affine) and v (varying). */
static void put_tagged(struct lw_sink *out, const char *key, const uint64_t count[3])
{
    lw_printf(out, "\"%s\": {\"u\": %" PRIu64 ", \"a\": %" PRIu64 ", \"v\": %" PRIu64 "}, ", key,
              count[EMU_TAG_U], count[EMU_TAG_A], count[EMU_TAG_V]);
}

static void put_tags(struct lw_sink *out, const struct emu_stats *stats)
{
    const struct emu_tag_stats *t = &stats->tags;

    lw_put(out, ",\n  \"tags\": {");
    put_tagged(out, "instructions", t->instructions);
    put_tagged(out, "reads", t->reads);
    put_tagged(out, "writes", t->writes);
    put_tagged(out, "addresses", t->addresses);
    lw_put(out, "\"common_bytes\": [");
    for (unsigned k = 0; k < LW_COUNT_OF(t->common); k++)
        lw_printf(out, "%s%" PRIu64, k != 0 ? ", " : "", t->common[k]);
    lw_printf(out, "], \"delta_banks\": %" PRIu64 ", \"row_banks\": %" PRIu64 ", ",
              t->delta_banks, t->row_banks);
    lw_printf(out, "\"expansions\": %" PRIu64 ", \"rows_made\": %" PRIu64
                   ", \"lane_operations\": %" PRIu64 ", \"lane_operations_done\": %" PRIu64
                   ", \"lane_operations_saved\": %" PRIu64 ", \"mismatches\": %" PRIu64 "}",
              t->expansions, t->rows_made, stats->thread_instructions, emu_lane_operations(stats),
              t->lanes_saved, t->mismatches);
}

/** Writes for each kernel how it can observe the order of blocks, and why. */
static void put_kernels(struct lw_sink *out, const struct cmd_machine *m)
{
    static const char *const words[] = {[ISA_ORDER_NONE] = "order-free",
                                        [ISA_ORDER_BLOCK] = "block-order-free",
                                        [ISA_ORDER_GRID] = "fixed"};
    const struct isa_object *object = lnc_session_object(m->session);
    struct isa_order_analysis *orders = object != NULL ? isa_object_orders(object) : NULL;
    const char *comma = "";

    lw_put(out, ",\n  \"kernels\": [");
    for (unsigned i = 0; orders != NULL && i < object->function_count; i++) {
        const struct isa_function *f = &object->functions[i];
        const struct isa_order_analysis *analysis = &orders[i];
        struct lw_buffer why;
        char room[ISA_SYMBOL_BYTES];

        if (!f->kernel)
            continue;
        lw_printf(out, "%s\n    {\"name\": ", comma);
        lw_put_json(out, f->name);
        lw_put(out, ", \"plain_name\": ");
        lw_put_json(out, isa_symbol_text(f->name, room));
        lw_printf(out, ", \"order\": \"%s\"", words[analysis->worst]);
        lw_buffer_init(&why);
        isa_order_print(object, analysis, &why.sink);
        if (analysis->worst != ISA_ORDER_NONE) {
            const char *reason = strstr(why.text, ": ");

            lw_put(out, ", \"because\": ");
            lw_put_json(out, reason != NULL ? reason + 2 : why.text);
        }
        lw_buffer_fini(&why);
        lw_put(out, "}");
        comma = ",";
    }
    free(orders);
    lw_put(out, "\n  ]");
}

static void put_native(struct lw_sink *out, const struct cmd_machine *m, const struct emu_native *native)
{
    struct nat_stats stats;

    nat_get_stats(native, &stats);
    lw_printf(out, ",\n  \"native\": {\"compiled\": %u, \"cached\": %u, \"refused\": %u, \"instructions\": %" PRIu64 "}",
              stats.kernels, stats.cached, stats.refused, emu_machine_native_instructions(m->machine));
}

int cmd_stats_write(const char *path, const char *launch_file, const struct cmd_machine *m,
                    const struct cmd_outcome *outcome)
{
    static const char *const exits[] = {"ok", "check-failed", "error", "fault", "hang"};
    const struct emu_config *config = emu_machine_config(m->machine);
    struct emu_stats stats;
    struct lw_buffer text;
    int status;

    emu_stats_get(m->machine, &stats);
    lw_buffer_init(&text);
    struct lw_sink *out = &text.sink;
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {
        {"launches", outcome->result.launches},
        {"checks", outcome->result.checks},
        {"failed_checks", outcome->result.failed_checks},
        {"findings", outcome->found},
    };

    lw_put(out, "{\n  \"format_version\": 1,\n  \"launch_file\": ");
    lw_put_json(out, launch_file);
    /* The statuses "left" (gdb disconnected early) and "finding" share the exit status of a wrong result, although no result
     * was wrong. */
    put_text(out, "status",
             outcome->stop.kind == EMU_STOP_LIMIT         ? "limit"
             : outcome->stop.kind == EMU_STOP_INTERRUPTED ? "interrupted"
             : outcome->exit == CMD_WRONG && outcome->stop.kind != EMU_STOP_IDLE
                 ? "left"
             : outcome->exit == CMD_WRONG && outcome->result.failed_checks == 0
                 ? "finding"
                 : exits[outcome->exit]);
    /* After a signal this is the exit status that a shell reports. */
    put_number(out, "exit_status",
               cmd_end_signal() != 0 ? 128 + (unsigned)cmd_end_signal() : (unsigned)outcome->exit);
    if (cmd_end_signal() != 0)
        put_text(out, "signal", cmd_end_signal_name(cmd_end_signal()));
    lw_printf(out,
              ",\n  \"load_seconds\": %.6f,\n  \"run_seconds\": %.6f,\n"
              "  \"launch_seconds\": %.6f",
              outcome->load_seconds, outcome->run_seconds, outcome->launch_seconds);
    for (unsigned i = 0; i < LW_COUNT_OF(counts); i++)
        put_number(out, counts[i].key, counts[i].value);
    for (size_t i = 0; i < emu_stat_row_count; i++)
        put_number(out, emu_stat_rows[i].name,
                   lw_get64((const char *)&stats + emu_stat_rows[i].offset));
    if (stats.warp_instructions != 0)
        lw_printf(out, ",\n  \"simd_efficiency\": %.4f",
                  (double)stats.thread_instructions /
                      ((double)stats.warp_instructions * config->warp_width));
    if (outcome->launch_seconds > 0)
        lw_printf(out, ",\n  \"thread_instructions_per_second\": %.0f",
                  (double)stats.thread_instructions / outcome->launch_seconds);
    if (outcome->hashed)
        lw_printf(out, ",\n  \"hash_mem\": \"%016" PRIx64 "\",\n  \"hash_state\": \"%016" PRIx64
                       "\"",
                  outcome->hash_mem, outcome->hash_state);
    if (outcome->native != NULL)
        put_native(out, m, outcome->native);
    lw_printf(out, ",\n  \"machine\": {\"warp\": %u, \"quantum\": %u, \"window\": %u, "
                   "\"merge\": %s, \"resident_warps\": %u, \"warp_quantum\": %u, \"level\": %u, "
                   "\"policy\": ",
              config->warp_width, config->split_quantum, config->fairness_window,
              config->merge ? "true" : "false", config->resident_warps, config->warp_quantum,
              config->level);
    lw_put_json(out, config->policy);
    lw_put(out, ", \"reconv\": ");
    lw_put_json(out, config->reconv);
    lw_put(out, ", \"push_order\": ");
    lw_put_json(out, config->push_order);
    lw_printf(out, ", \"tags\": \"%s\", \"tag_rules\": \"%s\", \"tag_expansion\": \"%s\", "
                   "\"tag_plan\": \"%s\", \"launch_depth\": %u, \"pending_launches\": %u, "
                   "\"child_order\": \"%s\", \"child_seed\": %u, \"heap_bytes\": %u, \"memory\": %" PRIu64 "}",
              emu_tag_mode_names[config->tags], emu_tag_rules_names[config->tag_rules],
              emu_tag_expansion_names[config->tag_expansion],
              emu_tag_plan_names[config->tag_plan], config->launch_depth,
              config->pending_launches, emu_child_order_names[config->child_order], config->child_seed, config->heap_bytes,
              config->arena_bytes);
    if (config->tags != EMU_TAGS_OFF)
        put_tags(out, &stats);
    put_kernels(out, m);
    if (m->timing != NULL) {
        put_number(out, "cycles", m->engine->ops->cycles(m->engine));
        lw_put(out, ",\n  \"timing\": ");
        tim_report_json(m->engine, out);
    }
    if (outcome->exit == CMD_FAULT) {
        const struct emu_fault *f = &outcome->stop.fault;

        lw_put(out, ",\n  \"fault\": {\"kind\": ");
        lw_put_json(out, emu_fault_name(f->kind));
        lw_printf(out, ", \"grid\": %u, \"block\": %" PRIu64 ", \"warp\": %u, \"lanes\": \"0x%"
                       PRIx64 "\", \"pc\": \"0x%" PRIx64 "\", \"address\": \"0x%" PRIx64
                       "\", \"bytes\": %u, \"write\": %s, \"detail\": ",
                  f->grid, f->block, f->warp, f->lanes, f->pc, f->address, f->bytes,
                  f->write ? "true" : "false");
        lw_put_json(out, f->detail);
        lw_put(out, "}");
    }
    if (outcome->stop.kind == EMU_STOP_LIMIT || outcome->stop.kind == EMU_STOP_INTERRUPTED)
        put_text(out, "ended", outcome->stop.hang.detail);
    if (outcome->stop.kind == EMU_STOP_HANG) {
        const struct emu_hang *h = &outcome->stop.hang;

        lw_put(out, ",\n  \"hang\": {\"kind\": ");
        lw_put_json(out, emu_hang_name(h->kind));
        lw_printf(out, ", \"grid\": %u, \"block\": %" PRIu64 ", \"warp\": %u, \"lanes\": \"0x%"
                       PRIx64 "\", \"pc\": \"0x%" PRIx64 "\", \"detail\": ",
                  h->grid, h->block, h->warp, h->lanes, h->pc);
        lw_put_json(out, h->detail);
        lw_put(out, "}");
    }
    lw_put(out, "\n}\n");
    status = cmd_write(path, text.text, text.size);
    lw_buffer_fini(&text);
    return status;
}
