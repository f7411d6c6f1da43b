/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the results of launch files on the timing model with the results on the functional machine:
 *
 *   tim_kernels [--part K/N] FILE.yaml ...
 *
 * Each launch file runs on the functional machine, and then on a GPU model that the seed selects. The run on the model
 * writes a schedule log, which is replayed. With --part the launch file runs on every shipped model with every scheduler and
 * reconvergence engine; part K, from 0 to N - 1, runs every N-th of these combinations. Half of the models use uniform and
 * affine registers; the replay uses none. Without --part, launches by the device take a tenth of the model's time. The test
 * checks that
 * - the checks of the launch file pass, and memory is equal to that of the functional run if the kernels are order-free;
 * - the replay has the same state as the run at up to a hundred random instruction counts, and at the end;
 * - a second run has the same counters.
 * LW_SEED sets another seed, and LW_SEED=random another one each time. The seed is printed on failure.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launch/launch.h"
#include "timing/grid/tim_blocks_priv.h"
#include "timing/tim_engine_priv.h"

enum { POINTS = 100 };

static const char *path;
static uint64_t seed;
static const char *combination;

#define NEED(call)                                                                         \
    do {                                                                                   \
        if ((call) != LW_OK)                                                               \
            quit(err.text);                                                                \
    } while (0)

static void quit(const char *what)
{
    fprintf(stderr, "tim_kernels: %s: %s: %s (LW_SEED=%" PRIu64 ")\n", path,
            combination != NULL ? combination : "functional", what, seed);
    exit(1);
}

static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

struct outcome {
    uint64_t mem, state, instructions, cycles, counts;
    uint64_t point[POINTS], hash[POINTS];
    unsigned points;
    bool order_free;
};

enum how { FUNCTIONAL, TIMED, REPLAYED };

static const char *log_path;

/** Execute one run. The state is hashed at the ascending instruction counts in @out->point. Return false if the model cannot
 *  run the kernel. */
static bool run(enum how how, const struct tim_config *machine, bool reference,
                struct outcome *out)
{
    struct tim_options options = {.reference = reference};
    struct lnc_options lnc = {0};
    struct lnc_file *file = NULL;
    struct lnc_session *session = NULL;
    struct emu_machine *m = NULL;
    struct emu_engine *engine = NULL;
    struct emu_log *log = NULL;
    struct emu_config config;
    struct lnc_result result;
    struct emu_stop stop;
    struct lw_error err;
    enum lnc_state state;
    char *data = NULL;
    size_t size;
    unsigned next = 0;

    emu_config_default(&config);
    NEED(lnc_file_load(path, &config, &file, &err));
    if (machine != NULL)
        tim_config_machine(machine, &config);
    if (how == REPLAYED)
        config.tags = EMU_TAGS_OFF;
    const bool stacked = how == TIMED && (strcmp(config.reconv, "stack") == 0 || machine->tbc_on);
    if (stacked)
        config.hang_window = 1 << 17; /* spin locks hang with a SIMT stack, and the hang is to be reported early */
    NEED(emu_machine_create(&config, &m, &err));
    if (how == TIMED) {
        NEED(emu_log_create(m, &log, &err));
    } else if (how == REPLAYED) {
        NEED(lw_file_read(log_path, &data, &size, &err));
        NEED(emu_log_open(m, log_path, data, size, &log, &err));
        free(data);
    }
    NEED(lnc_session_create(file, m, &lnc, &session, &err));
    if (how == TIMED)
        NEED(tim_engine_create(m, machine, &options, &engine, &err));
    else if (how == REPLAYED)
        NEED(emu_engine_replay_create(m, &engine, &err));
    else
        NEED(emu_engine_functional_create(m, &engine, &err));
    out->order_free = true;
    for (;;) {
        enum lw_status status = lnc_session_next(session, &state, &err);
        if (status != LW_OK) {
            quit(err.text);
        }
        if (state == LNC_DONE)
            break;
        const struct emu_grid *grid = emu_grid_current(m);
        out->order_free &= emu_kernel_order(grid->launch.program, grid->launch.kernel)->worst == ISA_ORDER_NONE;
        do {
            engine->stop_at = next < out->points ? out->point[next] : UINT64_MAX;
            status = engine->ops->run(engine, &stop, &err);
            /* A block of this kernel does not fit on this model, or the kernel hangs with a SIMT stack. */
            if ((status == LW_EINPUT && how == TIMED) ||
                (status == LW_OK && stop.kind == EMU_STOP_HANG && stacked)) {
                printf("%s: %s: not supported: %.80s\n", path, combination,
                       status != LW_OK ? err.text : stop.hang.detail);
                emu_engine_destroy(engine);
                emu_machine_destroy(m);
                lnc_session_destroy(session);
                lnc_file_destroy(file);
                emu_log_destroy(log);
                return false;
            }
            NEED(status);
            if (stop.kind == EMU_STOP_COUNT) {
                uint64_t hash = emu_hash_state(m);
                if (how == TIMED) /* stores no hash after a launch's last instruction, when the next launch may or may not be
                                   * queued */
                    out->hash[next] = emu_grid_current(m) != NULL ? hash : 0;
                else if (out->hash[next] != 0 && out->hash[next] != hash)
                    quit("the replay has another state at an instruction count");
                next++;
            } else if (stop.kind != EMU_STOP_IDLE) {
                quit(stop.kind == EMU_STOP_FAULT  ? stop.fault.detail
                     : stop.kind == EMU_STOP_HANG ? stop.hang.detail
                                                  : "the run stopped before its end");
            }
        } while (stop.kind != EMU_STOP_IDLE);
    }
    if (how == REPLAYED)
        NEED(emu_log_finish(log, &err));
    lnc_session_result(session, &result);
    if (result.failed_checks != 0)
        quit("a check of the launch file fails");
    out->mem = emu_hash_mem(m);
    out->state = emu_hash_state(m);
    out->instructions = engine->ops->instructions(engine);
    if (how == TIMED) {
        out->cycles = engine->ops->cycles(engine);
        out->counts = tim_counts_hash(engine);
        NEED(emu_log_save(log, log_path, &err));
    }
    emu_engine_destroy(engine);
    emu_machine_destroy(m);
    lnc_session_destroy(session);
    lnc_file_destroy(file);
    emu_log_destroy(log);
    return true;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/** Run the launch file at `path` on @machine, replay it, run it again, and compare the outcomes. */
static void compare(const struct tim_config *machine, const struct outcome *functional,
                    uint64_t *random)
{
    struct outcome timed, replayed, recheck_at;

    memset(&timed, 0, sizeof timed);
    for (timed.points = 0; timed.points < POINTS; timed.points++)
        timed.point[timed.points] = 1 + draw(random) % functional->instructions;
    qsort(timed.point, timed.points, sizeof *timed.point, ascending);
    unsigned kept = 0;
    for (unsigned i = 0; i < timed.points; i++)
        if (kept == 0 || timed.point[i] != timed.point[kept - 1])
            timed.point[kept++] = timed.point[i];
    timed.points = kept;
    recheck_at = timed;
    recheck_at.points = 0;
    if (!run(TIMED, machine, false, &timed))
        return; /* run() has printed the reason */
    if (timed.order_free && timed.mem != functional->mem)
        quit("memory differs from that of the functional run");
    replayed = timed;
    run(REPLAYED, machine, false, &replayed);
    if (replayed.state != timed.state || replayed.instructions != timed.instructions)
        quit("the replay ends in another state");
    run(TIMED, machine, true, &recheck_at);
    if (recheck_at.cycles != timed.cycles || recheck_at.counts != timed.counts)
        quit("a second run, by the reference and without stops, has other counters");
    printf("%s: %s: %" PRIu64 " cycles, %u points\n", path, combination, timed.cycles,
           timed.points);
}

static void set(struct tim_config *config, const char *format, unsigned value)
{
    char text[80];
    struct lw_error err;

    snprintf(text, sizeof text, format, value);
    NEED(tim_config_set(config, text, &err));
}

/** Let half of the models detect uniform and affine registers, by random rules, and use them as far as the model permits. */
static void set_tags(struct tim_config *config, uint64_t *random)
{
    bool window = config->registers_collector == TIM_COLLECTOR_WINDOW;
    uint64_t bits = draw(random);

    if (bits & 1)
        return;
    config->tags_detect = 1 + (unsigned)(bits >> 1 & 0xff) % 3;
    config->tags_expansion = bits >> 9 & 1;
    config->tags_address = bits >> 10 & 1;
    config->tags_scalar = window ? bits >> 11 & 1 : (unsigned)(bits >> 11 & 0xff) % 3;
    config->registers_tags = (unsigned)(bits >> 20 & 0xff) % 3;
    if (window)
        return;
    config->tags_affine = bits >> 19 & 1;
    config->registers_compact = bits >> 28 & 1;
}

/** Draw a mechanism for most models, and return its name, or "" for none. With a mechanism, L1 has a single set, so that
 *  lines are evicted before they are reused. */
static const char *set_mechanism(struct tim_config *config, uint64_t *random)
{
    size_t which = draw(random) % (tim_mechanism_count + 1);
    struct lw_error err;

    if (which == tim_mechanism_count || config->l1_bytes == 0 || config->issue_types)
        return "";
    if ((config->issue_policy == TIM_SCHED_ACTIVE_PENDING && (tim_mechanisms[which] == &tim_equalizer || tim_mechanisms[which] == &tim_swl || tim_mechanisms[which] == &tim_daws)) ||
        (config->issue_policy == TIM_SCHED_SWL && (tim_mechanisms[which] == &tim_pools || tim_mechanisms[which] == &tim_equalizer)) ||
        (config->lsu_replay != TIM_REPLAY_NONE && (tim_mechanisms[which] == &tim_daws || tim_mechanisms[which] == &tim_mrpb)) ||
        (config->lsu_local != 0 && tim_mechanisms[which] == &tim_mrpb))
        return ""; /* these settings cannot be combined */
    if (tim_mechanisms[which] == &tim_dwr) {
        if (config->lsu_local != 0 || config->lsu_separate || config->lsu_replay != TIM_REPLAY_NONE ||
            config->issue_policy == TIM_SCHED_SWL || config->issue_policy == TIM_SCHED_ACTIVE_PENDING)
            return "";
        config->core_group = 4;
        config->dwr_timeout = 2000; /* cycles, after which a warp with a lock no longer waits for partners that spin on it */
    }
    if (tim_mechanisms[which] == &tim_vws) {
        static const unsigned slices[] = {2, 4, 8};

        if (config->lsu_local != 0 || config->lsu_separate || config->lsu_replay != TIM_REPLAY_NONE || config->issue_rotate ||
            config->issue_policy == TIM_SCHED_SWL || config->issue_policy == TIM_SCHED_ACTIVE_PENDING)
            return "";
        config->issue_schedulers = config->core_group = slices[draw(random) % 3];
        config->core_warps = config->core_warps / 8 * 8;
        config->core_threads = config->core_warps * config->core_warp_width;
        config->issue_width = config->fetch_shared = 1;
        config->fetch_policy = TIM_FETCH_LRR;
        config->vws_memory = (unsigned)(draw(random) % 3);
        config->vws_reform = (unsigned)(draw(random) % 2);
        config->vws_sync = config->vws_reform == TIM_REFORM_NONE ? 0 : (unsigned)(draw(random) % 100);
    }
    if (tim_mechanisms[which] == &tim_orf) {
        if (config->registers_tags != TIM_REGISTERS_ROWS || config->registers_collector == TIM_COLLECTOR_WINDOW || config->lsu_local != 0)
            return "";
        config->orf_kind = draw(random) % 2;
        config->orf_entries = (unsigned)(1 + draw(random) % 8);
        config->orf_last = config->orf_liveness = draw(random) % 2;
    }
    if (tim_mechanisms[which] == &tim_prf) {
        if (config->registers_tags != TIM_REGISTERS_ROWS || config->registers_collector == TIM_COLLECTOR_WINDOW || config->lsu_local != 0)
            return "";
        config->prf_hot = (unsigned)(draw(random) % 4);
        config->prf_entries = (unsigned)(1 + draw(random) % 4);
        config->prf_slow = (unsigned)(1 + draw(random) % 6);
        config->prf_busy = (unsigned)(1 + draw(random) % 4);
        config->prf_idle = (unsigned)(draw(random) % 40);
    }
    if (tim_mechanisms[which] == &tim_regless) {
        const unsigned rows = config->core_registers / config->core_warp_width;

        if (config->registers_tags != TIM_REGISTERS_ROWS || config->issue_policy == TIM_SCHED_SWL || config->issue_policy == TIM_SCHED_ACTIVE_PENDING ||
            config->issue_switch_on_stall || rows < 32)
            return "";
        config->regless_region = (unsigned)(4 + draw(random) % 20);
        config->regless_size = 1 + 3200 / rows + (unsigned)(draw(random) % 20);
        config->regless_size = config->regless_size < 100 ? config->regless_size : 100;
        config->regless_ports = (unsigned)(1 + draw(random) % 4);
    }
    if (tim_mechanisms[which] == &tim_rows) {
        if (config->registers_tags != TIM_REGISTERS_ROWS)
            return "";
        config->rows_wake = (unsigned)(draw(random) % 9);
        config->rows_drowsy = draw(random) % 2 && config->registers_collector != TIM_COLLECTOR_WINDOW && config->lsu_local == 0;
        config->rows_rename = draw(random) % 2 && config->issue_policy != TIM_SCHED_SWL && config->issue_policy != TIM_SCHED_ACTIVE_PENDING;
        config->rows_reserve = draw(random) % 2;
        if (config->rows_rename)
            config->kernels_mixed = config->kernels_suspend = false;
    }
    if (tim_mechanisms[which] == &tim_dwf || tim_mechanisms[which] == &tim_tbc || tim_mechanisms[which] == &tim_lwm ||
        tim_mechanisms[which] == &tim_interweave) {
        if (config->core_reconvergence != TIM_RECONV_CBAR || config->issue_dependence != TIM_DEP_SCOREBOARD || config->tags_detect != TIM_DETECT_OFF ||
            config->registers_collector == TIM_COLLECTOR_WINDOW || config->lsu_local != 0 || config->lsu_separate || config->lsu_replay != TIM_REPLAY_NONE)
            return "";
        if ((tim_mechanisms[which] == &tim_tbc || tim_mechanisms[which] == &tim_lwm) && (config->issue_policy == TIM_SCHED_SWL || config->issue_policy == TIM_SCHED_ACTIVE_PENDING))
            return "";
        config->issue_switch_on_stall &= tim_mechanisms[which] == &tim_dwf || tim_mechanisms[which] == &tim_interweave;
        config->interweave_branches = draw(random) % 3 != 0;
        config->core_permute = (unsigned)(draw(random) % (TIM_PERMUTE_ROTATE + 1));
        config->lwm_warps = (unsigned)(1 + draw(random) % 8);
        config->lwm_timeout = (unsigned)(100 + draw(random) % 2000);
        config->issue_width = 1;
        config->issue_compression = TIM_COMPRESS_NONE;
        config->tbc_capri = draw(random) % 2;
        config->tbc_capri_entries = (unsigned)(1 + draw(random) % 8);
        config->tbc_capri_bits = (unsigned)(1 + draw(random) % 3);
        config->tbc_capri_initial = (unsigned)(draw(random) % (TIM_INADEQUATE + 1));
        config->dwf_heuristic = (unsigned)(draw(random) % (TIM_DWF_POLICY + 1));
    }
    if (tim_mechanisms[which] == &tim_mascar) {
        if (config->lsu_local != 0 || config->lsu_replay != TIM_REPLAY_NONE || config->issue_policy == TIM_SCHED_ACTIVE_PENDING)
            return "";
        config->mascar_free = (unsigned)(draw(random) % config->l1_mshrs);
        config->mascar_order = draw(random) % 2;
        config->mascar_queue = (unsigned)(draw(random) % 33);
    }
    if (tim_mechanisms[which] == &tim_dynpcal) {
        config->dynpcal_mode = draw(random) % 2 ? TIM_DYNPCAL_CCWS : TIM_DYNPCAL_MAX_TLP;
        config->ccws_on = config->dynpcal_mode == TIM_DYNPCAL_CCWS;
        config->dynpcal_shares = (unsigned)(1 + draw(random) % 8);
        config->dynpcal_epoch = (unsigned)(100 + draw(random) % 1000);
    }
    if (tim_mechanisms[which] == &tim_la_w && (config->issue_rotate || config->lsu_replay != TIM_REPLAY_NONE || config->issue_policy == TIM_SCHED_SWL || config->issue_policy == TIM_SCHED_ACTIVE_PENDING))
        return "";
    NEED(tim_config_add_mechanisms(config, tim_mechanisms[which]->name, &err));
    config->l1_bytes = config->l1_line * config->l1_ways;
    return tim_mechanisms[which]->name;
}

/** Draw a block scheduler, and return its name. In half of the models block groups join running kernels. */
static const char *set_blocks(struct tim_config *config, uint64_t *random)
{
    uint64_t bits = draw(random);

    config->kernels_policy = (unsigned)(bits & 0xff) % (unsigned)tim_blocks_policy_count;
    config->dtbl_on = bits >> 8 & 1;
    config->dtbl_kernels = bits >> 9 & 1;
    config->dtbl_entries = bits >> 10 & 1 ? 1024 : 2;
    config->laperm_entries = bits >> 11 & 1 ? 128 : 2;
    config->dvfs_on = !config->rows_on && !config->prf_on && !config->regless_on && !config->dynpcal_on && (bits >> 12 & 3) == 0 && config->fetch_shared == 1 && config->constant_shared == 1;
    config->dvfs_drain = bits >> 14 & 1;
    config->dvfs_sample = 10 + (unsigned)(bits >> 15 & 0xff);
    config->medic_on = config->l2_bytes != 0 && (bits >> 23 & 3) == 0;
    config->medic_sample = 2 + (unsigned)(bits >> 25 & 15);
    config->medic_interval = 2000;
    config->medic_priority = config->dram_policy == TIM_DRAM_FRFCFS;
    return tim_blocks_policies[config->kernels_policy]->name;
}

int main(int argc, char **argv)
{
    static const char *const schedulers[] = {"lrr", "gto", "two_level", "swl", "cggty", "active_pending"};
    static const char *const engines[] = {"cbar", "stack"};
    bool all = argc > 2 && strcmp(argv[1], "--part") == 0;
    const char *given = getenv("LW_SEED");
    unsigned machines = 0, part = 0, parts = 1;
    char name[200], text[80], log[] = "/tmp/lanewise-tim-XXXXXX";
    struct lw_error err;
    int fd = mkstemp(log);

    if (fd < 0)
        return 99;
    if (all && (sscanf(argv[2], "%u/%u", &part, &parts) != 2 || part >= parts)) {
        fprintf(stderr, "tim_kernels: --part %s: expected K/N with K below N\n", argv[2]);
        return 99;
    }
    log_path = log;
    seed = given == NULL ? 1 : strcmp(given, "random") == 0 ? (uint64_t)time(NULL) : strtoull(given, NULL, 0);
    while (tim_machines[machines].name != NULL)
        machines++;
    for (int i = all ? 3 : 1; i < argc; i++) {
        struct outcome functional = {0};
        uint64_t random = seed + (uint64_t)i * 1000;
        const unsigned kinds = (unsigned)(LW_COUNT_OF(schedulers) * LW_COUNT_OF(engines)), total = machines * kinds;

        path = argv[i];
        combination = NULL;
        run(FUNCTIONAL, NULL, false, &functional);
        for (unsigned k = 0; k < (all ? total : 1u); k++) {
            if (all && (k + (unsigned)i) % parts != part) /* each file has other combinations in this part */
                continue;
            if (all) /* a combination's random numbers do not depend on the part */
                random = seed + (uint64_t)i * 1000 + k + 1;
            unsigned n = all ? k : (unsigned)(draw(&random) % total);
            const char *sched = schedulers[n % LW_COUNT_OF(schedulers)], *engine = engines[n / LW_COUNT_OF(schedulers) % LW_COUNT_OF(engines)];
            struct tim_config *config;

            NEED(tim_config_load(tim_machines[n / kinds].name, &config, &err));
            unsigned cores = 1 + (unsigned)(draw(&random) % 4);
            set(config, "core.count=%u", cores);
            if (!all) { /* with the model's own times, a kernel that launches kernels simulates a million idle cycles */
                set(config, "kernels.stream_create=%u", 700);
                set(config, "kernels.buffer_base=%u", 800);
                set(config, "kernels.launch_base=%u", 1200);
                set(config, "kernels.launch_lane=%u", 160);
            }
            snprintf(text, sizeof text, "issue.policy=%s", sched);
            if (config->issue_types && strcmp(sched, "active_pending") == 0) { /* these two keys cannot be combined */
                tim_config_destroy(config);
                continue;
            }
            NEED(tim_config_set(config, text, &err));
            snprintf(text, sizeof text, "core.reconvergence=%s", engine);
            NEED(tim_config_set(config, text, &err));
            set_tags(config, &random);
            const char *mechanism = set_mechanism(config, &random), *blocks = set_blocks(config, &random);
            snprintf(name, sizeof name, "%s, %u cores, %s, %s, %s, %s%s%s", tim_machines[n / kinds].name, cores, sched, engine,
                     blocks, mechanism, config->dtbl_on ? ", dtbl" : "", config->tags_detect != TIM_DETECT_OFF ? ", tags" : "");
            combination = name;
            NEED(tim_config_check(config, &err));
            compare(config, &functional, &random);
            tim_config_destroy(config);
            combination = NULL;
        }
    }
    remove(log);
    return 0;
}
