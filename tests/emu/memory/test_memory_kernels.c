/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests invalid accesses in whole kernels. Each must stop the run and report the address and the lanes: in every space,
 * with and without generic addresses, with loads, stores and atomics, on the fast path and on the watched path.
 *
 * In the kernel of each case every thread has a valid address, except the threads of lane `lane` in the second block.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "emu/emu.h"

enum { LANE = 5, ODD = 4099 };

struct probe {
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct isa_object *object;
    struct emu_stop stop;
    uint64_t odd, freed, constant;
};

static void check(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s", err->text);
}

/** An observer without effect, which makes the engine use the watched path. */
static bool look(struct emu_observer *observer, const struct emu_event *ev)
{
    (void)observer, (void)ev;
    return false;
}

enum base { ODD_BUFFER, FREED_BUFFER, CONST_BUFFER, NOWHERE };

struct bad_access {
    const char *what;
    const char *insn;   /* instruction, in which %s is replaced by the address; v2:3 holds a 64-bit address */
    enum base base;     /* what `at` is relative to */
    uint64_t at, good;  /* an invalid address, and a valid one relative to the same base (NOWHERE: to the buffer of odd size) */
    enum emu_fault_kind kind;
    unsigned bytes;
};

static void run_probe(struct probe *p, const struct bad_access *c, unsigned width, bool watched,
                      unsigned level, uint64_t *bad)
{
    struct emu_config config;
    struct emu_observer observer = {.on_event = look};
    struct emu_program *program;
    struct lw_error err;
    char text[600], access[80];
    uint64_t good, base;

    emu_config_default(&config);
    config.warp_width = width;
    config.arena_bytes = 1 << 24;
    config.level = level;
    snprintf(access, sizeof access, c->insn, "[v2:3]");
    snprintf(text, sizeof text,
             ".kernel probe\n.shared 205\n.local 77\n"
             ".param u64 good\n.param u64 bad\n.param u32 lane\n"
             "v_s2r v0, %%tid.x\nv_s2r v1, %%ctaid.x\n"
             "v_setp_u32.eq p0, v0, c[lane]\n"
             "v_setp_u32.eq.and p0, v1, 1, p0\n"
             "v_mov_b64 v2:3, c[good]\n@p0 v_mov_b64 v2:3, c[bad]\n"
             "%s\nexit\n.end\n",
             access);
    check(emu_machine_create(&config, &p->machine, &err), &err);
    check(isa_assemble("probe.s", text, strlen(text), &p->object, &err), &err);
    check(emu_program_load(p->machine, p->object, &program, &err), &err);
    check(emu_alloc(p->machine, ODD, "odd", 0, &p->odd, &err), &err);
    check(emu_alloc(p->machine, 64, "gone", 0, &p->freed, &err), &err);
    check(emu_alloc(p->machine, 64, "table", EMU_ALLOC_READ_ONLY, &p->constant, &err), &err);
    check(emu_free(p->machine, p->freed, &err), &err);
    base = c->base == ODD_BUFFER     ? p->odd
           : c->base == FREED_BUFFER ? p->freed
           : c->base == CONST_BUFFER ? p->constant
                                     : 0;
    *bad = base + c->at;
    good = c->base == NOWHERE ? c->good : p->odd + c->good;
    struct {
        uint64_t good, bad;
        uint32_t lane;
    } params = {good, *bad, LANE};
    struct emu_launch launch = {.program = program, .kernel = &p->object->functions[0],
                                .grid = {3, 1, 1}, .block = {width, 1, 1}, .work_dim = 1,
                                .params = &params};
    check(emu_grid_launch(p->machine, &launch, NULL, &err), &err);
    check(emu_engine_functional_create(p->machine, &p->engine, &err), &err);
    if (watched)
        emu_observer_add(p->engine, &observer);
    check(p->engine->ops->run(p->engine, &p->stop, &err), &err);
    if (watched)
        emu_observer_remove(p->engine, &observer);
}

static void close_probe(struct probe *p)
{
    emu_engine_destroy(p->engine);
    emu_machine_destroy(p->machine);
    isa_object_destroy(p->object);
}

static const struct bad_access accesses[] = {
    /* global */
    {"one byte past an odd-sized buffer", "ld.global.u8 v4, %s", ODD_BUFFER, ODD, 0,
     EMU_FAULT_OUT_OF_BOUNDS, 1},
    {"the same, a store", "st.global.u8 %s, v4", ODD_BUFFER, ODD, 0, EMU_FAULT_OUT_OF_BOUNDS, 1},
    {"the same, generic", "ld.generic.u8 v4, %s", ODD_BUFFER, ODD, 0, EMU_FAULT_OUT_OF_BOUNDS,
     1},
    {"one byte before", "ld.global.u8 v4, %s", ODD_BUFFER, UINT64_MAX, 0,
     EMU_FAULT_OUT_OF_BOUNDS, 1},
    {"one byte before, a generic store", "st.generic.u8 %s, v4", ODD_BUFFER, UINT64_MAX, 0,
     EMU_FAULT_OUT_OF_BOUNDS, 1},
    {"straddling the end", "ld.global.b32 v4, %s", ODD_BUFFER, 4096, 0, EMU_FAULT_OUT_OF_BOUNDS,
     4},
    {"straddling the end, an atomic", "atom.global.add.u32 v4, %s, v5", ODD_BUFFER, 4096, 0,
     EMU_FAULT_OUT_OF_BOUNDS, 4},
    {"straddling the end, a reduction", "red.generic.add.u64 %s, v4:5", ODD_BUFFER, 4096, 0,
     EMU_FAULT_OUT_OF_BOUNDS, 8},
    {"part of a 16-byte load", "ld.global.v4.b32 v4:7, %s", ODD_BUFFER, 4096, 16,
     EMU_FAULT_OUT_OF_BOUNDS, 16},
    {"part of a 16-byte store", "st.generic.v2.b64 %s, v4:7", ODD_BUFFER, 4096, 16,
     EMU_FAULT_OUT_OF_BOUNDS, 16},
    {"misaligned", "ld.global.b32 v4, %s", ODD_BUFFER, 2, 0, EMU_FAULT_MISALIGNED, 4},
    {"misaligned for its whole size", "ld.global.v4.b32 v4:7, %s", ODD_BUFFER, 8, 16,
     EMU_FAULT_MISALIGNED, 16},
    {"the last bytes of the address space", "ld.global.b32 v4, %s", NOWHERE, UINT64_MAX - 3,
     ISA_GLOBAL_BASE, EMU_FAULT_OUT_OF_BOUNDS, 4},
    {"wrapping at 2^64", "ld.generic.v4.b32 v4:7, %s", NOWHERE, UINT64_MAX - 15,
     ISA_GLOBAL_BASE, EMU_FAULT_OUT_OF_BOUNDS, 16},
    {"null", "st.global.b32 %s, v4", NOWHERE, 0, ISA_GLOBAL_BASE, EMU_FAULT_NULL_PAGE, 4},
    {"freed", "ld.global.b32 v4, %s", FREED_BUFFER, 60, 0, EMU_FAULT_FREED, 4},
    {"freed, a generic store", "st.generic.u16 %s, v4", FREED_BUFFER, 0, 0, EMU_FAULT_FREED, 2},
    {"read-only", "st.global.b32 %s, v4", CONST_BUFFER, 8, 0, EMU_FAULT_READ_ONLY, 4},
    {"read-only, an atomic", "red.global.add.u32 %s, v4", CONST_BUFFER, 8, 0,
     EMU_FAULT_READ_ONLY, 4},
    /* shared: 205 bytes */
    {"past shared memory", "ld.shared.u8 v4, %s", NOWHERE, 205, 204, EMU_FAULT_OUT_OF_BOUNDS, 1},
    {"straddling its end", "st.shared.b32 %s, v4", NOWHERE, 204, 200, EMU_FAULT_OUT_OF_BOUNDS,
     4},
    {"before shared memory", "ld.shared.u8 v4, %s", NOWHERE, UINT64_MAX, 0,
     EMU_FAULT_OUT_OF_BOUNDS, 1},
    {"all 64 bits of a shared address count", "ld.shared.b32 v4, %s", NOWHERE,
     UINT64_C(1) << 32, 0, EMU_FAULT_OUT_OF_BOUNDS, 4},
    {"past shared memory, generic", "st.generic.u8 %s, v4", NOWHERE, ISA_SHARED_BASE + 205,
     ISA_SHARED_BASE, EMU_FAULT_OUT_OF_BOUNDS, 1},
    {"where another block's shared memory might be", "ld.generic.b32 v4, %s", NOWHERE,
     ISA_SHARED_BASE + 208, ISA_SHARED_BASE, EMU_FAULT_OUT_OF_BOUNDS, 4},
    {"part of a 16-byte access in shared memory", "ld.shared.v4.b32 v4:7, %s", NOWHERE, 192,
     176, EMU_FAULT_OUT_OF_BOUNDS, 16},
    {"past shared memory, an atomic", "atom.shared.exch.b32 v4, %s, v5", NOWHERE, 204, 0,
     EMU_FAULT_OUT_OF_BOUNDS, 4},
    /* local: 77 bytes */
    {"past local memory", "ld.local.u8 v4, %s", NOWHERE, 77, 76, EMU_FAULT_OUT_OF_BOUNDS, 1},
    {"past its end, a store", "st.local.b32 %s, v4", NOWHERE, 76, 72, EMU_FAULT_OUT_OF_BOUNDS, 4},
    {"past local memory, generic", "ld.generic.u16 v4, %s", NOWHERE, ISA_LOCAL_BASE + 76,
     ISA_LOCAL_BASE, EMU_FAULT_OUT_OF_BOUNDS, 2},
    {"before local memory, generic", "st.generic.u8 %s, v4", NOWHERE, ISA_LOCAL_BASE - 1,
     ISA_LOCAL_BASE, EMU_FAULT_OUT_OF_BOUNDS, 1},
    /* constant banks; the parameters are 20 bytes */
    {"past the parameters, generic", "ld.generic.b64 v4:5, %s", NOWHERE, ISA_CONST_BASE + 24,
     ISA_CONST_BASE, EMU_FAULT_OUT_OF_BOUNDS, 8},
    {"a store to them", "st.generic.b32 %s, v4", NOWHERE, ISA_CONST_BASE + 4, ISA_GLOBAL_BASE,
     EMU_FAULT_READ_ONLY, 4},
    /* addresses that are in no space */
    {"code", "ld.generic.b32 v4, %s", NOWHERE, ISA_CODE_BASE, ISA_GLOBAL_BASE,
     EMU_FAULT_OUT_OF_BOUNDS, 4},
    {"a debugger's address range", "ld.generic.b32 v4, %s", NOWHERE, UINT64_C(0xF100000000000000),
     ISA_GLOBAL_BASE, EMU_FAULT_OUT_OF_BOUNDS, 4},
};

static void block_vector(unsigned width, bool watched, unsigned level)
{
    for (size_t i = 0; i < LW_COUNT_OF(accesses); i++) {
        const struct bad_access *c = &accesses[i];
        const struct emu_fault *fault;
        struct probe p = {0};
        uint64_t bad;
        run_probe(&p, c, width, watched, level, &bad);
        fault = &p.stop.fault;
        if (p.stop.kind != EMU_STOP_FAULT || fault->kind != c->kind ||
            fault->lanes != UINT64_C(1) << LANE || fault->address != bad ||
            fault->bytes != c->bytes || fault->block != 1 || fault->warp != 0)
            fail_msg("%s: stop %d, %s, lanes 0x%llx, address 0x%llx for 0x%llx, %u bytes, "
                     "block %llu (%s)",
                     c->what, p.stop.kind, emu_fault_name(fault->kind),
                     (unsigned long long)fault->lanes, (unsigned long long)fault->address,
                     (unsigned long long)bad, fault->bytes, (unsigned long long)fault->block,
                     fault->detail);
        const struct isa_insn *insn = emu_program_insn(
            emu_machine_program_at(p.machine, fault->pc), fault->pc);
        assert_true(isa_op_info((enum isa_op)insn->op)->flags & ISA_F_MEMORY);
        close_probe(&p);
    }
}

static void every_bad_access_stops_with_its_address_and_lanes(void **state)
{
    (void)state;
    block_vector(32, false, 0);
    block_vector(32, false, 1);
    block_vector(8, false, 0);
    block_vector(64, false, 0);
}

static void the_watched_path_finds_the_same_faults(void **state)
{
    (void)state;
    block_vector(32, true, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bad_access_stops_with_its_address_and_lanes),
        cmocka_unit_test(the_watched_path_finds_the_same_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
