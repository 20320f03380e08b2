/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own threads leave the program's signals alone: of each that can be made to start, the kernel is asked
 * which signals it blocks. */
#include <cuda.h>
#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(int line, CUresult status)
{
    if (status == CUDA_SUCCESS)
        return;
    fprintf(stderr, "signals.c:%d: status %d\n", line, (int)status);
    exit(1);
}
#define OK(call) check(__LINE__, call)

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    /* Spins until the word is 1. */
    ".visible .entry spin(.param .u64 word)\n{\n .reg .pred %p; .reg .b32 %r; .reg .b64 %rd;\n ld.param.u64 %rd, [word];\n"
    "again:\n ld.volatile.global.u32 %r, [%rd];\n setp.ne.u32 %p, %r, 1;\n @%p bra again;\n ret;\n}\n";

static const char *const expected[] = {"millrace-0", "millrace-poll", "millrace-log", "millrace-tiers"};
enum { EXPECTED = sizeof expected / sizeof *expected };

static const int blocked[] = {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGCHLD, SIGPROF, SIGIO};
static const int of_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

static bool has(uint64_t mask, int number)
{
    return mask >> (number - 1) & 1;
}

enum answer { RIGHT, BUSY, WRONG };

/* Looks at one thread of the process, and notes its name. WRONG if it doesn't block what it shall. A thread blocks
 * everything for a moment while it makes another: BUSY if it is there. */
static enum answer look(const char *task, bool seen[EXPECTED])
{
    char path[300], line[200], name[32] = "";
    uint64_t mask = 0;
    enum answer answer = RIGHT;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/status", task);
    FILE *file = fopen(path, "r");
    if (!file)
        return RIGHT;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "Name: %31s", name) != 1)
            sscanf(line, "SigBlk: %" SCNx64, &mask);
    fclose(file);
    if (strncmp(name, "millrace-", 9) != 0)
        return RIGHT;
    for (unsigned i = 0; i < EXPECTED; i++)
        seen[i] |= strcmp(name, expected[i]) == 0 || (i == 0 && name[9] >= '0' && name[9] <= '9');
    for (unsigned i = 0; i < sizeof of_faults / sizeof *of_faults; i++)
        answer = has(mask, of_faults[i]) ? BUSY : answer;
    for (unsigned i = 0; i < sizeof blocked / sizeof *blocked; i++)
        answer = has(mask, blocked[i]) ? answer : WRONG;
    if (answer == WRONG)
        fprintf(stderr, "signals.c: thread %s blocks %016" PRIx64 "\n", name, mask);
    return answer;
}

static enum answer look_at_all(bool seen[EXPECTED])
{
    enum answer worst = RIGHT;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        exit(77);
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;)
        if (entry->d_name[0] != '.') {
            enum answer answer = look(entry->d_name, seen);
            worst = answer > worst ? answer : worst;
        }
    closedir(tasks);
    return worst;
}

static void CUDA_CB hear(void *data, CUlogLevel level, char *message, size_t length)
{
    (void)data, (void)level, (void)message, (void)length;
}

int main(void)
{
    CUcontext context;
    CUstream stream, other;
    CUmodule module;
    CUfunction spin;
    CUdeviceptr word;
    CUlogsCallbackHandle callback;
    alarm(120);
    setenv("MILLRACE_CACHE", "off", 1);
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuLogsRegisterCallback(hear, NULL, &callback));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&word, 4));
    OK(cuMemsetD32(word, 0, 1));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&spin, module, "spin"));
    OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&word}, NULL));
    OK(cuStreamWaitValue32(other, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    bool seen[EXPECTED] = {false}, all = false;
    enum answer answer = RIGHT;
    /* A thread has its name a moment after it begins. Nothing but the alarm limits how long that may take. */
    while (answer != WRONG && !all) {
        sched_yield();
        answer = look_at_all(seen);
        all = answer == RIGHT;
        for (unsigned i = 0; i < EXPECTED; i++)
            all &= seen[i];
    }
    OK(cuMemsetD32Async(word, 1, 1, CU_STREAM_PER_THREAD));
    OK(cuCtxSynchronize());
    OK(cuLogsUnregisterCallback(callback));
    OK(cuCtxDestroy(context));
    return answer == RIGHT ? 0 : 1;
}
