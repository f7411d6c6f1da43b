/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common part of the tests that call a runtime at random. A run consists of rounds. A round begins without objects, makes
 * random calls from its seed, and releases its objects. Earlier rounds can change it, because the runtime reuses addresses
 * of objects. A child process makes the calls. The parent process reports a call that crashes, that does not return, or that
 * has a wrong result, with the seed of its round.
 *
 *     prop_opencl [-s SEED] [-n ROUNDS] [-t SECONDS] [-j THREADS] [-v] [-d]
 *
 * -v prints what the runtime writes to standard error; -d makes the calls in the process itself, for a debugger.
 *
 * LW_SEED and LW_RANDOM_COUNT act as -s and -n, LW_FUZZ_SECONDS as -t. LW_RANDOM_DIVISOR divides the number of rounds.
 * Without -j, every fourth round has 2 or 3 threads that share all handles. Results are checked only in rounds of one
 * thread.
 */
#ifndef PROP_CALLS_H
#define PROP_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    HANG_SECONDS = 200,    /* a call that takes longer does not return; the time suits a slow machine with sanitizers */
    MOST_FUNCTIONS = 500,
    MOST_LOG_BYTES = 1 << 20 /* what the runtime writes is discarded when it is longer */
};

/** State that the child shares with its parent. The child is a fork, so that names have the same address in both. */
struct calls {
    uint64_t seed, number, round_number, rounds, successes; /* number: calls in all; round_number: calls of the round */
    unsigned threads;
    const char *name;
    const char *names[MOST_FUNCTIONS]; /* functions that were called */
    char failure[1000];
};
static struct calls *calls;
static _Thread_local uint64_t random_state;

#define PICK(array) ((array)[below(sizeof(array) / sizeof *(array))])

static uint64_t next_random(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static unsigned below(size_t limit)
{
    return (unsigned)(next_random() % limit);
}

/** Returns true in one of @n cases. */
static bool one_of(unsigned n)
{
    return below(n) == 0;
}

/** Records that the thread calls function @name, which is a string literal. */
static void begin_call(const char *name)
{
    size_t at = (uintptr_t)name / 4 % MOST_FUNCTIONS;
    const char *known;

    __atomic_store_n(&calls->name, name, __ATOMIC_RELAXED);
    __atomic_fetch_add(&calls->number, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&calls->round_number, 1, __ATOMIC_RELAXED);
    while ((known = __atomic_load_n(&calls->names[at], __ATOMIC_RELAXED)) != NULL && known != name && strcmp(known, name) != 0)
        at = (at + 1) % MOST_FUNCTIONS;
    __atomic_store_n(&calls->names[at], name, __ATOMIC_RELAXED);
}

/** Ends the child because a result is wrong. */
__attribute__((format(printf, 1, 2), noreturn)) static void wrong(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(calls->failure, sizeof calls->failure, format, list);
    va_end(list);
    abort();
}

static bool is_checked(void)
{
    return calls->threads == 1;
}

/** Makes the calls of a thread; @thread is its number. */
typedef void thread_fn(unsigned thread);
struct thread {
    pthread_t id;
    unsigned number;
    thread_fn *function;
};

static void *thread_main(void *argument)
{
    const struct thread *t = argument;

    random_state = calls->seed * 2654435761u + t->number;
    t->function(t->number);
    return NULL;
}

/** What a test defines: a function that begins a round, one that makes its calls, and one that ends it. */
struct rounds {
    void (*set_up)(void); /* once, before the first round */
    void (*begin)(void);
    thread_fn *run;
    void (*end)(void);
    uint64_t count;       /* rounds of a run without options */
};

static void run_round(const struct rounds *r)
{
    struct thread threads[8];

    random_state = calls->seed;
    r->begin();
    for (unsigned i = 0; i < calls->threads; i++) {
        threads[i] = (struct thread){.number = i, .function = r->run};
        if (calls->threads == 1)
            thread_main(&threads[i]);
        else if (pthread_create(&threads[i].id, NULL, thread_main, &threads[i]) != 0)
            wrong("no thread");
    }
    for (unsigned i = 0; i < calls->threads && calls->threads != 1; i++)
        pthread_join(threads[i].id, NULL);
    random_state = calls->seed + 1;
    r->end();
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct options {
    uint64_t seed, rounds;
    double seconds;
    unsigned threads;
    bool verbose, no_fork;
};

static void run_child(const struct rounds *r, const struct options *o)
{
    const double end = seconds_now() + o->seconds;

    r->set_up();
    for (uint64_t i = 0; o->seconds != 0 ? seconds_now() < end : i < o->rounds; i++) {
        calls->seed = o->seed + i;
        calls->round_number = 0;
        calls->threads = o->threads != 0 ? o->threads : calls->seed % 4 == 3 ? 2 + (unsigned)(calls->seed / 4 % 2) : 1;
        run_round(r);
        calls->rounds++;
        if (!o->verbose && lseek(STDERR_FILENO, 0, SEEK_CUR) > MOST_LOG_BYTES && ftruncate(STDERR_FILENO, 0) == 0)
            lseek(STDERR_FILENO, 0, SEEK_SET);
    }
    exit(0); /* the leak sanitizer looks for leaks */
}

/** Waits for the child, and ends it if it makes no call for a long time. Returns its status. */
static int wait_for(pid_t child)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    uint64_t number = 0;
    double since = seconds_now();
    int status;

    while (waitpid(child, &status, WNOHANG) == 0) {
        const uint64_t now = __atomic_load_n(&calls->number, __ATOMIC_RELAXED);

        nanosleep(&pause, NULL);
        if (now != number) {
            number = now;
            since = seconds_now();
        } else if (seconds_now() - since > HANG_SECONDS) {
            snprintf(calls->failure, sizeof calls->failure, "the call does not return");
            kill(child, SIGABRT);
            since = seconds_now();
        }
    }
    return status;
}

static unsigned long long number_of(const char *name, unsigned long long otherwise)
{
    const char *text = getenv(name);

    return text == NULL || *text == '\0' ? otherwise : strcmp(text, "random") == 0 ? (unsigned long long)time(NULL) * 1000003
        : strtoull(text, NULL, 0);
}

/** Runs the rounds, as the options of the command line and the environment say. Returns the exit status of the program. */
static int calls_main(int argc, char **argv, const struct rounds *r)
{
    struct options o = {.seed = number_of("LW_SEED", 1), .seconds = (double)number_of("LW_FUZZ_SECONDS", 0)};
    const double begin = seconds_now();
    FILE *log = tmpfile();
    unsigned functions = 0;
    char line[4000];
    int option, status;
    pid_t child;

    o.rounds = number_of("LW_RANDOM_COUNT", (r->count + number_of("LW_RANDOM_DIVISOR", 1) - 1) / number_of("LW_RANDOM_DIVISOR",
            1));
    while ((option = getopt(argc, argv, "s:n:t:j:vd")) != -1)
        switch (option) {
        case 's': o.seed = strtoull(optarg, NULL, 0); break;
        case 'n': o.rounds = strtoull(optarg, NULL, 0); break;
        case 't': o.seconds = strtod(optarg, NULL); break;
        case 'j': o.threads = (unsigned)strtoul(optarg, NULL, 0) % 8; break;
        case 'v': o.verbose = true; break;
        case 'd': o.verbose = o.no_fork = true; break;
        default: return 2;
        }
    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (log == NULL || calls == MAP_FAILED)
        return 99;
    fflush(stdout);
    child = o.no_fork ? 0 : fork();
    if (child == 0) {
        if (!o.verbose)
            dup2(fileno(log), STDERR_FILENO);
        run_child(r, &o);
    }
    status = child > 0 ? wait_for(child) : 1;
    for (unsigned i = 0; i < MOST_FUNCTIONS; i++)
        functions += calls->names[i] != NULL;
    printf("%llu calls of %u functions, %llu successful, %llu rounds, %.1f s\n", (unsigned long long)calls->number, functions,
           (unsigned long long)calls->successes, (unsigned long long)calls->rounds, seconds_now() - begin);
    if (status == 0)
        return 0;
    rewind(log);
    for (size_t size; (size = fread(line, 1, sizeof line, log)) != 0;)
        fwrite(line, 1, size, stdout);
    printf("FAIL: LW_SEED=%llu, -j %u: call %llu of the round, %s: %s (status 0x%x). To repeat: -s %llu -n 1 -j %u, or "
           "-s %llu -n %llu\n",
           (unsigned long long)calls->seed, calls->threads, (unsigned long long)calls->round_number,
           calls->name != NULL ? calls->name : "none", calls->failure[0] != '\0' ? calls->failure : "the process ended",
           (unsigned)status, (unsigned long long)calls->seed, calls->threads, (unsigned long long)o.seed,
           (unsigned long long)calls->rounds + 1);
    return 1;
}

/* Sanitizers end the process by abort(), so that the parent sees it. The machine exists until the process ends, so its
 * memory is not a leak. */
#define CALLS_OPTIONS(function, text) \
    __attribute__((visibility("default"))) const char *function(void); \
    const char *function(void) \
    { \
        return text; \
    }
CALLS_OPTIONS(__asan_default_options, "abort_on_error=1:allocator_may_return_null=1:detect_leaks=1")
CALLS_OPTIONS(__ubsan_default_options, "abort_on_error=1:print_stacktrace=1")
CALLS_OPTIONS(__tsan_default_options, "abort_on_error=1:halt_on_error=1:second_deadlock_stack=1")
CALLS_OPTIONS(__lsan_default_suppressions, "leak:emu_core_block_start\n")

#endif
