/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes checkpoints and schedule logs. For any input the result must be one error message, or a machine that can
 * continue to run. The input is a file without the hash at its end. The harness appends the hash, so that inputs with
 * changed bytes pass the hash check. Compiled with clang -fsanitize=fuzzer this is the target of libFuzzer. Otherwise it
 * is a program that runs the files on its command line, or, without files, mutations of files that it creates:
 *
 *     fuzz_checkpoint [-s SEED] [-n RUNS] [-w FOLDER] [FILE...]      -w: only write those files
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "emu/emu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] =
    ".kernel k\n.param ptr.global out\n.param u64 number\n.shared 64\n.local 16\n"
    "v_s2r v0, %tid.x\nv_mov_b64 v4:5, c[out]\nv_madwide_u32 v4:5, v0, 4, v4:5\n"
    "v_mov_b32 v9, -1\ns_mov_b32 s3, 7\nv_and_b32 v2, v0, 3\n"
    "bssy b1, meet\n"
    "again: v_and_b32 v3, v2, 1\nv_setp_u32.ne p0, v3, 0\nbssy b2, inner\n"
    "@p0 bra other, b2\nv_add_u32 v1, v1, 5\nnanosleep 20\nbra inner\n"
    "other: v_add_u32 v1, v1, v0\nyield\ncall v14:15, helper\n"
    "inner: bsync.soft b2\nst.local.b32 [vz+4], v1\nst.shared.b32 [vz+8], v1\n"
    "v_sub_u32 v2, v2, 1\nv_setp_s32.ge p1, v2, 0\n@p1 bra again, b1\n"
    "meet: bsync.soft b1\nshfl.bfly v11, _, v1, 1, 31, v9\nv_add_u32 v1, v1, v11\n"
    "bar.sync 0\natom.global.add.u32 v12, [v4:5], v1\nvprintf v13, v4:5, v4:5\n"
    "v_setp_u32.lt p3, v0, 2\nlaunch.stream v20:21\n@p3 launch.buffer v24:25, 8\n"
    "@p3 st.global.b64 [v24:25], v4:5\nv_mov_b32 v28, lo(leaf_d)\nv_mov_b32 v29, hi(leaf_d)\n"
    "@p3 launch.kernel v30, v28:29, v24:25, v20:21\n@p3 launch.buffer v24:25, 8\n"
    "@p3 st.global.b64 [v24:25], v4:5\n@p3 launch.group v30, v28:29, v24:25\n"
    "launch.sync\n"
    "warpsync -1\nst.global.b32 [v4:5+4096], v12\nexit\n.end\n"
    ".const leaf_d 40 8 = addr leaf, u32 2, 1, 1, 40, 1, 1, 0, 0\n"
    ".kernel leaf\n.param ptr.global out\n.local 16\n.shared 64\n"
    "v_s2r v0, %tid.x\nv_mov_b64 v4:5, c[out]\nv_mov_b32 v1, 1\n"
    "red.global.add.u32 [v4:5], v1\nbar.sync 0\nred.global.add.u32 [v4:5], v1\nexit\n.end\n"
    ".func helper\nv_xor_b32 v1, v1, v0\nret v14:15\n.end\n";

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz_checkpoint: %s\n", what);
        abort();
    }
}

/* A machine with the program and its buffer. For a replay it also has a log, which is read from the input. */
struct world {
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    struct emu_log *log;
    uint64_t out;
};

static enum lw_status open_world(struct world *w, bool stack, const uint8_t *data, size_t size,
                                 struct lw_error *err)
{
    struct emu_config config;
    uint32_t number = 42;
    enum lw_status status;

    memset(w, 0, sizeof *w);
    emu_config_default(&config);
    config.arena_bytes = 1 << 20;
    config.resident_warps = 6;
    config.reconv = stack ? "stack" : "cbar";
    status = emu_machine_create(&config, &w->machine, err);
    if (status == LW_OK && data != NULL)
        status = emu_log_open(w->machine, "fuzz", data, size, &w->log, err);
    else if (status == LW_OK && size != 0)
        status = emu_log_create(w->machine, &w->log, err);
    if (status == LW_OK)
        status = isa_assemble("fuzz.s", text, strlen(text), &w->object, err);
    if (status == LW_OK)
        status = emu_program_load(w->machine, w->object, &w->program, err);
    if (status == LW_OK)
        status = emu_alloc(w->machine, 9000, "out", 0, &w->out, err);
    if (status == LW_OK)
        status = emu_global_write(w->machine, w->out, &number, sizeof number, err);
    if (status == LW_OK)
        status = data != NULL ? emu_engine_replay_create(w->machine, &w->engine, err)
                              : emu_engine_functional_create(w->machine, &w->engine, err);
    return status;
}

static enum lw_status launch(struct world *w, struct lw_error *err)
{
    uint64_t params[2] = {w->out, 1};
    struct emu_launch l = {.program = w->program, .kernel = &w->object->functions[0],
                           .grid = {5, 1, 1}, .block = {70, 1, 1}, .work_dim = 1,
                           .params = params};

    return emu_grid_launch(w->machine, &l, NULL, err);
}

static void close_world(struct world *w)
{
    emu_engine_destroy(w->engine);
    emu_machine_destroy(w->machine);
    isa_object_destroy(w->object);
    emu_log_destroy(w->log);
}

static enum lw_status run_to(struct world *w, uint64_t at, struct lw_error *err)
{
    struct emu_stop stop;

    w->engine->stop_at = at;
    return w->engine->ops->run(w->engine, &stop, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lw_error err = {0};
    struct lw_hash hash;
    struct world w;
    bool check = size >= 8 && memcmp(data, "LWCHECK\n", 8) == 0, stack = false;
    uint8_t *file = malloc(size + 8);
    enum lw_status status;

    if (file == NULL)
        return 0;
    memcpy(file, data, size);
    for (size_t i = 0; i + 5 < size && i < 100; i++)
        stack = stack || memcmp(data + i, "stack", 5) == 0;
    lw_hash_init(&hash);
    lw_hash_bytes(&hash, data, size);
    lw_put64(file + size, lw_hash_value(&hash));
    if (check) {
        const void *host;
        size_t host_bytes;
        status = open_world(&w, stack, NULL, 0, &err);
        require(status == LW_OK, "no machine");
        status = emu_checkpoint_load(w.engine, "fuzz", file, size + 8, &host, &host_bytes, &err);
        if (status == LW_OK)
            status = run_to(&w, w.engine->ops->instructions(w.engine) + 3000, &err);
    } else {
        status = open_world(&w, stack, file, size + 8, &err);
        for (unsigned i = 0; i < 2 && status == LW_OK; i++) {
            status = launch(&w, &err);
            if (status == LW_OK)
                status = run_to(&w, 3000, &err);
        }
    }
    if (status == LW_OK)
        (void)emu_hash_state(w.machine);
    else
        require(strnlen(err.text, sizeof err.text) > 5, "a failure without a message");
    close_world(&w);
    free(file);
    return 0;
}

#ifndef LW_FUZZ_LIBFUZZER
enum { SEEDS = 12 };
static struct {
    uint8_t *data;
    size_t size;
} seeds[SEEDS];

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Create checkpoints at several instruction counts, and logs of sessions with steps and edits, all without the hash. */
static void make_seed(unsigned i)
{
    char path[] = "/tmp/fuzz_checkpoint.XXXXXX", *data;
    struct lw_error err;
    struct world w;
    size_t size;
    int fd = mkstemp(path);
    uint64_t random = i;

    require(fd >= 0, "no temporary file");
    close(fd);
    require(open_world(&w, i % 3 == 2, NULL, i < SEEDS / 2 ? 0 : 1, &err) == LW_OK, err.text);
    require(launch(&w, &err) == LW_OK, err.text);
    if (i < SEEDS / 2) {
        require(run_to(&w, i * 210, &err) == LW_OK, err.text);
        require(emu_checkpoint_save(w.engine, "host", 4, path, &err) == LW_OK, err.text);
    } else {
        for (unsigned k = 0; k < 30; k++) {
            struct emu_thread_ref place;
            struct emu_stop stop;
            struct emu_event ev;
            struct emu_core *core;
            unsigned slot, count = w.engine->ops->warp_count(w.engine);
            if (count == 0 ||
                !w.engine->ops->warp_at(w.engine, (unsigned)(next(&random) % count), &place) ||
                !w.engine->ops->locate(w.engine, place.grid, place.block, &core, &slot))
                break;
            if (k % 4 == 0)
                (void)emu_reg_write(core, slot, place.warp, ISA_REG_V, 1, 0, k, NULL);
            else if (k % 4 == 1)
                (void)emu_mem_poke(core, slot, place.warp, 0, w.out + k, "abcd", 4);
            if (k % 3 == 0)
                require(run_to(&w, w.engine->ops->instructions(w.engine) + 20, &err) == LW_OK,
                        err.text);
            else if (k % 3 == 1)
                require(w.engine->ops->step_warp(w.engine, &place, &ev, &stop, &err) == LW_OK,
                        err.text);
            else
                require(w.engine->ops->run_other_warps(w.engine, &place, &stop, &err) == LW_OK,
                        err.text);
        }
        require(run_to(&w, UINT64_MAX, &err) == LW_OK, err.text);
        require(emu_log_save(w.log, path, &err) == LW_OK, err.text);
    }
    close_world(&w);
    require(lw_file_read(path, &data, &size, &err) == LW_OK, err.text);
    unlink(path);
    seeds[i].data = (uint8_t *)data;
    seeds[i].size = size - 8;
}

static size_t mutate(uint64_t *random, uint8_t *data, size_t size, size_t room)
{
    unsigned edits = 1 + (unsigned)(next(random) % 4);

    for (unsigned i = 0; i < edits; i++) {
        size_t at = next(random) % (size + 1), length = 1 + next(random) % 6;
        switch (next(random) % 8) {
        case 0:
            if (at + length <= size) {
                memmove(data + at, data + at + length, size - at - length);
                size -= length;
            }
            break;
        case 1:
            if (size + length <= room) {
                memmove(data + at + length, data + at, size - at);
                size += length;
            }
            break;
        case 2:
            if (at < size)
                data[at] = (uint8_t)next(random);
            break;
        default: /* change a number slightly, or flip a bit */
            if (at < size)
                data[at] = next(random) % 2 ? (uint8_t)(data[at] + next(random) % 5 - 2)
                                            : data[at] ^ (uint8_t)(1 << next(random) % 8);
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, runs = 4000;
    const char *folder = NULL;
    struct lw_error err;
    int i = 1;

    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (argv[i][1] == 'w')
            folder = argv[i + 1];
        else if (!lw_parse_u64(argv[i + 1], argv[i][1] == 's' ? &seed : &runs))
            return 2;
    }
    for (; i < argc; i++) {
        char *data;
        size_t size;
        if (lw_file_read(argv[i], &data, &size, &err) != LW_OK) {
            fprintf(stderr, "fuzz_checkpoint: %s\n", err.text);
            return 2;
        }
        LLVMFuzzerTestOneInput((uint8_t *)data, size);
        free(data);
        runs = 0;
    }
    if (runs == 0)
        return 0;
    for (unsigned k = 0; k < SEEDS; k++) {
        char path[1000];
        make_seed(k);
        LLVMFuzzerTestOneInput(seeds[k].data, seeds[k].size);
        snprintf(path, sizeof path, "%s/seed%u", folder != NULL ? folder : "", k);
        if (folder != NULL &&
            lw_file_write(path, seeds[k].data, seeds[k].size, &err) != LW_OK) {
            fprintf(stderr, "fuzz_checkpoint: %s\n", err.text);
            return 2;
        }
    }
    for (uint64_t run = 0; run < runs && folder == NULL; run++) {
        unsigned k = (unsigned)(run % SEEDS);
        size_t room = seeds[k].size + 64, size = seeds[k].size;
        uint8_t *data = malloc(room);
        uint64_t random = seed * 1000003 + run;
        require(data != NULL, "no memory");
        memcpy(data, seeds[k].data, size);
        size = mutate(&random, data, size, room);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    for (unsigned k = 0; k < SEEDS; k++)
        free(seeds[k].data);
    if (folder == NULL)
        printf("fuzz_checkpoint: %llu runs from seed %llu\n", (unsigned long long)runs,
               (unsigned long long)seed);
    return 0;
}
#endif
