/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests random structured programs over a few variables, with nested ifs, loops, breaks, continues, early returns, CTA barriers,
 * spin locks, calls and recursion. This file executes each program thread by thread, and the machine executes its PTX
 * with several warp widths and every policy. The contents of memory must be equal. A failure prints the seed and the program.
 * LW_SEED and LW_RANDOM_COUNT select other programs.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "emu/emu.h"
#include "ptx/ptx.h"

enum { VARS = 6, WIDES = 3, UNIFORMS = 5, THREADS = 100, MAX_NODES = 4000, LOCALS = 8,
       MAX_FUNCTIONS = 12 };

enum kind {
    ASSIGN, ARITH64, COPY, WIDE, RED, SWAP, IF, LOOP, BREAK, CONTINUE, RETURN,
    SYNC,  /* a CTA barrier; if k & 1, a divergent if with a CTA barrier in each side */
    LOCK,  /* a spin lock around a plain increment */
    CALL,  /* a call of function `then`, or a call through a pointer, by which some threads call function `other` */
    ROUNDS_MORE, /* a recursive call, up to a limited depth */
    UNIFORM /* a warp-wide operation on variables that differ between threads only where flow has diverged */
};
struct node {
    enum kind kind;
    unsigned op, a, b, d, counter;
    uint32_t k;
    int then, other, next; /* indices of nodes, or -1 if there is none */
};
struct program {
    struct node node[MAX_NODES];
    int count, first;
    unsigned counters, labels;
    bool barriers, locks, calls, by_struct; /* by_struct: functions return their results in one structure */
    int body[MAX_FUNCTIONS];
    int functions, inside; /* inside: index of the function that is being generated, or -1 while the kernel is being generated */
    uint64_t seed;
    unsigned deep;    /* number of deep nests that are still to be generated */
    unsigned uniform; /* 0 if control flow may diverge anywhere; otherwise it diverges in few places or in none */
    struct lw_buffer text;
};

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
static unsigned pick(struct program *p, unsigned n)
{
    return (unsigned)(next_random(&p->seed) % n);
}

/* ---- generation --------------------------------------------------------------- */

static int make_list(struct program *p, unsigned depth, unsigned loops, bool top);

/* Generates a call of one function, or a call through a pointer to one of two functions, and these functions. */
static void make_call(struct program *p, struct node *n, unsigned depth)
{
    bool two = pick(p, 3) == 0;
    int f = p->functions++, g = two ? p->functions++ : -1, outer = p->inside;

    n->kind = CALL;
    n->then = f;
    n->other = g;
    for (int i = 0; i < 1 + two; i++) {
        p->inside = i == 0 ? f : g;
        p->body[p->inside] = make_list(p, depth - 1, 0, false);
    }
    p->inside = outer;
}

static int make_node(struct program *p, unsigned depth, unsigned loops, bool top)
{
    int at = p->count++;
    struct node *n = &p->node[at];
    unsigned x = pick(p, 100);

    *n = (struct node){ .op = pick(p, 6), .a = pick(p, VARS), .b = pick(p, VARS),
                        .d = pick(p, VARS), .k = (uint32_t)next_random(&p->seed),
                        .then = -1, .other = -1, .next = -1 };
    if (p->uniform != 0 && pick(p, p->uniform == 1 ? 8 : 60) != 0)
        n->op = 5 + pick(p, 2);
    if (depth != 0 && x < 35 && p->count < MAX_NODES / 2) {
        bool has_else = pick(p, 2);

        n->kind = IF;
        n->then = make_list(p, depth - 1, loops, false);
        if (has_else)
            p->node[at].other = make_list(p, depth - 1, loops, false);
    } else if (depth != 0 && x < 55 && p->count < MAX_NODES / 2 && p->counters < 40) {
        n->kind = LOOP;
        n->counter = p->counters++;
        n->then = make_list(p, depth - 1, loops + 1, false);
    } else if (loops != 0 && x < 63) {
        n->kind = BREAK;
    } else if (loops != 0 && x < 69) {
        n->kind = CONTINUE;
    } else if (x < 72 && !top) {
        n->kind = RETURN;
    } else if (p->calls && depth != 0 && x < 78 && p->functions + 2 <= MAX_FUNCTIONS &&
               p->count < MAX_NODES / 2) {
        make_call(p, n, depth);
    } else if (p->inside >= 0 && loops == 0 && x < 80) {
        n->kind = ROUNDS_MORE;
        n->then = p->inside;
    } else if (x < 76) {
        n->kind = RED;
    } else if (x < 80) {
        n->kind = ARITH64;
    } else if (x < 83) {
        n->kind = SWAP;
    } else if (x < 87) {
        n->kind = COPY;
    } else if (x < 90) {
        n->kind = WIDE;
    } else if (p->uniform != 0 && x < 98) {
        n->kind = UNIFORM;
        n->op = pick(p, 10);
    } else if (top && p->barriers && x < 94) {
        n->kind = SYNC;
    } else if (p->locks && x < 96) {
        n->kind = LOCK;
    } else {
        n->kind = ASSIGN;
    }
    return at;
}

static int make_deep(struct program *p, unsigned levels, unsigned depth, unsigned loops);

static int make_list(struct program *p, unsigned depth, unsigned loops, bool top)
{
    if (p->deep != 0 && pick(p, top ? 1 : 9) == 0 && p->count < MAX_NODES / 2) {
        unsigned levels = 8 + pick(p, 16);

        p->deep--;
        return make_deep(p, levels, depth, loops);
    }
    unsigned count = 1 + pick(p, top ? 6 : 4);
    int first = -1, last = -1;

    for (unsigned i = 0; i < count && p->count < MAX_NODES - 8; i++) {
        int n = make_node(p, depth, loops, top);

        if (first < 0)
            first = n;
        else
            p->node[last].next = n;
        last = n;
    }
    return first;
}

/* Generates more nested ifs and loops than there are barrier registers. Some threads reach the innermost one. */
static int make_deep(struct program *p, unsigned levels, unsigned depth, unsigned loops)
{
    int before = -1, at, behind = -1, body;
    bool round = pick(p, 6) == 0 && loops < 2 && p->counters < 40;

    if (levels == 0 || p->count > MAX_NODES * 3 / 4) {
        at = make_list(p, depth, loops, false);
        if (p->calls && p->functions + 2 <= MAX_FUNCTIONS)
            make_call(p, &p->node[at], depth < 2 ? 2 : depth);
        return at;
    }
    if (pick(p, 3) == 0)
        before = make_node(p, 0, loops, false);
    at = p->count++;
    p->node[at] = (struct node){ .kind = round ? LOOP : IF, .op = pick(p, 5), .a = pick(p, VARS),
                                 .b = pick(p, VARS), .d = pick(p, VARS), .k = (uint32_t)next_random(&p->seed),
                                 .then = -1, .other = -1, .next = -1 };
    if (round) {
        p->node[at].counter = p->counters++;
    } else if (pick(p, 8) != 0) {
        p->node[at].op = 4;
        p->node[at].k %= 4 * (30 - levels);
    }
    body = make_deep(p, levels - 1, depth, loops + round);
    p->node[at].then = body;
    if (!round && pick(p, 4) == 0) {
        body = make_node(p, depth < 2 ? depth : 2, loops, false);
        p->node[at].other = body;
    }
    if (pick(p, 3) == 0)
        behind = make_node(p, 0, loops, false);
    p->node[at].next = behind;
    if (before >= 0)
        p->node[before].next = at;
    return before >= 0 ? before : at;
}

/* ---- direct execution ----------------------------------------------------------- */

enum flow { GO, BROKEN, CONTINUED, RETURNED };
struct thread {
    uint32_t v[VARS], u[UNIFORMS], tid;
    uint64_t w[WIDES];
    uint32_t *sum; /* results of reductions, which all threads share */
    unsigned steps, depth; /* depth: remaining number of recursive calls */
};

static bool condition(const struct node *n, const struct thread *t)
{
    uint32_t x = t->v[n->a] ^ n->k;

    switch (n->op) {
    case 0: return (x & 3) != 0;
    case 1: return (x & 7) == 0;
    case 2: return (int32_t)t->v[n->a] < (int32_t)t->v[n->b];
    case 3: return (t->tid & n->k & 31) != 0;
    case 4: return t->tid >= (n->k & 127);
    case 6: return (int32_t)t->u[n->a % UNIFORMS] < (int32_t)n->k;
    default: return (n->k & 1) != 0; /* the condition is the same in all threads */
    }
}

static unsigned trips(const struct node *n, const struct thread *t)
{
    return n->op < 2 || n->op == 5 ? n->k % 5
           : n->op == 6            ? (t->u[n->a % UNIFORMS] & 3)
           : n->op < 4             ? (t->v[n->a] ^ n->k) % 5 : (t->tid + n->k) % 6;
}

static enum flow run_list(const struct program *p, int at, struct thread *t);

/* Executes a function, which computes with copies of all variables and returns all of them. */
static void run_function(const struct program *p, int function, unsigned depth, struct thread *t)
{
    struct thread inner = *t;

    inner.depth = depth;
    (void)run_list(p, p->body[function], &inner);
    depth = t->depth;
    *t = inner;
    t->depth = depth;
}

static enum flow run_list(const struct program *p, int at, struct thread *t)
{
    for (; at >= 0; at = p->node[at].next) {
        const struct node *n = &p->node[at];
        uint32_t a = t->v[n->a], b = t->v[n->b];
        enum flow flow = GO;

        if (++t->steps > 200000)
            return RETURNED;
        switch (n->kind) {
        case ASSIGN:
            t->v[n->d] = n->op == 0   ? a + b
                         : n->op == 1 ? a * (n->k | 1)
                         : n->op == 2 ? a ^ b ^ n->k
                         : n->op == 3 ? (a << 7 | a >> 25) + b
                         : n->op == 4 ? (a < b ? a : b)
                                      : a - n->k;
            break;
        case ARITH64: {
            uint64_t w = ((uint64_t)b << 32 | a) * 3 + (int64_t)(int32_t)n->k;

            t->v[n->d] = (uint32_t)(w >> (n->k % 40));
            break;
        }
        case COPY:
            t->v[n->d] = a;
            t->w[n->d % WIDES] = t->w[n->b % WIDES];
            break;
        case WIDE: {
            uint64_t *w = &t->w[n->d % WIDES];

            *w = n->op < 3 ? *w + (uint64_t)(int64_t)(int32_t)n->k : *w * 5 + a;
            t->v[n->b] ^= (uint32_t)(*w >> 32);
            break;
        }
        case UNIFORM: {
            uint32_t *d = &t->u[n->d % UNIFORMS], ua = t->u[n->a % UNIFORMS];
            uint32_t ub = t->u[n->b % UNIFORMS];

            switch (n->op) {
            case 0: *d = ua + ub; break;
            case 1: *d = ua * ub + n->k; break;
            case 2: *d = ua >> (n->k & 31); break;
            case 3: *d = (ua & n->k) ^ ub; break;
            case 4: *d = ua < ub ? ua : n->k; break;
            case 5: *d = (uint32_t)(((uint64_t)ua * ub + n->k) >> 7); break;
            case 6: t->v[n->d] += ua - ub; break;
            case 7: t->v[n->d] -= ua; break;
            case 8: t->v[n->d] = t->v[n->a] < ua ? ub : t->v[n->b]; break;
            default: *d = (uint32_t)((((uint64_t)ub << 32) + (int64_t)(int32_t)ua * 4) >> 5); break;
            }
            break;
        }
        case SWAP:
            t->v[n->a] = b;
            t->v[n->b] = a;
            break;
        case RED:
            t->sum[n->k & 7] += a;
            break;
        case CALL:
            run_function(p, n->other >= 0 && condition(n, t) ? n->other : n->then, n->k % 3, t);
            break;
        case ROUNDS_MORE:
            if (t->depth != 0)
                run_function(p, n->then, t->depth - 1, t);
            break;
        case SYNC:
            break;
        case LOCK:
            t->sum[10 + (n->k & 1)] += b;
            break;
        case IF:
            flow = run_list(p, condition(n, t) ? n->then : n->other, t);
            break;
        case LOOP: {
            unsigned count = trips(n, t);

            for (unsigned i = 0; i < count; i++) {
                t->v[n->d] += i;
                flow = run_list(p, n->then, t);
                if (flow == BROKEN || flow == RETURNED)
                    break;
            }
            if (flow != RETURNED)
                flow = GO;
            break;
        }
        case BREAK:
            if (condition(n, t))
                return BROKEN;
            break;
        case CONTINUE:
            if (condition(n, t))
                return CONTINUED;
            break;
        case RETURN:
            if (condition(n, t))
                return RETURNED;
            break;
        }
        if (flow != GO)
            return flow;
    }
    return GO;
}

/* ---- text ------------------------------------------------------------------------ */

struct predicate {
    char name[16];
};

/* Returns the predicate of a condition. Each uniform condition has its own predicate, because other conditions would overwrite a
 * common one. */
static struct predicate predicate(const struct program *p, const struct node *n, bool uniform)
{
    struct predicate q = { "p0" };

    if (uniform)
        snprintf(q.name, sizeof q.name, "q%d", (int)(n - p->node) + 2);
    return q;
}

static void put_condition(struct program *p, const struct node *n)
{
    struct lw_sink *s = &p->text.sink;
    struct predicate q = predicate(p, n, n->op >= 5);

    switch (n->op) {
    case 0:
        lw_printf(s, "xor.b32 %%t0,%%v%u,%u;\nand.b32 %%t0,%%t0,3;\nsetp.ne.u32 %%p0,%%t0,0;\n",
                  n->a, n->k);
        break;
    case 1:
        lw_printf(s, "xor.b32 %%t0,%%v%u,%u;\nand.b32 %%t0,%%t0,7;\nsetp.eq.u32 %%p0,%%t0,0;\n",
                  n->a, n->k);
        break;
    case 2:
        lw_printf(s, "setp.lt.s32 %%p0,%%v%u,%%v%u;\n", n->a, n->b);
        break;
    case 3:
        lw_printf(s, "and.b32 %%t0,%%tid0,%u;\nsetp.ne.u32 %%p0,%%t0,0;\n", n->k & 31);
        break;
    case 4:
        lw_printf(s, "setp.ge.u32 %%p0,%%tid0,%u;\n", n->k & 127);
        break;
    case 6:
        lw_printf(s, "setp.lt.s32 %%%s,%%u%u,%d;\n", q.name, n->a % UNIFORMS, (int)(int32_t)n->k);
        break;
    default:
        lw_printf(s, "and.b32 %%y0,%%uni,%u;\nsetp.ne.u32 %%%s,%%y0,0;\n", n->k & 1,
                  q.name);
        break;
    }
}


static void put_uniform(struct program *p, const struct node *n, unsigned l)
{
    struct lw_sink *s = &p->text.sink;
    unsigned a = n->a % UNIFORMS, b = n->b % UNIFORMS, d = n->d % UNIFORMS;

    switch (n->op) {
    case 0: lw_printf(s, "add.s32 %%u%u,%%u%u,%%u%u;\n", d, a, b); break;
    case 1: lw_printf(s, "mad.lo.s32 %%u%u,%%u%u,%%u%u,%u;\n", d, a, b, n->k); break;
    case 2: lw_printf(s, "shr.u32 %%u%u,%%u%u,%u;\n", d, a, n->k & 31); break;
    case 3:
        lw_printf(s, "and.b32 %%y0,%%u%u,%u;\nxor.b32 %%u%u,%%y0,%%u%u;\n", a, n->k, d, b);
        break;
    case 4:
        lw_printf(s, "setp.lt.u32 %%q1,%%u%u,%%u%u;\nselp.b32 %%u%u,%%u%u,%u,%%q1;\n", a, b, d, a,
                  n->k);
        break;
    case 5:
        lw_printf(s, "mul.wide.u32 %%z0,%%u%u,%%u%u;\nadd.s64 %%z1,%%z0,%u;\nshr.u64 %%z2,%%z1,7;\n"
                     "cvt.u32.u64 %%u%u,%%z2;\n",
                  a, b, n->k, d);
        break;
    case 6:
        lw_printf(s, "sub.u32 %%y0,%%u%u,%%u%u;\nadd.u32 %%v%u,%%v%u,%%y0;\n", a, b, n->d, n->d);
        break;
    case 7: lw_printf(s, "sub.u32 %%v%u,%%v%u,%%u%u;\n", n->d, n->d, a); break;
    case 8:
        lw_printf(s, "setp.lt.u32 %%p0,%%v%u,%%u%u;\nselp.b32 %%v%u,%%u%u,%%v%u,%%p0;\n", n->a, a,
                  n->d, b, n->b);
        break;
    default:
        lw_printf(s, "mov.b64 %%z0,{0,%%u%u};\nmul.wide.s32 %%z1,%%u%u,4;\n"
                     "add.s64 %%z2,%%z0,%%z1;\nshr.u64 %%z0,%%z2,5;\ncvt.u32.u64 %%u%u,%%z0;\n",
                  b, a, d);
        break;
    }
    (void)l;
}

/* Writes a call. All variables are parameters and results, so a function has the same variables as the kernel. */
static void put_call(struct program *p, const struct node *n, unsigned l)
{
    struct lw_sink *s = &p->text.sink;
    bool again = n->kind == ROUNDS_MORE;

    if (again)
        lw_printf(s, "setp.eq.u32 %%p0,%%depth,0;\n@%%p0 bra L%u;\nsub.u32 %%t0,%%depth,1;\n", l);
    else if (n->other >= 0)
        put_condition(p, n);
    if (!again)
        lw_printf(s, "mov.u32 %%t0,%u;\n", n->k % 3);
    if (!again && n->other >= 0)
        lw_printf(s, "mov.u64 %%w0,F%d;\nmov.u64 %%w1,F%d;\nselp.b64 %%w2,%%w1,%%w0,%%%s;\n",
                  n->then, n->other, predicate(p, n, n->op >= 5).name);
    lw_put(s, "{ .param .b32 d; st.param.b32 [d],%t0; .param .b32 one; st.param.b32 [one],%uni;\n"
              ".param .b64 sum; st.param.b64 [sum],%sum;\n");
    for (unsigned v = 0; v < VARS; v++)
        lw_printf(s, ".param .b32 v%u; st.param.b32 [v%u+0],%%v%u;\n", v, v, v);
    for (unsigned w = 0; w < WIDES; w++)
        lw_printf(s, ".param .b64 x%u; st.param.b64 [x%u],%%x%u;\n", w, w, w);
    lw_printf(s, ".param .align 4 .b8 u[%u];\n", 4 * UNIFORMS);
    for (unsigned u = 0; u < UNIFORMS; u++)
        lw_printf(s, "st.param.b32 [u+%u],%%u%u;\n", 4 * u, u);
    if (p->by_struct)
        lw_printf(s, ".param .align 8 .b8 r[%u];\n", 4 * (VARS + 2 * WIDES + UNIFORMS));
    for (unsigned i = 0; i < VARS + WIDES + UNIFORMS && !p->by_struct; i++)
        lw_printf(s, ".param .b%u r%u;\n", i >= VARS && i < VARS + WIDES ? 64 : 32, i);
    if (n->other >= 0 && !again) {
        lw_put(s, "proto: .callprototype (");
        for (unsigned i = 0; i < VARS + WIDES + UNIFORMS && !p->by_struct; i++)
            lw_printf(s, "%s.param .b%u _", i == 0 ? "" : ",",
                      i >= VARS && i < VARS + WIDES ? 64 : 32);
        lw_put(s, ") _ (.param .b32 _);\n");
    }
    lw_put(s, "call (");
    if (p->by_struct)
        lw_put(s, "r");
    for (unsigned i = 0; i < VARS + WIDES + UNIFORMS && !p->by_struct; i++)
        lw_printf(s, "%sr%u", i == 0 ? "" : ",", i);
    if (n->other >= 0 && !again)
        lw_put(s, "), %w2, (");
    else
        lw_printf(s, "), F%d, (", n->then);
    lw_put(s, "d,one,sum,");
    for (unsigned v = 0; v < VARS; v++)
        lw_printf(s, "v%u,", v);
    for (unsigned w = 0; w < WIDES; w++)
        lw_printf(s, "x%u,", w);
    lw_printf(s, "u)%s;\n", n->other >= 0 && !again ? ", proto" : "");
    for (unsigned i = 0; i < VARS + WIDES + UNIFORMS; i++) {
        bool wide = i >= VARS && i < VARS + WIDES;
        unsigned at = 4 * (i < VARS ? i : wide ? VARS + 2 * (i - VARS) : i + WIDES);
        char from[24];

        if (p->by_struct)
            snprintf(from, sizeof from, "r+%u", at);
        else
            snprintf(from, sizeof from, "r%u", i);
        lw_printf(s, "ld.param.b%u %%%s%u,[%s];\n", wide ? 64 : 32, i < VARS ? "v" : wide ? "x" : "u",
                  i < VARS ? i : wide ? i - VARS : i - VARS - WIDES, from);
    }
    lw_put(s, "}\n");
    if (again)
        lw_printf(s, "L%u:\n", l);
}

/* Writes the PTX of a list of nodes. Returns branch to a single return block, as in code of compilers. */
static void put_list(struct program *p, int at, unsigned out, unsigned latch)
{
    struct lw_sink *s = &p->text.sink;

    for (; at >= 0; at = p->node[at].next) {
        const struct node *n = &p->node[at];
        unsigned l = p->labels += 4;

        switch (n->kind) {
        case ASSIGN:
            switch (n->op) {
            case 0: lw_printf(s, "add.s32 %%v%u,%%v%u,%%v%u;\n", n->d, n->a, n->b); break;
            case 1: lw_printf(s, "mul.lo.s32 %%v%u,%%v%u,%u;\n", n->d, n->a, n->k | 1); break;
            case 2:
                lw_printf(s, "lop3.b32 %%v%u,%%v%u,%%v%u,%u,0x96;\n", n->d, n->a, n->b, n->k);
                break;
            case 3:
                lw_printf(s, "shf.l.wrap.b32 %%t0,%%v%u,%%v%u,7;\nadd.u32 %%v%u,%%t0,%%v%u;\n",
                          n->a, n->a, n->d, n->b);
                break;
            case 4: lw_printf(s, "min.u32 %%v%u,%%v%u,%%v%u;\n", n->d, n->a, n->b); break;
            default: lw_printf(s, "sub.u32 %%v%u,%%v%u,%u;\n", n->d, n->a, n->k); break;
            }
            break;
        case ARITH64:
            lw_printf(s, "mov.b64 %%w0,{%%v%u,%%v%u};\nmad.lo.s64 %%w1,%%w0,3,%d;\n"
                         "shr.u64 %%w2,%%w1,%u;\ncvt.u32.u64 %%v%u,%%w2;\n",
                      n->a, n->b, (int)(int32_t)n->k, n->k % 40, n->d);
            break;
        case COPY:
            lw_printf(s, "mov.u32 %%v%u,%%v%u;\nmov.u64 %%x%u,%%x%u;\n", n->d, n->a,
                      n->d % WIDES, n->b % WIDES);
            break;
        case WIDE:
            if (n->op < 3)
                lw_printf(s, "add.s64 %%x%u,%%x%u,%d;\n", n->d % WIDES, n->d % WIDES,
                          (int)(int32_t)n->k);
            else
                lw_printf(s, "cvt.u64.u32 %%w0,%%v%u;\nmad.lo.u64 %%x%u,%%x%u,5,%%w0;\n", n->a,
                          n->d % WIDES, n->d % WIDES);
            lw_printf(s, "shr.u64 %%w1,%%x%u,32;\ncvt.u32.u64 %%t0,%%w1;\n"
                         "xor.b32 %%v%u,%%v%u,%%t0;\n",
                      n->d % WIDES, n->b, n->b);
            break;
        case UNIFORM:
            put_uniform(p, n, l);
            break;
        case SWAP:
            lw_printf(s, "mov.u32 %%t1,%%v%u;\nmov.u32 %%v%u,%%v%u;\nmov.u32 %%v%u,%%t1;\n", n->a,
                      n->a, n->b, n->b);
            break;
        case RED:
            lw_printf(s, "atom.global.add.u32 %%t2,[%%sum+%u],%%v%u;\n", (n->k & 7) * 4, n->a);
            break;
        case CALL:
        case ROUNDS_MORE:
            put_call(p, n, l);
            break;
        case SYNC:
            if (n->k & 1) {
                put_condition(p, n);
                lw_printf(s, "@%%%s bra L%u;\nbar.sync 0;\nbra L%u;\nL%u:\nbar.sync 0;\nL%u:\n",
                          predicate(p, n, n->op >= 5).name, l, l + 1, l, l + 1);
            } else {
                lw_put(s, "bar.sync 0;\n");
            }
            break;
        case LOCK:
            lw_printf(s, "L%u:\natom.global.cas.b32 %%t0,[%%sum+%u],0,1;\n"
                         "setp.ne.u32 %%p0,%%t0,0;\n@%%p0 bra L%u;\n"
                         "ld.volatile.global.u32 %%t1,[%%sum+%u];\nadd.u32 %%t1,%%t1,%%v%u;\n"
                         "st.volatile.global.u32 [%%sum+%u],%%t1;\nmembar.gl;\n"
                         "atom.global.exch.b32 %%t0,[%%sum+%u],0;\n",
                      l, 32 + (n->k & 1) * 4, l, 40 + (n->k & 1) * 4, n->b,
                      40 + (n->k & 1) * 4, 32 + (n->k & 1) * 4);
            break;
        case IF:
            put_condition(p, n);
            lw_printf(s, "@!%%%s bra L%u;\n", predicate(p, n, n->op >= 5).name, l);
            put_list(p, n->then, out, latch);
            if (n->other >= 0)
                lw_printf(s, "bra.uni L%u;\n", l + 1);
            lw_printf(s, "L%u:\n", l);
            if (n->other >= 0) {
                put_list(p, n->other, out, latch);
                lw_printf(s, "L%u:\n", l + 1);
            }
            break;
        case LOOP: {
            unsigned c = n->counter;
            struct predicate own = predicate(p, n, n->op < 2 || n->op >= 5);
            const char *q = own.name;

            if (n->op == 6)
                lw_printf(s, "and.b32 %%n%u,%%u%u,3;\n", c, n->a % UNIFORMS);
            else if (n->op < 2 || n->op == 5)
                lw_printf(s, "mov.u32 %%n%u,%u;\n", c, n->k % 5);
            else if (n->op < 4)
                lw_printf(s, "xor.b32 %%t0,%%v%u,%u;\nrem.u32 %%n%u,%%t0,5;\n", n->a, n->k, c);
            else
                lw_printf(s, "add.u32 %%t0,%%tid0,%u;\nrem.u32 %%n%u,%%t0,6;\n", n->k, c);
            lw_printf(s, "mov.u32 %%i%u,0;\n", c);
            if (n->b & 1) { /* the loop tests its condition at its end, as rotated loops do */
                lw_printf(s, "setp.eq.u32 %%%s,%%n%u,0;\n@%%%s bra L%u;\n", q, c, q, l + 1);
                lw_printf(s, "L%u:\nadd.u32 %%v%u,%%v%u,%%i%u;\n", l, n->d, n->d, c);
                put_list(p, n->then, l + 1, l + 2);
                lw_printf(s, "L%u:\nadd.u32 %%i%u,%%i%u,1;\nsetp.lt.u32 %%%s,%%i%u,%%n%u;\n"
                             "@%%%s bra L%u;\nL%u:\n",
                          l + 2, c, c, q, c, c, q, l, l + 1);
            } else {
                lw_printf(s, "L%u:\nsetp.ge.u32 %%%s,%%i%u,%%n%u;\n@%%%s bra L%u;\n", l, q, c, c,
                          q, l + 1);
                lw_printf(s, "add.u32 %%v%u,%%v%u,%%i%u;\n", n->d, n->d, c);
                put_list(p, n->then, l + 1, l + 2);
                lw_printf(s, "L%u:\nadd.u32 %%i%u,%%i%u,1;\nbra.uni L%u;\nL%u:\n", l + 2, c, c, l,
                          l + 1);
            }
            break;
        }
        case BREAK:
        case CONTINUE:
            put_condition(p, n);
            lw_printf(s, "@%%%s bra L%u;\n", predicate(p, n, n->op >= 5).name, n->kind == BREAK ? out : latch);
            break;
        case RETURN:
            put_condition(p, n);
            lw_printf(s, "@%%%s bra END;\n", predicate(p, n, n->op >= 5).name);
            break;
        }
    }
}

#define REGISTERS                                                                            \
    ".reg .b32 %v<6>, %t<4>, %n<41>, %i<41>, %u<5>, %y<2>, %tid0, %uni, %depth;\n"           \
    ".reg .b64 %w<3>, %x<3>, %z<3>, %sum, %row;\n.reg .pred %p<2>, %q<4002>;\n"

static void put_head(struct program *p, int function)
{
    struct lw_sink *s = &p->text.sink;

    lw_put(s, ".func (");
    if (p->by_struct)
        lw_printf(s, ".param .align 8 .b8 r[%u]", 4 * (VARS + 2 * WIDES + UNIFORMS));
    for (unsigned i = 0; i < VARS + WIDES + UNIFORMS && !p->by_struct; i++)
        lw_printf(s, "%s.param .b%u r%u", i == 0 ? "" : ",",
                  i >= VARS && i < VARS + WIDES ? 64 : 32, i);
    lw_printf(s, ") F%d(.param .b32 d,.param .b32 one,.param .b64 sum", function);
    for (unsigned v = 0; v < VARS; v++)
        lw_printf(s, ",.param .b32 v%u", v);
    for (unsigned w = 0; w < WIDES; w++)
        lw_printf(s, ",.param .b64 x%u", w);
    lw_printf(s, ",.param .align 4 .b8 u[%u])", 4 * UNIFORMS);
}

static void put_function(struct program *p, int function)
{
    struct lw_sink *s = &p->text.sink;

    put_head(p, function);
    lw_put(s, " {\n" REGISTERS
              "ld.param.u64 %sum,[sum];\nld.param.u32 %uni,[one];\nld.param.u32 %depth,[d];\n"
              "mov.u32 %t0,%ctaid.x;\nmov.u32 %t1,%ntid.x;\nmov.u32 %t2,%tid.x;\n"
              "mad.lo.s32 %tid0,%t0,%t1,%t2;\n");
    for (unsigned v = 0; v < VARS; v++)
        lw_printf(s, "ld.param.u32 %%v%u,[v%u];\n", v, v);
    for (unsigned w = 0; w < WIDES; w++)
        lw_printf(s, "ld.param.u64 %%x%u,[x%u];\n", w, w);
    for (unsigned u = 0; u < UNIFORMS; u++)
        lw_printf(s, "ld.param.u32 %%u%u,[u+%u];\n", u, 4 * u);
    put_list(p, p->body[function], 0, 0);
    lw_put(s, "END:\n");
    for (unsigned i = 0; i < VARS + WIDES + UNIFORMS; i++) {
        bool wide = i >= VARS && i < VARS + WIDES;
        unsigned at = 4 * (i < VARS ? i : wide ? VARS + 2 * (i - VARS) : i + WIDES);
        char to[24];

        if (p->by_struct)
            snprintf(to, sizeof to, "r+%u", at);
        else
            snprintf(to, sizeof to, "r%u", i);
        lw_printf(s, "st.param.b%u [%s],%%%s%u;\n", wide ? 64 : 32, to,
                  i < VARS ? "v" : wide ? "x" : "u",
                  i < VARS ? i : wide ? i - VARS : i - VARS - WIDES);
    }
    lw_put(s, "ret;\n}\n");
}

static void put_program(struct program *p)
{
    struct lw_sink *s = &p->text.sink;

    lw_put(s, ".version 7.0\n.target sm_75\n.address_size 64\n");
    for (int f = 0; f < p->functions; f++) {
        put_head(p, f);
        lw_put(s, ";\n");
    }
    for (int f = 0; f < p->functions; f++)
        put_function(p, f);
    lw_put(s, ".visible .entry k(.param .u64 out, .param .u32 one)\n{\n"
              REGISTERS
              "ld.param.u64 %sum,[out];\nld.param.u32 %uni,[one];\n"
              "mov.u32 %t0,%ctaid.x;\nmov.u32 %t1,%ntid.x;\nmov.u32 %t2,%tid.x;\n"
              "mad.lo.s32 %tid0,%t0,%t1,%t2;\n");
    for (unsigned v = 0; v < VARS; v++)
        lw_printf(s, "mad.lo.u32 %%v%u,%%tid0,%u,%u;\n", v, 2654435761u * (v + 1), v * 40503u);
    for (unsigned w = 0; w < WIDES; w++)
        lw_printf(s, "mul.wide.u32 %%x%u,%%v%u,%%v%u;\n", w, w, w + 1);
    for (unsigned u = 0; u < UNIFORMS; u++)
        lw_printf(s, "mul.lo.u32 %%u%u,%%uni,%u;\n", u, 7 + u * 40503u);
    put_list(p, p->first, 0, 0);
    for (unsigned u = 0; u < UNIFORMS; u++)
        lw_printf(s, "END%u:\nxor.b32 %%v%u,%%v%u,%%u%u;\n", u, u, u, u);
    lw_put(s, "END:\nmul.wide.u32 %w0,%tid0,32;\nadd.s64 %row,%sum,%w0;\n");
    for (unsigned v = 0; v < VARS; v++)
        lw_printf(s, "st.global.u32 [%%row+%u],%%v%u;\n", 64 + 4 * v, v);
    lw_put(s, "xor.b64 %w1,%x0,%x1;\nxor.b64 %w1,%w1,%x2;\nst.global.u64 [%row+88],%w1;\n"
              "ret;\n}\n");
}

/* ---- comparison --------------------------------------------------------------------- */

static bool run_on(const struct program *p, const struct isa_object *object, unsigned width,
                   const char *reconv, const char *policy, unsigned quantum, uint32_t block, const uint32_t *want,
                   char *why, size_t size)
{
    struct emu_config config;
    struct emu_machine *machine = NULL;
    struct emu_engine *engine = NULL;
    struct emu_program *program = NULL;
    struct emu_stop stop;
    struct lw_error err = { LW_OK, "" };
    uint32_t got[16 + THREADS * 8];
    uint64_t out = 0;
    bool ok = false;

    (void)p;
    emu_config_default(&config);
    config.arena_bytes = 1 << 26;
    config.warp_width = width;
    config.reconv = reconv;
    config.policy = policy;
    config.split_quantum = quantum;
    if (emu_machine_create(&config, &machine, &err) != LW_OK ||
        emu_program_load(machine, object, &program, &err) != LW_OK ||
        emu_alloc(machine, sizeof got, "out", 0, &out, &err) != LW_OK ||
        emu_engine_functional_create(machine, &engine, &err) != LW_OK)
        goto cleanup;
    uint64_t params[2] = { out, 1 };
    struct emu_launch launch = { .program = program, .kernel = emu_program_kernel(program, "k"),
                                 .grid = { THREADS / block, 1, 1 }, .block = { block, 1, 1 },
                                 .work_dim = 1, .params = params };

    if (emu_grid_launch(machine, &launch, NULL, &err) != LW_OK ||
        engine->ops->run(engine, &stop, &err) != LW_OK)
        goto cleanup;
    if (stop.kind != EMU_STOP_IDLE) {
        snprintf(err.text, sizeof err.text, "stopped: %d %.300s", stop.kind, stop.hang.detail);
        goto cleanup;
    }
    if (emu_global_read(machine, out, got, sizeof got, &err) != LW_OK)
        goto cleanup;
    ok = true;
    for (unsigned i = 0; i < 16 + THREADS * 8 && ok; i++) {
        if (got[i] != want[i]) {
            snprintf(err.text, sizeof err.text, "word %u is %u, not %u", i, got[i], want[i]);
            ok = false;
        }
    }
cleanup:
    if (!ok)
        snprintf(why, size, "width %u, %s, quantum %u, block %u: %s", width, policy, quantum,
                 block, err.text);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    return ok;
}

struct hits {
    unsigned saving, saving_around_calls, programs, scalar, branches, rows, calling;
};

/* Counts regions that reuse the barrier register of the surrounding region, and calls between bssy and bsync. */
static void count_saves(const struct isa_object *object, struct hits *hits)
{
    bool any = false, around = false, inside[ISA_BREG_COUNT] = { false };

    for (uint32_t i = 0; i + 1 < object->text_count; i++) {
        struct isa_insn insn, next;

        assert_true(isa_insn_decode(object->text[i], &insn));
        assert_true(isa_insn_decode(object->text[i + 1], &next));
        if (insn.op == ISA_V_MOV_TAKE_B && next.op == ISA_BSSY && next.d == insn.x)
            any = inside[insn.x] = true;
        if (insn.op == ISA_BSYNC)
            inside[insn.d] = false;
        if (isa_op_info((enum isa_op)insn.op)->flags & ISA_F_CALL) {
            for (unsigned b = 0; b < ISA_BREG_COUNT; b++)
                around |= inside[b];
        }
    }
    hits->saving += any;
    hits->saving_around_calls += around;
}

/* Counts the scalar instructions, except those that compute pointers in the prologue. */
static void count_scalar(const struct isa_object *object, struct hits *hits)
{
    bool any = false;

    for (uint32_t i = 0; i < object->text_count; i++) {
        struct isa_insn insn;

        if (!isa_insn_decode(object->text[i], &insn) ||
            !(isa_op_info((enum isa_op)insn.op)->flags & ISA_F_SCALAR) ||
            (insn.op == ISA_S_MOV_B64 && insn.xkind == ISA_X_CONST))
            continue;
        any = true;
        hits->rows++;
        hits->branches += insn.op == ISA_S_BRA;
    }
    hits->programs++;
    hits->scalar += any;
}

static void one_program(uint64_t seed, struct hits *hits)
{
    static const unsigned widths[] = { 4, 8, 16, 32, 64 };
    static const uint32_t blocks[] = { 100, 50, 25, 10 };
    struct program *p = calloc(1, sizeof *p);
    struct isa_object *object = NULL;
    struct ptx_options options;
    struct lw_error err;
    uint32_t want[16 + THREADS * 8] = { 0 };
    char why[700] = "";

    assert_non_null(p);
    p->seed = seed * 1000003 + 1;
    p->barriers = pick(p, 4) == 0;
    p->locks = pick(p, 4) == 0;
    p->uniform = pick(p, 4) % 3; /* 0, 1, 2, 0 */
    p->calls = pick(p, 3) == 0;
    p->by_struct = pick(p, 2);
    p->inside = -1;
    p->deep = seed % 5 == 0 ? 1 + (unsigned)(seed / 5 % 3) : 0;
    p->calls |= p->deep != 0 && pick(p, 2) == 0;
    p->first = make_list(p, 1 + pick(p, 4), 0, true);
    lw_buffer_init(&p->text);
    put_program(p);
    for (uint32_t t = 0; t < THREADS; t++) {
        struct thread th = { .tid = t, .sum = want };

        for (unsigned v = 0; v < VARS; v++)
            th.v[v] = t * (2654435761u * (v + 1)) + v * 40503u;
        for (unsigned w = 0; w < WIDES; w++)
            th.w[w] = (uint64_t)th.v[w] * th.v[w + 1];
        for (unsigned u = 0; u < UNIFORMS; u++)
            th.u[u] = 7 + u * 40503u;
        if (run_list(p, p->first, &th) != RETURNED) {
            for (unsigned u = 0; u < UNIFORMS; u++)
                th.v[u] ^= th.u[u];
        }
        if (th.steps > 200000)
            goto done; /* the program would execute too many steps */
        memcpy(&want[16 + 8 * t], th.v, sizeof th.v);
        for (unsigned w = 0; w < WIDES; w++) {
            want[16 + 8 * t + 6] ^= (uint32_t)th.w[w];
            want[16 + 8 * t + 7] ^= (uint32_t)(th.w[w] >> 32);
        }
    }
    ptx_options_default(&options);
    /* Limits the registers in some cases, so that functions save more barrier registers. */
    options.barrier_registers = seed % 3 == 0 ? 1 + (unsigned)(seed / 3 % 9) : 0;
    options.vector_registers = seed % 4 == 1 ? 16 + (unsigned)(seed / 4 % 8) : 0;
    if (ptx_translate("random.ptx", p->text.text, p->text.size, &options, &object, &err) != LW_OK) {
        snprintf(why, sizeof why, "%s", err.text);
        goto done;
    }
    count_saves(object, hits);
    if (p->functions == 0)
        count_scalar(object, hits);
    else
        hits->calling++;
    if (isa_control_check(object, &err) != LW_OK) {
        snprintf(why, sizeof why, "%s", err.text);
        goto done;
    }
    for (unsigned k = 0; emu_policy_names[k] != NULL && why[0] == '\0'; k++) {
        unsigned x = (unsigned)(seed + k);

        (void)run_on(p, object, widths[x % LW_COUNT_OF(widths)], "cbar", emu_policy_names[k],
                     x % 3 == 0 ? 3 : 0, blocks[x / 5 % LW_COUNT_OF(blocks)], want, why,
                     sizeof why);
    }
    /* With a SIMT stack, lanes that wait for each other may wait forever, so programs with locks or barriers are not run. */
    if (why[0] == '\0' && !p->locks && !p->barriers)
        (void)run_on(p, object, widths[seed % LW_COUNT_OF(widths)], "stack", emu_policy_names[0], 0,
                     blocks[seed % LW_COUNT_OF(blocks)], want, why, sizeof why);
done:
    isa_object_destroy(object);
    if (why[0] != '\0') {
        printf("%s\n", p->text.text);
        fflush(stdout);
        fail_msg("seed %" PRIu64 ": %s", seed, why);
    }
    lw_buffer_fini(&p->text);
    free(p);
}

static void random_programs_compute_what_their_threads_do(void **state)
{
    const char *seed = getenv("LW_SEED"), *count = getenv("LW_RANDOM_COUNT");
    uint64_t first = seed != NULL ? strtoull(seed, NULL, 0) : 1;
    uint64_t n = count != NULL ? strtoull(count, NULL, 0) : 300;

    struct hits hits = { 0 };

    (void)state;
    for (uint64_t i = 0; i < n; i++)
        one_program(first + i, &hits);
    printf("barrier registers are saved in %u programs; %u of these programs contain a call before they are restored\n",
           hits.saving, hits.saving_around_calls);
    if (n >= 100)
        assert_true(hits.saving > n / 12 && hits.saving_around_calls > n / 50);
    printf("scalar code in %u of %u programs: %u instructions, %u branches; %u with calls\n",
           hits.scalar, hits.programs, hits.rows, hits.branches, hits.calling);
    if (n >= 100) { /* checks that many programs use the scalar unit and calls */
        assert_true(hits.scalar * 2 > hits.programs && hits.branches > hits.programs);
        assert_true(hits.calling * 8 > n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_compute_what_their_threads_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
