/* SPDX-License-Identifier: Apache-2.0 */
/* A program that touches pinned memory in the way that its argument says, while a copy into it may be under way
 * (test_pages.py). It is wrong in exactly that respect, and checks all else: what it reads and writes, and that calls
 * of the system work on such memory. */
#include <cuda.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK(call) \
    do { \
        CUresult status = (call); \
        if (status != CUDA_SUCCESS) { \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, (int)status); \
            exit(9); \
        } \
    } while (0)

#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, strerror(errno)); \
            exit(9); \
        } \
    } while (0)

enum { BYTES = 1 << 20, PAGE = 4096 };

static unsigned char *pinned;
static CUdeviceptr memory;
static CUstream stream;
static CUcontext context;
static volatile unsigned sum;

/* Queues a fill of the device's memory and a copy of it into the pinned buffer. */
static void queue(unsigned char value)
{
    OK(cuMemsetD8Async(memory, value, BYTES, stream));
    OK(cuMemcpyDtoHAsync(pinned, memory, BYTES, stream));
}

static void wait_for_it(void)
{
    OK(cuStreamSynchronize(stream));
}

static void touch_read(void)
{
    sum += pinned[5 * PAGE + 7];
}

static void touch_write(void)
{
    pinned[5 * PAGE + 7] = 1;
}

static void by_write(void)
{
    int pipes[2];
    MUST(pipe(pipes) == 0 && write(pipes[1], pinned + PAGE, 64) == 64);
    close(pipes[0]);
    close(pipes[1]);
}

static void by_read(void)
{
    int zero = open("/dev/zero", O_RDONLY);
    struct iovec parts[2] = {{pinned + 2 * PAGE + 100, 2 * PAGE}, {pinned + 9 * PAGE, 1}};
    MUST(zero >= 0 && readv(zero, parts, 2) == 2 * PAGE + 1);
    close(zero);
}

static void by_library(void)
{
    char text[64];
    MUST(snprintf(text, sizeof text, "%.3s", (char *)pinned + 3 * PAGE) >= 0);
    memcpy(text, pinned + 4 * PAGE, sizeof text);
}

static void *with_signals_blocked(void *data)
{
    sigset_t all;
    (void)data;
    OK(cuCtxSetCurrent(context));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    touch_read();
    return NULL;
}

/* As threads of OpenMP do. */
static void *without_calls(void *data)
{
    (void)data;
    for (int i = 0; i < BYTES; i += 100)
        pinned[i] = (unsigned char)i;
    for (int i = 0; i < BYTES; i += 100)
        MUST(pinned[i] == (unsigned char)i);
    return NULL;
}

static void in_thread(void *(*run)(void *))
{
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, run, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

static void in_child(void)
{
    int status;
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0)
        _exit(pinned[0] > 1 || pinned[BYTES - 1] > 1);
    MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Much work, all of it waited for. */
static void clean(void)
{
    for (int round = 1; round < 20; round++) {
        queue((unsigned char)round);
        wait_for_it();
        for (int i = 0; i < BYTES; i++)
            MUST(pinned[i] == round);
        for (int i = 0; i < BYTES; i += round)
            pinned[i] = 200;
        OK(cuMemcpyHtoDAsync(memory, pinned, BYTES, stream));
        wait_for_it();
        memset(pinned, 0, BYTES);
        OK(cuMemcpyDtoH(pinned, memory, BYTES));
        for (int i = 0; i < BYTES; i++)
            MUST(pinned[i] == (i % round == 0 ? 200 : round));
    }
}

static CUresult allocate(const char *how)
{
    CUdeviceptr managed = 0;
    CUresult status = strcmp(how, "managed") == 0 ? cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL)
                                                  : cuMemAllocHost((void **)&pinned, BYTES);
    if (managed)
        pinned = (unsigned char *)managed;
    return status;
}

int main(int count, char **names)
{
    const char *how = count > 1 ? names[1] : "";
    CUdevice device;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, BYTES));
    OK(allocate(how));
    memset(pinned, 0, BYTES);
    if (strcmp(how, "clean") == 0)
        clean();
    queue(1);
    if (strcmp(how, "read") == 0 || strcmp(how, "managed") == 0)
        touch_read();
    else if (strcmp(how, "read-then-write") == 0) /* the same page, of which only the read comes first */
        touch_read(), touch_write();
    else if (strcmp(how, "write(2)") == 0)
        by_write();
    else if (strcmp(how, "readv(2)") == 0)
        by_read();
    else if (strcmp(how, "library") == 0)
        by_library();
    else if (strcmp(how, "signals") == 0)
        in_thread(with_signals_blocked);
    else if (strcmp(how, "unknown") == 0)
        in_thread(without_calls);
    else if (strcmp(how, "unknown-after") == 0)
        wait_for_it(), in_thread(without_calls);
    else if (strcmp(how, "fork") == 0)
        in_child();
    wait_for_it();
    touch_read();
    if (strcmp(how, "after") == 0) { /* the copy has been waited for, the next one has not */
        queue(2);
        wait_for_it();
        queue(3);
        touch_read();
        wait_for_it();
    }
    MUST(pinned[BYTES - 1] >= 1);
    if (strcmp(how, "managed") == 0)
        OK(cuMemFree((CUdeviceptr)pinned));
    else
        OK(cuMemFreeHost(pinned));
    /* What lies there later is other memory. */
    OK(allocate(how));
    memset(pinned, 7, BYTES);
    OK(cuMemcpyHtoD(memory, pinned, BYTES));
    OK(cuCtxSynchronize()); /* a copy between managed and device memory is not done yet */
    memset(pinned, 0, BYTES);
    OK(cuMemcpyDtoH(pinned, memory, BYTES));
    for (int i = 0; i < BYTES; i++)
        MUST(pinned[i] == 7);
    OK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
