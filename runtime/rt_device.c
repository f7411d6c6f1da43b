/* SPDX-License-Identifier: Apache-2.0 */
/* The device of a process: its machine, the options in the environment, and the reports at the end of the process. */
#include "runtime/rt_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/** Reports that are written when the process ends. */
enum { REPORT_STATS, REPORT_TIMING, REPORT_TRACE, REPORT_FINDINGS, REPORT_COVERAGE, REPORT_PROFILE, REPORT_LOG, REPORT_COUNT };
static const struct {
    const char *option;
    const char *key; /* option of lanewise_set() that must be "yes" for this report; or NULL */
} report_rows[REPORT_COUNT] = {
    [REPORT_TRACE] = {"timing-trace", "timing-trace"},
    [REPORT_STATS] = {"stats", NULL},         [REPORT_TIMING] = {"timing-report", NULL},
    [REPORT_FINDINGS] = {"check-file", NULL}, [REPORT_COVERAGE] = {"coverage", "coverage"},
    [REPORT_PROFILE] = {"profile", "profile"}, [REPORT_LOG] = {"log", "log"},
};

/* This state is global, because a process has one device, and functions of OpenCL and CUDA have no argument for it. */
static struct {
    lanewise_machine *machine;
    bool tried, stopped, finished;
    bool silent;      /* say() prints nothing */
    char *stop;       /* the message of the fault or hang that was printed last; or NULL */
    bool refused;     /* a launch had an error, which was printed; if a replay has ended in this way, launches remain that have not run */
    bool interrupted; /* the end of the process has interrupted a kernel */
    /* Accessed without the lock. finish() sets `ending`, and then interrupts the machine while `running` is set. So that
     * the machine does not change at this time, rt_recover() does nothing once `ending` is set. */
    _Atomic bool ending;    /* the reports at the end of the process are being written */
    _Atomic bool running;   /* a thread waits in lanewise_wait() */
    bool strict;            /* --strict: an invalid access stops the device */
    bool engine_given;      /* --engine is given */
    bool compiles;          /* --engine or LANEWISE_ENGINE selects native or auto, which compile kernels with shared memory */
    bool hash;
    bool timed;             /* --timing is given */
    bool hang_limit_given;  /* --hang-limit is given, and hang_limit is its value */
    uint64_t hang_limit;
    bool reads;             /* findings about reads of the device's memory are enabled */
    bool fails;             /* --fail-on-findings: the process ends with the status of lanewise run if its own status is 0 */
    int exit_status;        /* status with which the process ends, or -1 before it ends */
    int worst;              /* LANEWISE_FAULT or LANEWISE_HANG: such a result has stopped the device; else LANEWISE_OK */
    unsigned mhz;           /* clock rate of the GPU model; 0: there is no GPU model */
    unsigned warp_width;    /* value of --warp or of the GPU model; 0: neither is given */
    unsigned printed;       /* number of findings printed so far */
    pid_t owner;            /* process that writes the reports: it created the machine, or is a fork that has used its copy */
    bool forked;            /* the process is a fork of the process that created the machine */
    unsigned before_fork[2]; /* numbers of launches and findings before fork(), in a fork */
    char *reports[REPORT_COUNT]; /* [report] file name, before rt_expand(), or NULL if the report is not requested */
    char **more_findings;   /* files of --check-file except the last one */
    unsigned more_finding_count;
    void (*at_end[2])(void); /* functions that the front ends have registered with rt_at_end(), or NULL */
    unsigned launches;      /* number of launches so far; this is also the machine's number of the latest launch */
    unsigned told;          /* number of the latest launch for which a message says that it is not recorded */
    struct rt_site launch_site; /* call that made the latest launch */
    const char *launch_kernel;
    const struct rt_site *reader; /* call that reads memory of the device now, or NULL: it is the present call */
    struct rt_call reader_call;   /* texts of the call that on_caller() has found last */
    bool gdb_own;           /* `lanewise app --debug` starts gdb for this program */
    bool debugged;          /* launches are debugged with gdb, with these options: */
    char *gdb_address, *gdb_kernel;
    uint64_t gdb_history_mib;
    char **flags;           /* options of the compiler from --define, --include and --option, terminated by NULL; or NULL */
    unsigned flag_count;
    unsigned next_buffer;   /* number of the next buffer or image */
    uint64_t allocated;     /* bytes of the device's memory that are in use */
} device = {.exit_status = -1, .next_buffer = 1};

static void complain(const char *what, const char *text)
{
    fprintf(stderr, "lanewise: %s%s%s\n", what, what[0] != '\0' ? ": " : "", text);
}

void rt_complain(const char *what)
{
    complain(what, lanewise_error(device.machine));
}

void rt_complain_refused(const lanewise_module *module, const char *name)
{
    const char *reason = lanewise_kernel_refusal(module, name);

    if (reason != NULL)
        complain("", reason);
}

/** Returns the part of @path that is relative to the current folder if the file is below this folder; else @path. */
static const char *relative(const char *path)
{
    char here[PATH_MAX];
    const size_t size = getcwd(here, sizeof here) != NULL && here[1] != '\0' ? strlen(here) : 0;

    return size != 0 && strncmp(path, here, size) == 0 && path[size] == '/' ? path + size + 1 : path;
}

/** Prints a line that belongs to a finding, unless device.silent is set. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list arguments;

    if (device.silent)
        return;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

/** Prints the call that led to a call in a header, and adds it to the finding with index @finding; for -1, to no finding. */
static void print_caller(const struct rt_call *caller, int finding)
{
    char text[240];

    if (caller->function[0] == '\0')
        return;
    snprintf(text, sizeof text, "called from %s", caller->function);
    say("lanewise:     %s (%s:%u)\n", text, relative(caller->file), caller->line);
    if (finding >= 0)
        (void)lanewise_finding_relate(device.machine, (unsigned)finding, text, caller->file, caller->line);
}

/** Prints a line with a call, such as "launched by main (vadd.c:57)", where @what is "launched". Also adds the call to the
 *  finding with index @finding; for -1, to no finding. */
static void print_site(const struct rt_site *site, const char *what, const char *stub, int finding)
{
    struct rt_call call, caller;
    char text[240];

    if (!rt_site_find(site, stub, &call, &caller))
        return;
    snprintf(text, sizeof text, "%s by %s", what, call.function);
    if (call.line != 0)
        say("lanewise:     %s (%s:%u)\n", text, relative(call.file), call.line);
    else if (call.offset != 0)
        say("lanewise:     %s (%s+0x%" PRIx64 ")\n", text, relative(call.file), call.offset);
    else
        say("lanewise:     %s (%s)\n", text, relative(call.file));
    if (finding >= 0)
        (void)lanewise_finding_relate(device.machine, (unsigned)finding, text, call.file, call.line);
    print_caller(&caller, finding);
}

void rt_print_site(const struct rt_site *site, const char *what, int finding)
{
    print_site(site, what, NULL, finding);
}

/** Prints the call that made launch @launch, if that is the latest launch, the call that reads memory now, if the finding is about
 *  no kernel, and the call that created the buffer named @allocation. */
static void print_sites(uint32_t launch, const char *allocation, int finding)
{
    const struct rt_site *buffer = allocation != NULL ? rt_site_find_buffer(allocation) : NULL;
    char what[80];

    if (launch != 0 && launch == device.launches)
        print_site(&device.launch_site, "launched", device.launch_kernel, finding);
    else if (launch == 0 && device.reader != NULL)
        print_site(device.reader, "read", NULL, finding);
    if (buffer != NULL) {
        snprintf(what, sizeof what, "%.60s was created", allocation);
        print_site(buffer, what, NULL, finding);
    }
}

int rt_alloc_as(const char *what, uint64_t bytes, uint64_t *address)
{
    char name[40];
    int result;

    if (!rt_memory_take(bytes))
        return LANEWISE_ERROR;
    snprintf(name, sizeof name, "%.20s %u", what, device.next_buffer);
    result = lanewise_alloc(device.machine, bytes, name, address);
    if (result == LANEWISE_OK)
        device.next_buffer = rt_site_of_buffer();
    else
        rt_memory_return(bytes);
    return result;
}

void rt_complain_memory(const char *function, uint64_t bytes)
{
    const uint64_t all = rt_memory_bytes();

    if (bytes <= all && device.allocated <= all - bytes)
        rt_complain(function);
    else
        fprintf(stderr, "lanewise: %s: the device has no memory for %" PRIu64 " bytes: %" PRIu64 " of its %" PRIu64 " bytes are in use\n",
                function, bytes, device.allocated, all);
}

int rt_free(uint64_t address)
{
    uint64_t begin, bytes;
    int result = lanewise_allocation(device.machine, address, &begin, &bytes);

    if (result == LANEWISE_OK)
        result = lanewise_free(device.machine, address);
    if (result == LANEWISE_OK) {
        rt_memory_return(bytes);
        rt_site_of_free(address, bytes);
    }
    return result;
}

bool rt_memory_take(uint64_t bytes)
{
    const uint64_t all = rt_memory_bytes();

    if (device.allocated > all || bytes > all - device.allocated)
        return false;
    device.allocated += bytes;
    return true;
}

void rt_memory_return(uint64_t bytes)
{
    device.allocated -= bytes;
}

uint64_t rt_memory_used(void)
{
    return device.allocated;
}

int rt_alloc(uint64_t bytes, uint64_t *address)
{
    return rt_alloc_as("buffer", bytes, address);
}

int rt_map(uint64_t address, uint64_t bytes, bool read_only)
{
    char name[40];
    int result;

    snprintf(name, sizeof name, "buffer %u", device.next_buffer);
    result = lanewise_map(device.machine, address, bytes, name, read_only);
    if (result == LANEWISE_OK)
        device.next_buffer = rt_site_of_buffer();
    return result;
}

int rt_launch(const lanewise_kernel *kernel, const lanewise_shape *shape, const void *const *arguments, const struct rt_site *site)
{
    const int result = lanewise_launch_shape(device.machine, kernel, shape, sizeof *shape, arguments);

    if (result == LANEWISE_OK) {
        device.launches++;
        device.launch_site = *site;
        device.launch_kernel = lanewise_kernel_name(kernel);
    }
    device.refused |= result == LANEWISE_ERROR;
    return result;
}

/** Prints a line if a kernel's access at @address was to memory of the host, and adds it to the finding with index @finding; for
 *  -1, to no finding. */
static void print_host_memory(uint64_t address, int finding)
{
    static const char text[] = "the address is in memory of the host, which kernels cannot access: give the kernel memory of the device";
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin, end;
    unsigned char state;

    lanewise_address_range(device.machine, &begin, &end);
    if (address < page || (address >= begin && address - begin < UINT64_C(1) << 40) || /* the machine may reserve host addresses there */
        mincore((void *)(uintptr_t)(address & ~(page - 1)), 1, &state) != 0) /* fails for addresses that the process does not have */
        return;
    say("lanewise:     %s\n", text);
    if (finding >= 0)
        (void)lanewise_finding_relate(device.machine, (unsigned)finding, text, "", 0);
}

/** Prints finding @index as `lanewise run --check` does, with the calls that made its launch and created its buffers. */
static void print_finding(unsigned index, const lanewise_finding *f)
{
    const struct rt_site *freed;
    char *text, *rest = NULL;

    if (lanewise_finding_text(device.machine, index, &text) != LANEWISE_OK) {
        rt_complain("");
        return;
    }
    for (const char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        say("lanewise: %s\n", line);
    lanewise_report_free(text);
    if (f->location.kernel[0] != '\0')
        print_host_memory(f->address, (int)index);
    print_sites(f->location.launch, f->allocation, (int)index);
    rt_site_print_buffers(f, (int)index);
    if (strcmp(f->kind, "use-after-free") == 0 && (freed = rt_site_find_free(f->address)) != NULL)
        print_site(freed, "freed", NULL, (int)index);
}

/** Prints the findings that were not printed yet. */
static void print_findings(void)
{
    lanewise_finding f;

    for (; device.printed < lanewise_finding_count(device.machine); device.printed++)
        if (lanewise_finding_get(device.machine, device.printed, &f, sizeof f) == LANEWISE_OK)
            print_finding(device.printed, &f);
}

/** Finishes the machine, and prints the findings that this adds. New findings are not at the end of the list, because
 *  lanewise_finish() sorts the list. */
static void print_last_findings(void)
{
    lanewise_finding f;
    const char **before;
    unsigned count;

    print_findings();
    count = device.printed;
    before = calloc(count + 1u, sizeof *before);
    for (unsigned i = 0; before != NULL && i < count; i++)
        if (lanewise_finding_get(device.machine, i, &f, sizeof f) == LANEWISE_OK)
            before[i] = f.message; /* the pointer identifies the finding, because each finding has its own message */
    if (device.interrupted)
        complain("", "the kernel has not ended, so the checks at the end of the run are not made: wait for the kernel before the program ends");
    else if (lanewise_finish(device.machine) == LANEWISE_ERROR && !device.refused)
        rt_complain("");
    device.printed = lanewise_finding_count(device.machine);
    for (unsigned i = 0; before != NULL && i < device.printed; i++) {
        bool printed = lanewise_finding_get(device.machine, i, &f, sizeof f) != LANEWISE_OK;

        for (unsigned k = 0; k < count && !printed; k++)
            printed = before[k] == f.message;
        if (printed)
            continue;
        /* The fault or hang that has ended the run was printed when it happened. In reports it gets the calls of the program. */
        device.silent = device.stop != NULL && f.message[0] != '\0' && strstr(device.stop, f.message) != NULL;
        print_finding(i, &f);
        device.silent = false;
    }
    free(before);
}

/** Names the program's call that reads memory of the device now. */
static void on_caller(void *context, lanewise_call *out)
{
    (void)context;
    if (device.reader == NULL || !rt_site_find(device.reader, NULL, &device.reader_call, NULL))
        return;
    out->function = device.reader_call.function;
    if (device.reader_call.line == 0) /* the file is not a source file */
        return;
    out->file = device.reader_call.file;
    out->line = device.reader_call.line;
}

int rt_read(uint64_t address, void *data, size_t bytes, const struct rt_site *site)
{
    struct rt_site here;
    int result;

    if (site == NULL && device.reads)
        rt_site_take(&here);
    device.reader = site != NULL ? site : device.reads ? &here : NULL;
    result = lanewise_read(device.machine, address, data, bytes);
    print_findings();
    device.reader = NULL;
    return result;
}

bool rt_wants_finding(const char *kind)
{
    return device.machine != NULL && lanewise_finding_wanted(device.machine, kind) != 0;
}

void rt_at_end(void (*report)(void))
{
    for (unsigned i = 0; i < sizeof device.at_end / sizeof *device.at_end; i++)
        if (device.at_end[i] == NULL) {
            device.at_end[i] = report;
            break;
        }
}

void rt_report(const struct rt_finding *finding)
{
    struct rt_call call = {.function = ""}, caller = {.function = ""};
    char function[sizeof call.function + sizeof caller.function + 40], times[32] = "";
    lanewise_host_finding f = {.kind = finding->kind, .message = finding->message, .function = function, .file = call.file,
                               .count = finding->count};

    (void)rt_site_find(finding->at, finding->stub, &call, &caller);
    if (caller.function[0] != '\0') /* findings are distinguished by their functions, too: each caller is another finding */
        snprintf(function, sizeof function, "%s, called from %s:%u", call.function, caller.function, caller.line);
    else
        snprintf(function, sizeof function, "%s", call.function);
    f.line = call.line;
    if (f.count > 1)
        snprintf(times, sizeof times, "; %" PRIu64 " times", f.count);
    print_findings(); /* first prints the findings of kernels that were not printed yet */
    if (lanewise_finding_add(device.machine, &f, sizeof f) != LANEWISE_FINDING)
        return;
    if (call.line != 0)
        fprintf(stderr, "lanewise: %s:%u: %s: %s%s\n", relative(call.file), call.line, f.kind, f.message, times);
    else if (call.function[0] != '\0')
        fprintf(stderr, "lanewise: %s: %s: %s%s\n", call.function, f.kind, f.message, times);
    else
        fprintf(stderr, "lanewise: %s: %s%s\n", f.kind, f.message, times);
    print_caller(&caller, (int)device.printed);
    for (unsigned i = 0; i < sizeof finding->related / sizeof *finding->related && finding->related[i].what != NULL; i++)
        print_site(finding->related[i].site, finding->related[i].what, NULL, (int)device.printed);
    device.printed = lanewise_finding_count(device.machine);
}

static const char *findings_kind(const char *path)
{
    static const struct {
        const char *suffix, *kind;
    } rows[] = {{".json", "findings-json"}, {".sarif", "findings-sarif"}, {".xml", "findings-junit"},
              {".yaml", "findings-suppressions"}, {".yml", "findings-suppressions"}};
    const char *dot = strrchr(path, '.');

    for (unsigned i = 0; dot != NULL && i < sizeof rows / sizeof *rows; i++)
        if (strcasecmp(dot, rows[i].suffix) == 0)
            return rows[i].kind;
    return "findings";
}

static bool ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

static bool save_log(const char *path)
{
    if (lanewise_log_save(device.machine, path) == LANEWISE_OK)
        return true;
    rt_complain("log");
    return false;
}

/** Writes the report @report to @path, or prints the error if the machine cannot make it. */
static void make_report(unsigned report, const char *name)
{
    char *path = rt_expand(name);
    const char *kind = report == REPORT_STATS      ? "statistics"
                       : report == REPORT_TIMING   ? (ends_with(name, ".json") ? "timing-json" : "timing")
                       : report == REPORT_TRACE    ? "timing-trace"
                       : report == REPORT_COVERAGE ? "coverage"
                       : report == REPORT_PROFILE  ? "profile"
                                                   : findings_kind(name);
    char *text;

    if (path == NULL) {
        complain(report_rows[report].option, "the host has no memory for the name of the file");
    } else if (report == REPORT_LOG) {
        rt_report_save(path, save_log);
    } else if (lanewise_report(device.machine, kind, &text) != LANEWISE_OK) {
        rt_complain(report_rows[report].option);
    } else {
        rt_report_write(path, text);
        lanewise_report_free(text);
    }
    free(path);
}

/** Returns the number of findings of this process, without those before it was forked. */
static unsigned own_findings(void)
{
    return lanewise_finding_count(device.machine) - device.before_fork[1];
}

/** Returns true if this process writes reports. A fork writes reports if it has used its copy of the device. */
static bool writes_reports(void)
{
    if (device.machine != NULL && device.forked && (device.launches != device.before_fork[0] || own_findings() != 0))
        device.owner = getpid();
    return device.machine != NULL && getpid() == device.owner;
}

/** Writes the requested reports at the end of the process. */
static void finish(void)
{
    if (device.finished || !writes_reports())
        return;
    device.finished = true;
    device.ending = true;
    while (!rt_try_lock()) { /* another thread holds the lock, perhaps because it runs a kernel that does not end */
        if (device.running)
            lanewise_interrupt(device.machine);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (!device.stopped)
        lanewise_wait(device.machine);
    fflush(stdout);
    for (unsigned i = 0; i < sizeof device.at_end / sizeof *device.at_end && device.at_end[i] != NULL && !device.forked; i++)
        device.at_end[i](); /* the process that has created the objects reports those that it does not release */
    print_last_findings();
    for (unsigned i = 0; i < device.more_finding_count; i++)
        make_report(REPORT_FINDINGS, device.more_findings[i]);
    for (unsigned i = 0; i < REPORT_COUNT; i++)
        if (device.reports[i] != NULL)
            make_report(i, device.reports[i]);
    if (rt_sources_forget() && device.reports[REPORT_COVERAGE] != NULL)
        complain("", "the coverage names the sources of OpenCL programs, which were in a temporary folder: give --sources FOLDER to "
                     "keep them");
    if (device.hash)
        fprintf(stderr, "hash_mem %016llx\n", (unsigned long long)lanewise_hash(device.machine));
    rt_unlock();
}

static void at_exit(void)
{
    if (device.at_end[0] == NULL)
        finish();
}

/* If a front end has registered a function by rt_at_end(), reports are written here, and not in at_exit(). The
 * destructors of the program's global variables, which run before this destructor, may still release objects. */
__attribute__((destructor)) static void at_unload(void)
{
    const bool own = writes_reports();

    finish();
    if (!device.fails || !own || device.exit_status != 0 || (device.worst == LANEWISE_OK && own_findings() == 0))
        return;
    fflush(NULL);
    _exit(device.worst != LANEWISE_OK ? device.worst : LANEWISE_FINDING);
}

static void note_status(int status, void *unused)
{
    (void)unused;
    device.exit_status = status;
}

/** Lets the exit of the process depend on findings. Returns false if the host has no memory. */
static bool watch_exit(void)
{
    Dl_info info;

    /* The library must not be unloaded before the process ends, because exit() calls the function. */
    return dladdr((void *)watch_exit, &info) != 0 && dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL &&
           on_exit(note_status, NULL) == 0;
}

/** Returns true if the report with this name can be written. */
static bool report_try(const char *name)
{
    char *path = rt_expand(name);
    const bool good = path != NULL && rt_report_try(path);

    free(path);
    return good;
}

/** Sets the file of a report. For findings, several files can be set. Returns false if the host has no memory. */
static bool set_report(unsigned report, const char *path)
{
    char *copy = strdup(path), **more;

    if (report == REPORT_FINDINGS && device.reports[report] != NULL && copy != NULL) {
        more = realloc(device.more_findings, (device.more_finding_count + 1) * sizeof *more);
        if (more == NULL) {
            free(copy);
            return false;
        }
        device.more_findings = more;
        more[device.more_finding_count++] = device.reports[report];
    } else {
        free(device.reports[report]);
    }
    device.reports[report] = copy;
    return copy != NULL;
}

static bool compiles(const char *engine)
{
    return strcmp(engine, "native") == 0 || strcmp(engine, "auto") == 0;
}

/** Sets an option that has no value. Returns false if there is no such option. */
static bool set_switch(const char *name)
{
    static const struct {
        const char *name;
        bool *to;
    } rows[] = {{"strict", &device.strict}, {"hash", &device.hash}, {"gdb-own", &device.gdb_own},
              {"fail-on-findings", &device.fails}};

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) {
            *rows[i].to = true;
            return true;
        }
    return false;
}

/** Adds an option of the compiler: @letter and @value. Returns false if the host has no memory. */
static bool add_flag(const char *letter, const char *value)
{
    char **more = realloc(device.flags, (device.flag_count + 2) * sizeof *more);
    char *flag = malloc(strlen(letter) + strlen(value) + 1);

    if (more != NULL)
        device.flags = more;
    if (more == NULL || flag == NULL) {
        free(flag);
        complain("LANEWISE_OPTIONS", "the host has no memory for an option of the compiler");
        return false;
    }
    sprintf(flag, "%s%s", letter, value);
    more[device.flag_count++] = flag;
    more[device.flag_count] = NULL;
    return true;
}

const char *const *rt_flags(unsigned *count)
{
    *count = device.flag_count;
    return (const char *const *)device.flags;
}

/** Sets option --record or --sources, whose value is a folder. Recorded objects name their source files, which are kept in the same
 *  folder. Returns false after printing an error. */
static bool set_folder(const char *name, const char *value)
{
    char *folder = rt_expand(value);
    bool good = folder != NULL && rt_sources_keep(folder);

    if (good && strcmp(name, "record") == 0 && lanewise_set(device.machine, name, folder) != LANEWISE_OK) {
        rt_complain("LANEWISE_OPTIONS");
        good = false;
    }
    free(folder);
    return good;
}

/** Sets one option. Returns false after printing an error. */
static bool set_option(const char *name, const char *value)
{
    for (unsigned i = 0; i < REPORT_COUNT; i++)
        if (strcmp(name, report_rows[i].option) == 0) {
            if (!set_report(i, value)) {
                complain("LANEWISE_OPTIONS", "the host has no memory for the name of a file");
                return false;
            }
            if (!report_try(device.reports[i])) /* reports a file that cannot be written now, not after a long run */
                return false;
            if (report_rows[i].key == NULL || lanewise_set(device.machine, report_rows[i].key, "yes") == LANEWISE_OK)
                return true;
            rt_complain("LANEWISE_OPTIONS");
            return false;
        }
    if (strcmp(name, "gdb") == 0 || strcmp(name, "gdb-kernel") == 0) {
        char **to = strcmp(name, "gdb") == 0 ? &device.gdb_address : &device.gdb_kernel;

        free(*to);
        *to = strdup(value);
        device.debugged = true;
        return true;
    }
    if (strcmp(name, "sources") == 0 || strcmp(name, "record") == 0)
        return set_folder(name, value);
    if (strcmp(name, "history") == 0) {
        char *end;

        device.gdb_history_mib = strtoull(value, &end, 10);
        if (value[0] >= '0' && value[0] <= '9' && *end == '\0')
            return true;
        fprintf(stderr, "lanewise: LANEWISE_OPTIONS: history: expected an integer of 0 or more, found \"%s\"\n", value);
        return false;
    }
    if (strcmp(name, "debug") == 0) {
        complain("LANEWISE_OPTIONS", "--debug is an option of \"lanewise app\" only: use --gdb, and connect gdb from another terminal");
        return false;
    }
    if (strcmp(name, "define") == 0 || strcmp(name, "include") == 0 || strcmp(name, "option") == 0)
        return add_flag(name[0] == 'd' ? "-D" : name[0] == 'i' ? "-I" : "", value);
    if (strcmp(name, "cache") == 0 && (strcmp(value, "on") == 0 || strcmp(value, "off") == 0))
        return setenv("LANEWISE_CACHE", value, 1) == 0;
    if (strcmp(name, "cache") == 0) {
        fprintf(stderr, "lanewise: LANEWISE_OPTIONS: cache: expected on or off, found \"%s\"\n", value);
        return false;
    }
    if (strcmp(name, "engine") == 0)
        device.engine_given = true, device.compiles = compiles(value);
    if (strcmp(name, "timing") == 0)
        device.timed = true;
    if (strcmp(name, "warp") == 0)
        device.warp_width = (unsigned)strtoul(value, NULL, 10);
    if (strcmp(name, "hang-limit") == 0 || strcmp(name, "hang-window") == 0) {
        device.hang_limit_given = true;
        device.hang_limit = strtoull(value, NULL, 10);
    }
    if (lanewise_set(device.machine, name, value) == LANEWISE_OK)
        return true;
    if (set_switch(name))
        fprintf(stderr, "lanewise: LANEWISE_OPTIONS: option \"--%s\" takes no operand\n", name);
    else if (strstr(lanewise_error(device.machine), "lanewise_key()") != NULL)
        fprintf(stderr, "lanewise: LANEWISE_OPTIONS: unknown option \"--%s\"; \"lanewise help app\" lists the options\n", name);
    else
        rt_complain("LANEWISE_OPTIONS");
    return false;
}

uint64_t rt_wait_limit_ms(void)
{
    enum { LIMIT_MS = 5000, DEFAULT_LIMIT = 1 << 26 };
    const double ms = (double)device.hang_limit / DEFAULT_LIMIT * LIMIT_MS;

    if (!device.hang_limit_given)
        return LIMIT_MS;
    return device.hang_limit == 0 || ms >= (double)(UINT64_MAX / 1000000) ? UINT64_MAX / 1000000 : (uint64_t)ms;
}

/** Options with a letter. */
static const struct {
    char letter;
    const char *name;
    bool operand;
} letters[] = {{'s', "stats", true}, {'t', "threads", true}, {'w', "warp", true}, {'p', "policy", true}, {'g', "debuggable", false},
              {'D', "define", true}, {'I', "include", true}, {'X', "option", true}};

/** Sets an option without a value: a switch, or an option whose value is optional. */
static bool set_bare(const char *name)
{
    return set_switch(name) || set_option(name, strcmp(name, "check") == 0 ? "default" : strcmp(name, "gdb") == 0 ? "0" : "yes");
}

/** Sets the options of a word such as "-w16" or "-g". If the last of them needs an operand and the word has none, takes it from
 *  the next word. Returns the last word that it used, or NULL after printing an error. */
static char **set_letters(char **word)
{
    for (const char *at = *word + 1; *at != '\0'; at++) {
        unsigned i = 0;

        while (i < sizeof letters / sizeof *letters && letters[i].letter != *at)
            i++;
        if (i == sizeof letters / sizeof *letters) {
            fprintf(stderr, "lanewise: LANEWISE_OPTIONS: unknown option \"-%c\"; \"lanewise help app\" lists the options\n", *at);
            return NULL;
        }
        if (!letters[i].operand) {
            if (!set_bare(letters[i].name))
                return NULL;
            continue;
        }
        if (at[1] == '\0' && word[1] == NULL) {
            fprintf(stderr, "lanewise: LANEWISE_OPTIONS: option \"-%c\" needs an operand\n", *at);
            return NULL;
        }
        at = at[1] != '\0' ? at + 1 : *++word;
        return set_option(letters[i].name, at) ? word : NULL;
    }
    return word;
}

/** Reads LANEWISE_OPTIONS, which has the options of `lanewise app`, separated by spaces. Sets *@checks if --check is given.
 *  Returns false after printing an error. */
static bool read_options(bool *checks)
{
    const char *text = getenv("LANEWISE_OPTIONS");
    char **words = rt_words(text != NULL ? text : "");
    bool good = words != NULL;

    for (char **word = words; good && *word != NULL; word++) {
        char *name = *word, *value;

        if (name[0] != '-' || name[1] == '\0') {
            fprintf(stderr, "lanewise: environment variable LANEWISE_OPTIONS: expected an option such as --check=all, "
                            "found \"%s\"\n", name);
            good = false;
            break;
        }
        if (name[1] != '-') {
            word = set_letters(word);
            good = word != NULL;
            if (!good)
                break;
            continue;
        }
        name += 2;
        *checks = *checks || (strncmp(name, "check", 5) == 0 && (name[5] == '\0' || name[5] == '='));
        value = strchr(name, '=');
        if (value == NULL && set_switch(name))
            continue;
        if (value != NULL)
            *value++ = '\0';
        else if (word[1] != NULL && (word[1][0] != '-' || word[1][1] == '\0' || strcmp(name, "option") == 0))
            value = *++word;
        good = value != NULL ? set_option(name, value) : set_bare(name);
    }
    free(words);
    if (good && device.reports[REPORT_TIMING] != NULL && !device.timed) {
        complain("LANEWISE_OPTIONS", "timing-report has no effect without the timing model: add --timing");
        good = false;
    }
    return good;
}

static void announce(void *context, const char *target)
{
    (void)context;
    if (!device.gdb_own)
        fprintf(stderr, "gdb: target remote %s\nwaiting for a debugger; in another terminal: gdb -ex 'target remote %s'\n", target, target);
}

/** Makes the machine wait for gdb at launches, if an option requests that. Returns false if that is not possible. */
static bool begin_gdb(void)
{
    const lanewise_gdb_options options = {
        .address = device.gdb_address, .kernel = device.gdb_kernel, .history_mib = device.gdb_history_mib, .own = device.gdb_own, .ready = announce,
        .advice = "compile with lanewise cc -G or nvcc -G, or run OpenCL programs with lanewise app -g, to see all variables"};

    return !device.debugged || lanewise_gdb(device.machine, &options, sizeof options) == LANEWISE_OK;
}

/** Selects the engine if --engine is not given: that of LANEWISE_ENGINE, or auto-unshared. Debuggers need the interpreter. */
static bool choose_engine(void)
{
    const char *engine = getenv("LANEWISE_ENGINE");
    const bool named = engine != NULL && *engine != '\0';

    if (device.engine_given || (!named && device.debugged))
        return true;
    device.compiles = named && compiles(engine);
    if (lanewise_set(device.machine, "engine", named ? engine : "auto-unshared") == LANEWISE_OK)
        return true;
    rt_complain("LANEWISE_ENGINE");
    return false;
}

lanewise_machine *rt_machine(void)
{
    static const char faults[] = "out-of-bounds,use-after-free,null-access,misaligned,read-only,bad-free";
    char text[32];
    bool checks = false, good = false;

    if (device.tried)
        return device.machine;
    device.tried = true;
    device.owner = getpid();
    device.machine = lanewise_create();
    if (device.machine == NULL) {
        complain("", "the host has no memory for the machine");
        return NULL;
    }
    lanewise_set(device.machine, "check-run", program_invocation_short_name); /* reports name the program */
    const bool fine = read_options(&checks) && choose_engine();
    if (fine) {
        /* By default invalid accesses are reported, and the program continues. If the user selects an engine, only those are reported
         * that native code finds, too. */
        if (!checks && !device.strict)
            lanewise_set(device.machine, "check", device.compiles ? faults : "memory");
        good = begin_gdb() && lanewise_begin(device.machine) == LANEWISE_OK;
        if (!good)
            rt_complain("LANEWISE_OPTIONS");
    }
    /* Debuggers, profiles and the coverage need sources in files. */
    if (good && (device.debugged || device.reports[REPORT_PROFILE] != NULL || device.reports[REPORT_COVERAGE] != NULL))
        good = rt_sources_keep(NULL);
    if (!good) { /* the program gets no device, because it must not run with other options than those requested */
        lanewise_destroy(device.machine);
        device.machine = NULL;
        return NULL;
    }
    if (lanewise_timing_value(device.machine, "clocks.core", text, sizeof text) == LANEWISE_OK)
        device.mhz = (unsigned)strtoul(text, NULL, 10);
    if (device.warp_width == 0 && lanewise_timing_value(device.machine, "core.warp_width", text, sizeof text) == LANEWISE_OK)
        device.warp_width = (unsigned)strtoul(text, NULL, 10);
    device.reads = rt_wants_finding("uninitialised-output");
    lanewise_caller(device.machine, on_caller, NULL);
    atexit(at_exit);
    if (device.fails && !watch_exit())
        complain("fail-on-findings", "the exit status of the program cannot be changed");
    return device.machine;
}

bool rt_run(void)
{
    int result;

    if (device.machine == NULL || device.stopped)
        return false;
    device.running = true;
    result = lanewise_wait(device.machine);
    device.running = false;
    if (lanewise_record_message(device.machine)[0] != '\0' && device.told != device.launches) {
        device.told = device.launches;
        complain("record", lanewise_record_message(device.machine));
    }
    fflush(stdout); /* flushes the output of kernels, which must precede later output of the program */
    print_findings();
    if (result == LANEWISE_OK || result == LANEWISE_FINDING)
        return true;
    device.refused |= result == LANEWISE_ERROR;
    if ((result == LANEWISE_FAULT && device.worst == LANEWISE_OK) || result == LANEWISE_HANG)
        device.worst = result;
    if (result == LANEWISE_KILLED) { /* `kill` in gdb ends this process, as if gdb had started it */
        complain("", "gdb has killed the program");
        finish();
        fflush(NULL);
        _exit(128 + SIGKILL);
    }
    if (result == LANEWISE_INTERRUPTED) { /* finish() has interrupted the machine */
        device.interrupted = true;
        complain("", "the program ended while a kernel was running");
    } else {
        rt_complain("");
        free(device.stop);
        device.stop = strdup(lanewise_error(device.machine));
    }
    print_sites(device.launches, lanewise_fault_allocation(device.machine), -1);
    device.stopped = true;
    return false;
}

bool rt_recover(void)
{
    if (device.machine == NULL || device.ending || lanewise_recover(device.machine) != LANEWISE_OK)
        return false;
    device.stopped = false;
    return true;
}

void rt_forked(void)
{
    if (device.debugged)
        device.stopped = device.ending = true;
    if (device.machine == NULL)
        return;
    device.forked = true;
    device.before_fork[0] = device.launches;
    device.before_fork[1] = lanewise_finding_count(device.machine);
    device.worst = LANEWISE_OK;
}

uint64_t rt_memory_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t arena = UINT64_C(60) << 30, bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : UINT64_C(1) << 30;

    return bytes < arena ? bytes & ~UINT64_C(0xfffff) : arena;
}

bool rt_ending(void)
{
    return device.ending;
}

bool rt_begun(void)
{
    return device.machine != NULL;
}

bool rt_stopped(void)
{
    return device.stopped;
}

enum lanewise_fault rt_fault(void)
{
    return device.stopped ? lanewise_fault_kind(device.machine) : LANEWISE_FAULT_NONE;
}

bool rt_has_spirv(void)
{
    return lanewise_has_spirv(device.machine) == LANEWISE_OK;
}

unsigned rt_warp_width(void)
{
    return device.warp_width != 0 ? device.warp_width : 32;
}

unsigned rt_clock_mhz(void)
{
    return device.mhz != 0 ? device.mhz : 1000;
}

uint64_t rt_now_ns(void)
{
    struct timespec now;
    uint64_t cycles;

    if (device.mhz != 0 && lanewise_statistic(device.machine, "cycles", &cycles) == LANEWISE_OK)
        return cycles / device.mhz * 1000 + cycles % device.mhz * 1000 / device.mhz;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
