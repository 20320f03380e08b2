/* SPDX-License-Identifier: Apache-2.0 */
#include "observed.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

bool observed_environment(const char *command, const struct tool_paths *paths, const char *tools, const char *folder)
{
    char observer[PATH_MAX + 32];
    snprintf(observer, sizeof observer, "%s/libmillrace-observer.so", paths->libraries);
    if (access(observer, R_OK) != 0)
        return observed_cannot(command, "cannot read", observer);
    if (!tool_environment(command))
        return false;
    if (setenv("MILLRACE_OBSERVE", tools, 1) == 0 && setenv("MILLRACE_OBSERVE_OUT", folder, 1) == 0 &&
        setenv("NVTX_INJECTION64_PATH", observer, 1) == 0)
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
