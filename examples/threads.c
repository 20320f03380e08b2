/* SPDX-License-Identifier: Apache-2.0 */
/* One context per host thread: each thread makes its own context, loads the kernel into it, runs it on its own array
 * and ends the context. Nothing is shared between the threads but the device. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"

enum { THREADS = 10 };

struct job {
    pthread_t thread;
    int length;
    float *in, *out;
};

static void *run_job(void *argument)
{
    struct job *job = argument;
    size_t bytes = (size_t)job->length * sizeof(float);
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction double_and_halve;
    CUdeviceptr array;
    CHECK(cuDeviceGet(&device, 0));
#if CUDA_VERSION >= 13000
    CHECK(cuCtxCreate(&context, NULL, 0, device));
#else
    CHECK(cuCtxCreate(&context, 0, device));
#endif
    CHECK(cuModuleLoadData(&module, example_kernels));
    CHECK(cuModuleGetFunction(&double_and_halve, module, "double_and_halve"));
    CHECK(cuMemAlloc(&array, bytes));
    CHECK(cuMemcpyHtoD(array, job->in, bytes));
    void *arguments[] = {&array, &job->length};
    CHECK(cuLaunchKernel(double_and_halve, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuMemcpyDtoH(job->out, array, bytes));
    CHECK(cuMemFree(array));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    return NULL;
}

int main(int argc, char **argv)
{
    struct job jobs[THREADS];
    int length = example_option(argc, argv, "--length", 1 << 20);
    CHECK(cuInit(0));
    for (int k = 0; k < THREADS; k++) {
        jobs[k].length = length;
        jobs[k].in = malloc((size_t)length * sizeof(float));
        jobs[k].out = malloc((size_t)length * sizeof(float));
        example_require(jobs[k].in && jobs[k].out, "memory for the arrays");
        example_fill(jobs[k].in, (size_t)length, (unsigned)k);
    }
    double begin = example_seconds();
    for (int k = 0; k < THREADS; k++)
        example_require(pthread_create(&jobs[k].thread, NULL, run_job, &jobs[k]) == 0, "a thread starts");
    for (int k = 0; k < THREADS; k++)
        pthread_join(jobs[k].thread, NULL);
    double seconds = example_seconds() - begin;
    for (int k = 0; k < THREADS; k++) {
        example_require(memcmp(jobs[k].in, jobs[k].out, (size_t)length * sizeof(float)) == 0,
                        "each array comes back as it was");
        free(jobs[k].in);
        free(jobs[k].out);
    }
    printf("%d threads with a context each: %.3f s\n", THREADS, seconds);
    return 0;
}
