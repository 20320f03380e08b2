/* SPDX-License-Identifier: Apache-2.0 */
/* driver LIBRARY TOOLS [DO...]: opens the observer's library as the driver does and calls its functions. What to do:
 * "call" (twelve calls inside each other), "stop" (cuProfilerStop), "begin" (a work), "later" (one that is queued now
 * and runs in a while), "may N" (of stream N), "fork" (a child ends the process), "finish N" (by signal N), "show FILE"
 * (its first line), "until FILE LINE" (calls, until that is its first line). Ends with 3 if the library refuses. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "observe/calls.h"
#include "observe/observe.h"

static const struct mr_observer *observer;

static void *function(const char *name)
{
    return strcmp(name, "cuInit") == 0 ? (void *)1 : NULL;
}

static void call(uint64_t number, uint64_t last, enum mr_call which)
{
    struct mr_observed_call here = {.call = which, .number = number};
    observer->enter(&here);
    if (number < last)
        call(number + 1, last, which);
    observer->leave(&here, (CUresult)number);
}

static void *work_later(void *unused)
{
    struct mr_observed_work work = {.work = 1};
    usleep(300000);
    observer->begin(&work);
    observer->end(&work, CUDA_SUCCESS);
    return unused;
}

static const char *first_line(const char *path)
{
    static char text[200];
    FILE *file = fopen(path, "r");
    text[0] = 0;
    if (file && !fgets(text, sizeof text, file))
        text[0] = 0;
    if (file)
        fclose(file);
    text[strcspn(text, "\n")] = 0;
    return text;
}

int main(int argc, char **argv)
{
    const struct mr_observed_driver driver = {.version = MR_OBSERVER_VERSION, .function = function};
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    mr_observer_open *start = library ? (mr_observer_open *)dlsym(library, MR_OBSERVER_SYMBOL) : NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!start) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    observer = start(&driver, argv[2]);
    if (!observer)
        return 3;
    printf("points %u\n", observer->points);
    for (int i = 3; i < argc; i++) {
        struct mr_observed_work work = {.work = (uint64_t)i};
        if (strcmp(argv[i], "call") == 0) {
            call(1, 12, MR_CALL_cuCtxSynchronize);
        } else if (strcmp(argv[i], "stop") == 0) {
            call(1, 1, MR_CALL_cuProfilerStop);
        } else if (strcmp(argv[i], "begin") == 0) {
            observer->begin(&work);
        } else if (strcmp(argv[i], "may") == 0) {
            work.stream = strtoull(argv[++i], NULL, 10);
            printf("may: %s\n", observer->may_begin(&work) ? "yes" : "no");
        } else if (strcmp(argv[i], "later") == 0) {
            pthread_t thread;
            observer->bind(&work);
            if (pthread_create(&thread, NULL, work_later, NULL) != 0)
                return 2;
        } else if (strcmp(argv[i], "fork") == 0) {
            pid_t child = fork();
            if (child == 0) {
                call(1, 1, MR_CALL_cuCtxSynchronize);
                observer->finish(0);
                _exit(0);
            }
            waitpid(child, NULL, 0);
        } else if (strcmp(argv[i], "finish") == 0) {
            observer->finish(atoi(argv[++i]));
        } else if (strcmp(argv[i], "show") == 0) {
            printf("file: %s\n", first_line(argv[++i]));
        } else if (strcmp(argv[i], "until") == 0) {
            for (i += 2; strcmp(first_line(argv[i - 1]), argv[i]) != 0;)
                call(1, 1, MR_CALL_cuCtxSynchronize);
        }
    }
    return 0;
}
