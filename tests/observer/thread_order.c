/* SPDX-License-Identifier: Apache-2.0 */
/* thread_order CASE: a thread fills device memory in a stream and waits for it; another thread copies it out in another
 * stream, behind what the case does to order the two: "flag" does it in a way that nobody sees, "nothing" and "waited"
 * by chance alone, and the others by a function for that. In "waited" the first thread has waited for the other's
 * stream, which tells that stream nothing. It is compiled by `millrace cc --check`. */
#include <cuda.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "call_check.h"

enum { SIZE = 4096 };

static CUcontext context;
static CUdeviceptr memory;
static CUstream shared;
static unsigned char *pinned, bytes[SIZE];
static const char *how;

static atomic_bool flag;
static bool ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static mtx_t mutex_11;
static cnd_t condition_11;

static bool is(const char *name)
{
    return strcmp(how, name) == 0;
}

static void fill(void)
{
    CUstream stream;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemsetD8Async(memory, 7, SIZE, stream));
    CHECK(cuStreamSynchronize(stream));
    for (int i = 0; i < SIZE; i++)
        pinned[i] = 7;
    CHECK(cuStreamSynchronize(shared));
}

static void use(void)
{
    CUstream stream = shared;
    CHECK(cuCtxSetCurrent(context));
    if (!is("waited"))
        CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemcpyDtoHAsync(bytes, memory, SIZE, stream));
    CHECK(cuMemcpyHtoDAsync(memory, pinned, SIZE, stream));
    CHECK(cuStreamSynchronize(stream));
}

/* Whether it is ready, under the lock of the case. */
static bool look(void)
{
    bool now;
    if (is("rwlock"))
        pthread_rwlock_rdlock(&both);
    else if (is("spin"))
        pthread_spin_lock(&spin);
    else
        pthread_mutex_lock(&mutex);
    now = ready;
    if (is("rwlock"))
        pthread_rwlock_unlock(&both);
    else if (is("spin"))
        pthread_spin_unlock(&spin);
    else
        pthread_mutex_unlock(&mutex);
    return now;
}

static void announce(void)
{
    if (is("rwlock"))
        pthread_rwlock_wrlock(&both);
    else if (is("spin"))
        pthread_spin_lock(&spin);
    else if (is("condition-11"))
        mtx_lock(&mutex_11);
    else if (is("mutex") || is("condition"))
        pthread_mutex_lock(&mutex);
    ready = true;
    if (is("rwlock"))
        pthread_rwlock_unlock(&both);
    else if (is("spin"))
        pthread_spin_unlock(&spin);
    else if (is("condition-11")) {
        cnd_signal(&condition_11);
        mtx_unlock(&mutex_11);
    } else if (is("mutex") || is("condition")) {
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
    } else if (is("barrier")) {
        pthread_barrier_wait(&barrier);
    } else if (is("semaphore")) {
        sem_post(&semaphore);
    }
    flag = true;
}

static void *writer(void *unused)
{
    (void)unused;
    if (is("once"))
        pthread_once(&once, fill);
    else
        fill();
    announce();
    return NULL;
}

static int writer_11(void *unused)
{
    writer(unused);
    return 0;
}

/* Waits until the writer has announced it. */
static void wait_for_it(pthread_t thread)
{
    if (is("join")) {
        pthread_join(thread, NULL);
    } else if (is("barrier")) {
        pthread_barrier_wait(&barrier);
    } else if (is("semaphore")) {
        sem_wait(&semaphore);
    } else if (is("condition")) {
        pthread_mutex_lock(&mutex);
        while (!ready)
            pthread_cond_wait(&condition, &mutex);
        pthread_mutex_unlock(&mutex);
    } else if (is("condition-11")) {
        mtx_lock(&mutex_11);
        while (!ready)
            cnd_wait(&condition_11, &mutex_11);
        mtx_unlock(&mutex_11);
    } else if (is("mutex") || is("rwlock") || is("spin")) {
        while (!look())
            thrd_yield();
    } else {
        while (!flag)
            thrd_yield();
        if (is("once"))
            pthread_once(&once, fill);
    }
}

int main(int count, char **arguments)
{
    CUdevice device;
    pthread_t thread = 0;
    thrd_t thread_11;
    how = count > 1 ? arguments[1] : "";
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&memory, SIZE));
    CHECK(cuStreamCreate(&shared, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAllocHost((void **)&pinned, SIZE));
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_spin_init(&spin, 0);
    sem_init(&semaphore, 0, 0);
    mtx_init(&mutex_11, mtx_plain);
    cnd_init(&condition_11);
    if (is("create")) {
        fill(); /* and the other thread uses it */
        use();
    }
    if (is("join-11") ? thrd_create(&thread_11, writer_11, NULL) != thrd_success
                      : pthread_create(&thread, NULL, writer, NULL) != 0)
        return 3;
    if (is("join-11"))
        thrd_join(thread_11, NULL);
    else if (!is("create"))
        wait_for_it(thread);
    if (!is("create"))
        use();
    for (int i = 0; i < SIZE; i++)
        if (bytes[i] != 7)
            return 4;
    if (!is("join") && !is("join-11"))
        pthread_join(thread, NULL);
    return 0;
}
