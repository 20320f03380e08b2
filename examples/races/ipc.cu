/* SPDX-License-Identifier: Apache-2.0 */
/* A process uses another one's memory in two of its streams, which are not ordered. */
#include "race.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The other process: the handle comes by standard input. */
static int child()
{
    cudaIpcMemHandle_t handle;
    int *a, *b = new_buffer();
    if (std::fread(&handle, sizeof handle, 1, stdin) != 1)
        return 2;
    CHECK(cudaIpcOpenMemHandle((void **)&a, handle, cudaIpcMemLazyEnablePeerAccess));
    cudaStream_t writer = new_stream(), reader = new_stream();
    cudaEvent_t written = new_event();
    set<<<BLOCKS, THREADS, 0, writer>>>(a, 1);
    CHECK(cudaEventRecord(written, writer));
    if (mended)
        CHECK(cudaStreamWaitEvent(reader, written));
    add<<<BLOCKS, THREADS, 0, reader>>>(b, a, 1);
    int status = verdict_of_device(b, 2);
    CHECK(cudaIpcCloseMemHandle(a));
    return status;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    if (argc > 2)
        return child();
    int *a = new_buffer(), ends[2], status;
    cudaIpcMemHandle_t handle;
    pid_t process;
    CHECK(cudaIpcGetMemHandle(&handle, a));
    if (pipe(ends) != 0)
        return 2;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    char word[] = "mended", other[] = "as_it_is", role[] = "child";
    char *arguments[] = {argv[0], mended ? word : other, role, nullptr};
    if (posix_spawn(&process, "/proc/self/exe", &actions, nullptr, arguments, environ) != 0 ||
        write(ends[1], &handle, sizeof handle) != (ssize_t)sizeof handle || waitpid(process, &status, 0) != process)
        return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
