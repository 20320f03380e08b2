/* SPDX-License-Identifier: Apache-2.0 */
/* What calls the runtime library that is linked with it: part of a program, and of shared objects. */
#include "carried.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CHECK(what) \
    do { \
        if (!(what)) { \
            printf("%s\n", #what); \
            return __LINE__; \
        } \
    } while (0)

/* Variables of each thread, which say whose they are. One object has many bytes of them, as big programs do; the
 * other's lie beside the program's own (the model initial-exec), where the loader has little room. */
#if VERSION == 12
static _Thread_local pthread_t own[16] __attribute__((tls_model("initial-exec")));
#else
static _Thread_local pthread_t own[1 << 13];
#endif

static int look_at_own_variables(void)
{
    pthread_t self = pthread_self(), expected = own[0];
    CHECK(expected == 0 || expected == self); /* 0 at the thread's first call */
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++) {
        CHECK(own[i] == expected);
        own[i] = self;
    }
    return 0;
}

static int copy_rows(unsigned char *device)
{
    unsigned char rows[4][8], back[4][8];
    for (int i = 0; i < 32; i++)
        rows[i / 8][i % 8] = (unsigned char)i;
    memset(back, 0xee, sizeof back);
    /* More arguments than registers hold: all must arrive, at the first call, too. */
    CHECK(cudaMemcpy2DAsync(device, 16, rows, 8, 5, 4, 1, NULL) == 0);
    CHECK(cudaMemcpy2DAsync(back, 8, device, 16, 5, 4, 2, NULL) == 0);
    CHECK(cudaStreamSynchronize(NULL) == 0);
    for (int i = 0; i < 32; i++)
        CHECK(back[i / 8][i % 8] == (i % 8 < 5 ? i : 0xee));
    return 0;
}

int carried_check(int *version)
{
    void *device = NULL;
    *version = -1;
    CHECK(cudaRuntimeGetVersion(version) == 0);
    CHECK(cudaMalloc(&device, 1024) == 0 && device);
    CHECK(cudaMemset(device, 1, 1024) == 0);
    int failed = copy_rows(device);
    CHECK(failed == 0);
    failed = look_at_own_variables();
    CHECK(failed == 0);
    CHECK(cudaFree(device) == 0);
    CHECK(cudaFree((void *)16) == 1);   /* cudaErrorInvalidValue: the one who answers is real */
    CHECK(cudaGetLastError() == 1);     /* and the short function is redirected */
    CHECK(cudaPeekAtLastError() == 0 && neighbour() == 42);
    CHECK(carried_runs == 0);
    return 0;
}

int carried_absent(void)
{
    return cudaUnbindTexture(NULL);
}

int carried_malloc(void **memory)
{
    return cudaMalloc(memory, 64);
}

const void *carried_function(void)
{
    return (const void *)(uintptr_t)&cudaMalloc;
}
