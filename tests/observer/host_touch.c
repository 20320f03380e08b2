/* SPDX-License-Identifier: Apache-2.0 */
/* host_touch CASE: the host touches memory that a stream uses, too early or in time. It is compiled by `millrace cc
 * --check`, so an observer sees it. */
#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call_check.h"

enum { SIZE = 4096, HALF = SIZE / 2 };

static CUstream stream, other;
static CUevent event;
static CUdeviceptr device;
static unsigned char *pinned, *registered;
static CUdeviceptr managed;
static atomic_bool go;
static volatile unsigned sum;
static unsigned char fixed[SIZE]; /* registered; read and written at places that the compiler knows */
static unsigned lone;

static __attribute__((noinline)) void read_bytes(const unsigned char *bytes, int count)
{
    unsigned all = 0;
    for (int i = 0; i < count; i++)
        all += bytes[i];
    sum = all;
}

static __attribute__((noinline)) void write_bytes(unsigned char *bytes, int count)
{
    for (int i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i * 7);
}

/* Functions of the C library that touch the bytes by their argument: as many as 600 of them. False: unknown. */
static bool by_library(const char *name)
{
    char *text = (char *)pinned, own[1024];
    int pipes[2];
    FILE *null = fopen("/dev/null", "w");
    memset(own, 'x', sizeof own);
    if (!null || pipe(pipes) != 0)
        exit(2);
    if (strcmp(name, "strlen") == 0)
        sum += strlen(text);
    else if (strcmp(name, "strcmp") == 0)
        sum += strcmp(text, own) != 0;
    else if (strcmp(name, "memcmp") == 0)
        sum += memcmp(text, own, 600) != 0;
    else if (strcmp(name, "strcpy") == 0)
        strcpy(own, text);
    else if (strcmp(name, "strcpy-to") == 0)
        own[600] = 0, strcpy(text, own);
    else if (strcmp(name, "write") == 0)
        sum += write(pipes[1], text, 600) != 600;
    else if (strcmp(name, "read") == 0)
        sum += write(pipes[1], own, 600) != 600 || read(pipes[0], text, 900) != 600;
    else if (strcmp(name, "fwrite") == 0)
        sum += fwrite(text, 6, 100, null) != 100;
    else if (strcmp(name, "fprintf") == 0)
        fprintf(null, "%d %% %-*.*f %s %ld\n", 1, 5, 2, 0.5, text, 2L);
    else if (strcmp(name, "precision") == 0)
        fprintf(null, "%.*s %.3s", 600, text, own);
    else if (strcmp(name, "snprintf") == 0)
        snprintf(text, 600, "%01000d", 5);
    else if (strcmp(name, "nothing-of-it") == 0) /* no byte that the copy writes */
        fprintf(null, "%.0s %p", text, (void *)text);
    else
        return false;
    fclose(null);
    close(pipes[0]);
    close(pipes[1]);
    return true;
}

/* Loads and stores the same place. */
static __attribute__((noinline)) void change_byte(unsigned char *byte)
{
    *byte = (unsigned char)(*byte + 1);
}

static void CUDA_CB function(void *data)
{
    while (!go)
        ;
    write_bytes(data, HALF);
}

static void *synchronise(void *unused)
{
    (void)unused;
    CHECK(cuStreamSynchronize(stream));
    return NULL;
}

/* Reads, and ends: the last of these bytes have not been told of then. */
static void *read_much(void *unused)
{
    (void)unused;
    read_bytes(pinned, 3000);
    return NULL;
}

static void copy_out(void)
{
    CHECK(cuMemcpyDtoHAsync(pinned, device, HALF, stream));
}

static void copy_in(void)
{
    CHECK(cuMemcpyHtoDAsync(device, pinned, HALF, stream));
}

static int run(const char *name)
{
    pthread_t thread;
    unsigned char own[SIZE];
    if (strcmp(name, "read-early") == 0) {
        copy_out();
        read_bytes(pinned, SIZE);
    } else if (strcmp(name, "change-early") == 0) {
        copy_in();
        change_byte(pinned + 1);
    } else if (strcmp(name, "read-late") == 0) {
        copy_out();
        CHECK(cuStreamSynchronize(stream));
        read_bytes(pinned, SIZE);
    } else if (strcmp(name, "read-beside") == 0) {
        copy_out();
        read_bytes(pinned + HALF, HALF);
    } else if (strcmp(name, "both-read") == 0) {
        copy_in();
        read_bytes(pinned, SIZE);
    } else if (strcmp(name, "write-early") == 0) {
        copy_in();
        write_bytes(pinned + HALF - 1, HALF);
    } else if (strcmp(name, "write-before") == 0) {
        write_bytes(pinned, SIZE);
        copy_in();
    } else if (strcmp(name, "set-early") == 0) {
        copy_in();
        memset(pinned, 1, SIZE);
    } else if (strcmp(name, "registered") == 0) {
        CHECK(cuMemcpyDtoHAsync(registered, device, HALF, stream));
        read_bytes(registered, 1);
    } else if (strcmp(name, "array") == 0) {
        CHECK(cuMemHostRegister(fixed, SIZE, 0));
        CHECK(cuMemcpyDtoHAsync(fixed, device, SIZE, stream));
        sum = fixed[SIZE - 1];
    } else if (strcmp(name, "variable") == 0) {
        CHECK(cuMemHostRegister(&lone, sizeof lone, 0));
        CHECK(cuMemcpyHtoDAsync(device, &lone, sizeof lone, stream));
        lone = 7;
    } else if (strcmp(name, "managed") == 0) {
        CHECK(cuMemsetD8Async(managed, 1, SIZE, stream));
        read_bytes((const unsigned char *)(uintptr_t)managed, 1);
    } else if (strcmp(name, "thread-ends") == 0) { /* what it has read last counts */
        CHECK(cuMemcpyDtoHAsync(pinned + 3000 - 64, device, 64, stream));
        CHECK((CUresult)pthread_create(&thread, NULL, read_much, NULL));
        pthread_join(thread, NULL);
    } else if (strcmp(name, "thread-waits") == 0) {
        copy_out();
        CHECK((CUresult)pthread_create(&thread, NULL, synchronise, NULL));
        pthread_join(thread, NULL);
        read_bytes(pinned, SIZE);
    } else if (strcmp(name, "function") == 0 || strcmp(name, "function-in-order") == 0) {
        CHECK(cuLaunchHostFunc(other, function, pinned));
        CHECK(cuEventRecord(event, other));
        if (strcmp(name, "function") != 0)
            CHECK(cuStreamWaitEvent(stream, event, 0));
        copy_in();
        go = true;
    } else if (strcmp(name, "own") == 0) {
        copy_in();
        write_bytes(own, SIZE);
        read_bytes(own, SIZE);
        write_bytes(registered + SIZE, SIZE);
    } else if (strncmp(name, "library:", 8) == 0) {
        memset(pinned, 'y', 600);
        pinned[600] = 0;
        if (strcmp(name + 8, "snprintf") == 0 || strcmp(name + 8, "read") == 0 || strcmp(name + 8, "strcpy-to") == 0)
            copy_in();
        else
            copy_out();
        if (!by_library(name + 8))
            return 2;
    } else {
        return 2;
    }
    CHECK(cuCtxSynchronize());
    return 0;
}

int main(int argc, char **argv)
{
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemAlloc(&device, SIZE));
    CHECK(cuMemAllocHost((void **)&pinned, SIZE));
    CHECK(cuMemAllocManaged(&managed, SIZE, CU_MEM_ATTACH_GLOBAL));
    registered = aligned_alloc(4096, 2 * SIZE);
    CHECK(cuMemHostRegister(registered, SIZE, 0));
    CHECK(cuMemsetD8(device, 'y', SIZE)); /* so that texts end where they did */
    CHECK(cuMemsetD8(device + 600, 0, 1));
    CHECK(cuCtxSynchronize());
    return argc == 2 ? run(argv[1]) : 2;
}
