/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C while a command runs. SIGINT is blocked, and a separate thread reads it from a signalfd. A signal handler would
 * need a global variable to find the debugger, and the library has no mutable global variables.
 */
#include "shell/shell_priv.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

struct sh_interrupt {
    pthread_mutex_t lock; /* protects dbg, which `restore` may replace while the command runs */
    struct dbg *dbg;
    int came;          /* 1 after Ctrl-C was received */
    int signals, done; /* the signalfd for SIGINT, and an eventfd that ends the thread */
    sigset_t before;   /* signal mask before sh_interrupt_begin */
    pthread_t thread;
};

static void *watch(void *argument)
{
    struct sh_interrupt *interrupt = argument;
    struct pollfd wait[2] = {{.fd = interrupt->done, .events = POLLIN},
                             {.fd = interrupt->signals, .events = POLLIN}};

    for (;;) {
        struct signalfd_siginfo info;

        if (poll(wait, 2, -1) < 0)
            continue; /* interrupted by a signal handler: try again */
        if (wait[0].revents != 0)
            return NULL;
        if (wait[1].revents != 0 &&
            read(interrupt->signals, &info, sizeof info) == (ssize_t)sizeof info) {
            pthread_mutex_lock(&interrupt->lock);
            dbg_interrupt(interrupt->dbg);
            pthread_mutex_unlock(&interrupt->lock);
            __atomic_store_n(&interrupt->came, 1, __ATOMIC_RELAXED);
        }
    }
}

struct sh_interrupt *sh_interrupt_begin(struct dbg *dbg)
{
    struct sh_interrupt *interrupt = calloc(1, sizeof *interrupt);
    sigset_t set;

    if (interrupt == NULL)
        return NULL;
    interrupt->dbg = dbg;
    pthread_mutex_init(&interrupt->lock, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    interrupt->signals = signalfd(-1, &set, SFD_CLOEXEC);
    interrupt->done = eventfd(0, EFD_CLOEXEC);
    if (interrupt->signals < 0 || interrupt->done < 0)
        goto failed;
    pthread_sigmask(SIG_BLOCK, &set, &interrupt->before);
    if (pthread_create(&interrupt->thread, NULL, watch, interrupt) == 0)
        return interrupt;
    pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
failed:
    if (interrupt->signals >= 0)
        close(interrupt->signals);
    if (interrupt->done >= 0)
        close(interrupt->done);
    free(interrupt);
    return NULL;
}

void sh_interrupt_move(struct sh_interrupt *interrupt, struct dbg *dbg)
{
    if (interrupt == NULL)
        return;
    pthread_mutex_lock(&interrupt->lock);
    interrupt->dbg = dbg;
    pthread_mutex_unlock(&interrupt->lock);
}

bool sh_interrupt_came(struct sh_interrupt *interrupt)
{
    return interrupt != NULL && __atomic_load_n(&interrupt->came, __ATOMIC_RELAXED) != 0;
}

void sh_interrupt_end(struct sh_interrupt *interrupt)
{
    const struct timespec now = {0};
    uint64_t one = 1;
    sigset_t set;

    if (interrupt == NULL)
        return;
    while (write(interrupt->done, &one, sizeof one) != (ssize_t)sizeof one)
        ;
    pthread_join(interrupt->thread, NULL);
    close(interrupt->signals);
    close(interrupt->done);
    /* Drops a SIGINT that arrived too late for the thread to read it. */
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    while (sigtimedwait(&set, NULL, &now) > 0)
        ;
    pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
    pthread_mutex_destroy(&interrupt->lock);
    free(interrupt);
}
