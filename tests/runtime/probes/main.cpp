/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the groups of probes, each in its own process. `probes GROUP` runs one group in this process, and `probes --list` prints
 * the names of the groups.
 */
#include "probe.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct group *const all[] = {memory_groups, call_groups, launch_groups, fatal_groups, driver_groups};
enum { LISTS = sizeof all / sizeof *all, SECONDS = 60 };

void *find_function(const char *name)
{
    static void *driver;

    if (strncmp(name, "cuda", 4) == 0)
        return dlsym(RTLD_DEFAULT, name);
    if (driver == NULL)
        driver = dlopen("libcuda.so.1", RTLD_NOW);
    return driver != NULL ? dlsym(driver, name) : NULL;
}

static const char *name_of(int error)
{
    if (error == NO_FUNCTION)
        return "no function";
    return ((const char *(*)(int))find_function("cudaGetErrorName"))(error);
}

static void line(const char *probe, const char *result)
{
    printf("%s = %s\n", probe, result);
    fflush(stdout);
}

void R(const char *probe, int error)
{
    const int last = F("cudaPeekAtLastError");
    char text[200];

    if (last == error || error == NO_FUNCTION)
        snprintf(text, sizeof text, "%s", name_of(error));
    else
        snprintf(text, sizeof text, "%s, last error %s", name_of(error), name_of(last));
    line(probe, text);
    F("cudaGetLastError");
}

void D(const char *probe, int result)
{
    const char *name = NULL;

    if (result == NO_FUNCTION)
        name = "no function";
    else if (F("cuGetErrorName", result, &name) != 0 || name == NULL)
        name = "unknown result";
    line(probe, name);
}

void N(const char *probe, long long number)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", number);
    line(probe, text);
}

void T(const char *probe, const char *text)
{
    line(probe, text);
}

const char *quoted(const char *text)
{
    static char out[8192];
    size_t at = 0;

    out[at++] = '"';
    for (; *text != '\0' && at < sizeof out - 8; text++)
        if (*text == '\n')
            at += (size_t)sprintf(out + at, "\\n");
        else if (*text == '"' || *text == '\\')
            at += (size_t)sprintf(out + at, "\\%c", *text);
        else if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
            at += (size_t)sprintf(out + at, "\\x%02x", (unsigned char)*text);
        else
            out[at++] = *text;
    out[at++] = '"';
    out[at] = '\0';
    return out;
}

static int caught, before;
static FILE *file;

void catch_output(int fd)
{
    fflush(NULL);
    file = tmpfile();
    caught = fd;
    before = dup(fd);
    dup2(fileno(file), fd);
}

const char *take_output(void)
{
    static char text[8192];
    size_t bytes;

    fflush(NULL);
    dup2(before, caught);
    close(before);
    rewind(file);
    bytes = fread(text, 1, sizeof text - 1, file);
    text[bytes] = '\0';
    fclose(file);
    return text;
}

int main(int count, char **arguments)
{
    bool found = false;

    for (int i = 0; i < LISTS; i++)
        for (const struct group *g = all[i]; g->name != NULL; g++) {
            int status = 0;
            pid_t child;

            if (count > 1 && strcmp(arguments[1], "--list") == 0) {
                printf("%s\n", g->name);
                found = true;
                continue;
            }
            if (count > 1) {
                if (strcmp(arguments[1], g->name) == 0) {
                    found = true;
                    alarm(SECONDS);
                    g->run();
                }
                continue;
            }
            found = true;
            child = fork();
            if (child == 0) {
                execl("/proc/self/exe", "probes", g->name, (char *)NULL);
                _exit(127);
            }
            waitpid(child, &status, 0);
            if (WIFSIGNALED(status))
                printf("%s: end of the process = signal %d\n", g->name, WTERMSIG(status));
            else if (WEXITSTATUS(status) != 0)
                printf("%s: end of the process = status %d\n", g->name, WEXITSTATUS(status));
            fflush(stdout);
        }
    if (!found)
        fprintf(stderr, "no group %s\n", arguments[1]);
    return found ? 0 : 2;
}
