/* SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libs/observer/identity.h"
#include "observed.h"

/* In the child: what it says goes into the file. Each trial has a group of processes of its own, so that all of them
 * can be ended. */
static void become(const struct trial *trial, char **program, int output)
{
    char tools[sizeof trial->schedule + 16];
    snprintf(tools, sizeof tools, "schedule:%s", trial->schedule);
    bool good = setpgid(0, 0) == 0 && dup2(output, 1) == 1 && dup2(output, 2) == 2 &&
                setenv("MILLRACE_WORKERS", "1", 0) == 0 && setenv("MILLRACE_OBSERVE_OUT", trial->folder, 1) == 0;
    if (*trial->schedule)
        good = good && setenv("MILLRACE_OBSERVE", tools, 1) == 0;
    else
        good = good && unsetenv("MILLRACE_OBSERVE") == 0;
    if (!good)
        _exit(126);
    execvp(program[0], program);
    int reason = errno;
    fprintf(stderr, "cannot start '%s': %s\n", program[0], strerror(reason));
    fflush(stderr);
    _exit(reason == ENOENT ? 127 : 126);
}

bool trial_start(struct trial *trial, const char *command, char **program, const char *above, const char *name)
{
    char output[PATH_MAX + 16];
    snprintf(trial->folder, sizeof trial->folder, "%.3000s/%.500s", above, name);
    snprintf(output, sizeof output, "%s/output", trial->folder);
    trial->status = 0;
    trial->out_of_time = false;
    if (mkdir(trial->folder, 0777) != 0)
        return observed_cannot(command, "cannot make the folder", trial->folder);
    int file = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        return observed_cannot(command, "cannot write", output);
    fflush(NULL);
    trial->process = fork();
    if (trial->process == 0)
        become(trial, program, file);
    int reason = errno;
    close(file);
    errno = reason;
    if (trial->process > 0)
        return true;
    trial->process = 0;
    return observed_cannot(command, "cannot start", program[0]);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Has it ended? */
static bool look_at(struct trial *trial, bool wait)
{
    int status;
    pid_t ended;
    do
        ended = waitpid(trial->process, &status, wait ? 0 : WNOHANG);
    while (ended < 0 && errno == EINTR);
    if (ended == 0)
        return false;
    kill(-trial->process, SIGKILL); /* what it has left behind */
    trial->process = 0;
    trial->status = ended < 0 ? 125 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

struct trial *trial_wait(struct trial *trials, size_t count)
{
    for (;;) {
        bool any = false;
        for (size_t i = 0; i < count; i++) {
            struct trial *trial = &trials[i];
            if (!trial->process)
                continue;
            any = true;
            if (look_at(trial, false))
                return trial;
            if (trial->deadline && now() > trial->deadline) {
                kill(-trial->process, SIGKILL);
                look_at(trial, true);
                trial->out_of_time = true;
                return trial;
            }
        }
        if (!any)
            return NULL;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
}

bool trial_run(struct trial *trial, const char *command, char **program, const char *above, const char *name)
{
    return trial_start(trial, command, program, above, name) && trial_wait(trial, 1);
}

FILE *trial_output(const struct trial *trial)
{
    char output[PATH_MAX + 16];
    snprintf(output, sizeof output, "%s/output", trial->folder);
    return fopen(output, "re");
}

uint64_t trial_output_sum(const struct trial *trial)
{
    char output[PATH_MAX + 16];
    snprintf(output, sizeof output, "%s/output", trial->folder);
    return obs_identity(output);
}

/* ---- what it left ---- */

cJSON *trial_read_json(const char *command, const char *path, const char *what)
{
    struct stat status;
    FILE *file = fopen(path, "re");
    char *text = file && fstat(fileno(file), &status) == 0 ? malloc((size_t)status.st_size + 1) : NULL;
    size_t size = text ? fread(text, 1, (size_t)status.st_size, file) : 0;
    bool good = text && !ferror(file);
    int reason = errno;
    if (file)
        fclose(file);
    errno = reason;
    cJSON *root = good ? cJSON_ParseWithLength(text, size) : NULL;
    if (!good)
        observed_cannot(command, "cannot read", path);
    else if (!root)
        fprintf(stderr, "millrace %s: %s is cut short, or is no %s\n", command, path, what);
    free(text);
    return root;
}

static int is_schedule(const struct dirent *entry)
{
    static const char end[] = ".schedule.json";
    size_t length = strlen(entry->d_name);
    return length > sizeof end - 1 && strcmp(entry->d_name + length - (sizeof end - 1), end) == 0;
}

bool trial_results(const struct trial *trial, const char *command, void (*each)(const cJSON *root, void *data),
                   void *data)
{
    struct dirent **entries;
    int count = scandir(trial->folder, &entries, is_schedule, versionsort);
    bool good = true;
    if (count < 0)
        return observed_cannot(command, "cannot read the folder", trial->folder);
    for (int i = 0; i < count; i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", trial->folder, entries[i]->d_name);
        cJSON *root = trial_read_json(command, path, "file of a schedule");
        if (root)
            each(root, data);
        good = good && root;
        cJSON_Delete(root);
        free(entries[i]);
    }
    free(entries);
    return good;
}
