/* SPDX-License-Identifier: Apache-2.0 */
#include "observed.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool observed_cannot(const char *command, const char *what, const char *name)
{
    fprintf(stderr, "millrace %s: %s %s: %s\n", command, what, name, strerror(errno));
    return false;
}

int observed_bad_value(const char *command, const char *option, const char *value, const char *may)
{
    fprintf(stderr, "millrace %s: %s can't be '%s': it is %s\n", command, option, value, may);
    return 2;
}

int observed_no_value(const char *command, const char *option)
{
    fprintf(stderr, "millrace %s: %s needs a value; see 'millrace %s --help'\n", command, option, command);
    return 2;
}

bool observed_make_folder(const char *command, char folder[PATH_MAX])
{
    const char *above = getenv("TMPDIR");
    snprintf(folder, PATH_MAX, "%.4000s/millrace-%s-XXXXXX", above && *above ? above : "/tmp", command);
    return mkdtemp(folder) || observed_cannot(command, "cannot make a folder for results, like", folder);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    remove(path);
    return 0;
}

void observed_remove_folder(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* nftw hands on no data. */
static const char *counted_ending;
static size_t counted;

static int count_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)where;
    size_t length = strlen(path), ending = strlen(counted_ending);
    counted += kind == FTW_F && length > ending && strcmp(path + length - ending, counted_ending) == 0;
    return 0;
}

size_t observed_count(const char *folder, const char *ending)
{
    counted_ending = ending;
    counted = 0;
    nftw(folder, count_one, 16, FTW_PHYS);
    return counted;
}

bool observed_results_folder(const char *command, const char *wanted, const char *ending, char folder[PATH_MAX])
{
    if (!wanted)
        return observed_make_folder(command, folder);
    if (mkdir(wanted, 0777) != 0 && errno != EEXIST)
        return observed_cannot(command, "cannot make the folder", wanted);
    if (!realpath(wanted, folder))
        return observed_cannot(command, "cannot use the folder", wanted);
    if (observed_count(folder, ending) || observed_count(folder, ".failed")) {
        fprintf(stderr, "millrace %s: the folder %s has results of another run; name an empty one\n", command, folder);
        return false;
    }
    return true;
}

/* The variables that the observer reads, and the library for NVTX. */
static bool name_observer(const char *command, const char *observer, const char *tools, const char *folder)
{
    if (access(observer, R_OK) != 0)
        return observed_cannot(command, "cannot read", observer);
    if (setenv("MILLRACE_OBSERVE", tools, 1) == 0 && setenv("MILLRACE_OBSERVE_OUT", folder, 1) == 0 &&
        setenv("NVTX_INJECTION64_PATH", observer, 1) == 0)
        return true;
    fprintf(stderr, "millrace %s: out of memory\n", command);
    return false;
}

static void observer_of(const struct tool_paths *paths, char out[PATH_MAX + 32])
{
    snprintf(out, PATH_MAX + 32, "%s/libmillrace-observer.so", paths->libraries);
}

bool observed_environment(const char *command, const struct tool_paths *paths, const char *tools, const char *folder)
{
    char observer[PATH_MAX + 32];
    observer_of(paths, observer);
    return name_observer(command, observer, tools, folder) && tool_environment(command);
}

/* Is the driver in the folder? Its name in the folder is left in `path`. */
static bool has_driver(const char *folder, size_t length, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%.*s/libcuda.so.1", (int)length, folder) < PATH_MAX && length > 0 &&
           access(path, R_OK) == 0;
}

/* The driver of the GPU: the one that the user names, or that the loader would find for the program. This command can't
 * ask the loader, because it has Millrace's own driver. */
static bool name_behind(const char *command)
{
    static const char *const usual[] = {
        "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/nvidia/lib64",
        "/usr/local/nvidia/lib",     "/usr/lib/wsl/lib",      "/usr/lib",   "/usr/local/lib"};
    const char *named = getenv("MILLRACE_DRIVER_BEHIND"), *folders = getenv("LD_LIBRARY_PATH");
    char path[PATH_MAX];
    bool found = false;
    if (named && *named)
        return access(named, R_OK) == 0 || observed_cannot(command, "cannot read the driver", named);
    while (folders && *folders && !found) {
        size_t length = strcspn(folders, ":");
        found = has_driver(folders, length, path);
        folders += length + (folders[length] == ':');
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !found; i++)
        found = has_driver(usual[i], strlen(usual[i]), path);
    if (!found)
        fprintf(
            stderr,
            "millrace %s: there is no driver of a GPU in the usual folders; if there is one elsewhere, name it with "
            "MILLRACE_DRIVER_BEHIND=/path/libcuda.so.1\n",
            command);
    return found && setenv("MILLRACE_DRIVER_BEHIND", path, 1) == 0;
}

bool observed_environment_gpu(const char *command, const struct tool_paths *paths, const char *tools,
                              const char *folder)
{
    char observer[PATH_MAX + 32], driver[PATH_MAX + 64];
    observer_of(paths, observer);
    snprintf(driver, sizeof driver, "%s/millrace/forward/libcuda.so.1", paths->libraries);
    if (access(driver, R_OK) != 0)
        return observed_cannot(command, "cannot read", driver);
    *strrchr(driver, '/') = 0;
    if (!name_behind(command) || !name_observer(command, observer, tools, folder))
        return false;
    if (setenv("MILLRACE_OBSERVER", observer, 1) == 0 && tool_put_first("LD_LIBRARY_PATH", driver))
        return true;
    fprintf(stderr, "millrace %s: out of memory\n", command);
    return false;
}

bool observed_run(const char *command, char **program, int *status)
{
    int ended = tool_wait_for(program);
    if (ended == -1) {
        *status = errno == ENOENT ? OBSERVED_NOT_FOUND : OBSERVED_CANNOT_START;
        return observed_cannot(command, "cannot start", program[0]);
    }
    *status = WEXITSTATUS(ended);
    if (WIFSIGNALED(ended)) {
        *status = 128 + WTERMSIG(ended);
        fprintf(stderr, "millrace %s: %s was ended by signal %d (%s)\n", command, program[0], WTERMSIG(ended),
                strsignal(WTERMSIG(ended)));
    }
    return true;
}
