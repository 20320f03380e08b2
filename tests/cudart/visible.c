/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA_VISIBLE_DEVICES that leaves no device: what the runtime's calls answer in a process of their own, as NVIDIA's
 * runtime 13.0 does. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what) ((what) ? (void)0 : (fprintf(stderr, "visible.c:%d: not so: %s\n", __LINE__, #what), _exit(1)))

static void answers(cudaError_t status)
{
    int count = -7, device = -7, version = -7;
    void *memory = (void *)1;
    CHECK(cudaGetDeviceCount(&count) == status && count == -7);
    CHECK(cudaGetLastError() == status);
    CHECK(cudaMalloc(&memory, 16) == status && memory == (void *)1);
    CHECK(cudaSetDevice(0) == status);
    CHECK(cudaGetDevice(&device) == status && device == -7);
    CHECK(cudaFree(NULL) == status);
    CHECK(cudaDeviceSynchronize() == status);
    CHECK(cudaDriverGetVersion(&version) == cudaSuccess && version == 13000);
    unsetenv("CUDA_VISIBLE_DEVICES"); /* the first call's counts */
    CHECK(cudaGetDeviceCount(&count) == status && count == -7);
    CHECK(cudaMalloc(&memory, 16) == status);
}

int main(void)
{
    static const struct {
        const char *list;
        cudaError_t status;
    } forms[] = {
        {"-1", cudaErrorNoDevice}, {"", cudaErrorNoDevice}, {"5", cudaErrorNoDevice}, {"0,0", cudaErrorInvalidDevice}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            setenv("CUDA_VISIBLE_DEVICES", forms[i].list, 1);
            answers(forms[i].status);
            _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            return 1;
    }
    return 0;
}
