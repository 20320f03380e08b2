/* SPDX-License-Identifier: Apache-2.0 */
/* Running the compiler; see run.h.
 *
 * Input and outputs are memory files (memfd), so nothing can block on a full pipe and one wait is enough. The child
 * gets a clean signal mask and none of the variables that would change what clang does. A program that takes every
 * child's status for itself (SIGCHLD ignored) leaves us without one: the outputs then decide. */
#include "libs/nvrtc/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "libs/nvrtc/standby.h"

enum { INPUT, OUTPUT, MESSAGES, DEPENDS, FILES };

static bool write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t wrote = write(fd, data, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        data += wrote;
        size -= (size_t)wrote;
    }
    return lseek(fd, 0, SEEK_SET) == 0;
}

static void read_all(int fd, struct mr_text *text)
{
    char part[16384];
    off_t at = 0;
    for (;;) {
        ssize_t got = pread(fd, part, sizeof part, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        mr_text_add(text, part, (size_t)got);
        at += got;
    }
}

/* The environment without what steers clang from outside. The list is ours, its strings are not. */
static char **clean_environment(void)
{
    static const char *const dropped[] = {"CCC_",
                                          "CPATH=",
                                          "C_INCLUDE_PATH=",
                                          "CPLUS_INCLUDE_PATH=",
                                          "OBJC_INCLUDE_PATH=",
                                          "CC_PRINT_",
                                          "CC_LOG_",
                                          "CL=",
                                          "_CL_=",
                                          "CLANG_CONFIG_",
                                          "SOURCE_DATE_EPOCH=",
                                          "LD_PRELOAD=",
                                          "LIBRARY_PATH=",
                                          "CLANG_NO_DEFAULT_CONFIG=",
                                          "DEPENDENCIES_OUTPUT="};
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **clean = mr_calloc(count + 1, sizeof *clean);
    for (size_t i = 0; clean && i < count; i++) {
        bool keep = true;
        for (size_t j = 0; j < sizeof dropped / sizeof *dropped; j++)
            keep = keep && strncmp(environ[i], dropped[j], strlen(dropped[j])) != 0;
        if (keep)
            clean[kept++] = environ[i];
    }
    return clean;
}

int mr_run_start(char *const *words, const int *files, int count, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    char **environment = clean_environment();
    if (!environment)
        return ENOMEM;
    int reason = posix_spawn_file_actions_init(&actions);
    if (reason)
        goto no_actions;
    reason = posix_spawnattr_init(&attributes);
    if (reason)
        goto no_attributes;
    for (int i = 0; i < count && !reason; i++)
        reason = posix_spawn_file_actions_adddup2(&actions, files[i], i);
    if (!reason)
        reason = posix_spawn_file_actions_addclosefrom_np(&actions, count);
    if (!reason)
        reason = posix_spawnattr_setsigmask(&attributes, &none);
    if (!reason)
        reason = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!reason)
        reason = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!reason)
        reason = posix_spawnp(child, words[0], &actions, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
no_attributes:
    posix_spawn_file_actions_destroy(&actions);
no_actions:
    mr_free(environment);
    return reason;
}

static enum mr_run_status await(struct mr_run *run, pid_t child, bool *known)
{
    int status = 0;
    *known = true;
    for (;;) {
        pid_t ended = waitpid(child, &status, run->cancel ? WNOHANG : 0);
        if (ended == child)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? MR_RUN_DONE : MR_RUN_FAILED;
        if (ended < 0 && errno != EINTR) {
            *known = false;
            return MR_RUN_DONE;
        }
        if (ended == 0 && run->cancel && run->cancel(run->cancel_data, NULL) != 0) {
            kill(child, SIGKILL);
            while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
            return MR_RUN_CANCELLED;
        }
        if (ended == 0)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
}

enum mr_run_status mr_run(struct mr_run *run)
{
    int files[FILES];
    bool good = true, known = true;
    pid_t child;
    enum mr_run_status status = MR_RUN_NOT_STARTED;
    for (int i = 0; i < FILES; i++) {
        int fd = memfd_create("millrace-nvrtc", MFD_CLOEXEC);
        /* Above the numbers that the child's copies take, so that none lands on another. */
        files[i] = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 16) : -1;
        if (files[i] < 0)
            good = false;
        if (fd >= 0)
            close(fd);
    }
    run->reason = errno;
    if (good && !write_all(files[INPUT], run->input, run->input_length)) {
        run->reason = errno;
        good = false;
    }
    if (good && run->standby) {
        status = mr_standby_run(run->standby, files, run->cancel, run->cancel_data);
    } else if (good) {
        run->reason = mr_run_start(run->words, files, FILES, &child);
        if (!run->reason)
            status = await(run, child, &known);
    }
    if (good) {
        if (status == MR_RUN_DONE || status == MR_RUN_FAILED) {
            read_all(files[OUTPUT], &run->output);
            read_all(files[MESSAGES], &run->messages);
            read_all(files[DEPENDS], &run->depends);
        }
        if (!known && (!run->output.length || strstr(mr_text_chars(&run->messages), "error:")))
            status = MR_RUN_FAILED;
    }
    for (int i = 0; i < FILES; i++)
        if (files[i] >= 0)
            close(files[i]);
    return status;
}

void mr_run_forget(struct mr_run *run)
{
    mr_text_clear(&run->output);
    mr_text_clear(&run->messages);
    mr_text_clear(&run->depends);
}

enum mr_run_status mr_run_again(struct mr_run *run, struct mr_run *next, const struct mr_words *words,
                                const struct mr_text *input)
{
    *next = (struct mr_run){.words = words->items,
                            .input = input ? mr_text_chars(input) : run->input,
                            .input_length = input ? input->length : run->input_length,
                            .cancel = run->cancel,
                            .cancel_data = run->cancel_data,
                            .reason = ENOMEM};
    enum mr_run_status status = words->failed || (input && input->failed) ? MR_RUN_NOT_STARTED : mr_run(next);
    if (status != MR_RUN_DONE)
        run->reason = next->reason;
    return status;
}
