/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and an event shared with another process, which is this program run again. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

struct shared {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

/* The other process: waits for the event and doubles what is there. */
static int child(int pipe)
{
    struct shared handles;
    void *memory;
    cudaEvent_t event;
    int value = 0;
    HOLDS(read(pipe, &handles, sizeof handles) == (ssize_t)sizeof handles);
    OK(cudaIpcOpenMemHandle(&memory, handles.memory, cudaIpcMemLazyEnablePeerAccess));
    OK(cudaIpcOpenEventHandle(&event, handles.event));
    OK(cudaStreamWaitEvent(NULL, event, 0));
    OK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
    HOLDS(value == 21);
    value *= 2;
    OK(cudaMemcpy(memory, &value, sizeof value, cudaMemcpyHostToDevice));
    OK(cudaEventDestroy(event));
    OK(cudaIpcCloseMemHandle(memory));
    return finish();
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return child(atoi(argv[1]));
    struct shared handles;
    void *memory;
    cudaEvent_t event;
    int ends[2], status = 0, value = 21;
    char number[16];
    OK(cudaMalloc(&memory, sizeof value));
    OK(cudaMemcpy(memory, &value, sizeof value, cudaMemcpyHostToDevice));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
    OK(cudaEventRecord(event, NULL));
    OK(cudaIpcGetMemHandle(&handles.memory, memory));
    OK(cudaIpcGetEventHandle(&handles.event, event));
    GIVES(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handles.memory, &value));
    HOLDS(pipe(ends) == 0);
    snprintf(number, sizeof number, "%d", ends[0]);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", argv[0], number, (char *)NULL);
        _exit(127);
    }
    HOLDS(write(ends[1], &handles, sizeof handles) == (ssize_t)sizeof handles);
    HOLDS(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
    HOLDS(value == 42);
    OK(cudaEventDestroy(event));
    OK(cudaFree(memory));
    return finish();
}
