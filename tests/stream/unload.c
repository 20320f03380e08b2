/* SPDX-License-Identifier: Apache-2.0 */
/* A program that opens the driver at run time and closes it again while a stream is busy: the driver's threads must not
 * lose their code, and the driver must work when it is opened once more. */
#include <cuda.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic int entered, open, left;

static void CUDA_CB gate(void *data)
{
    (void)data;
    atomic_store(&entered, 1);
    while (!atomic_load(&open))
        sched_yield();
    atomic_store(&left, 1);
}

static void check(int line, int status)
{
    if (status != 0) {
        fprintf(stderr, "unload.c:%d: status %d\n", line, status);
        exit(1);
    }
}
#define CHECK(call) check(__LINE__, (int)(call))

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "%s is missing\n", name);
        exit(1);
    }
    return function;
}

int main(void)
{
    CUcontext context;
    CUstream stream;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    CHECK(((CUresult(*)(unsigned))find(library, "cuInit"))(0));
    CHECK(((CUresult(*)(CUcontext *, unsigned, CUdevice))find(library, "cuCtxCreate_v2"))(&context, 0, 0));
    CHECK(((CUresult(*)(CUstream *, unsigned))find(library, "cuStreamCreate"))(&stream, 0));
    CHECK(((CUresult(*)(CUstream, CUhostFn, void *))find(library, "cuLaunchHostFunc"))(stream, gate, NULL));
    while (!atomic_load(&entered))
        sched_yield();
    CHECK(dlclose(library));
    atomic_store(&open, 1);
    while (!atomic_load(&left))
        sched_yield();
    library = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(!library);
    CHECK(((CUresult(*)(unsigned))find(library, "cuInit"))(0));
    CHECK(((CUresult(*)(CUstream))find(library, "cuStreamSynchronize"))(stream));
    CHECK(((CUresult(*)(CUcontext))find(library, "cuCtxDestroy_v2"))(context));
    return 0;
}
