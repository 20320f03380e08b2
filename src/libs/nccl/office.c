/* SPDX-License-Identifier: Apache-2.0 */
/* Offices: making one's own, what is free in it, opening those of others. */
#define _GNU_SOURCE
#include "libs/nccl/office.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "libs/math/driver.h"

#define SEGMENT_LEAST ((size_t)64 << 10)
#define CLASSES 40u

struct mr_peer {
    struct mr_peer *next;
    struct mr_office *office;
    struct mr_share_handle handle;
    unsigned references;
    bool own;
    _Atomic(char *) segment[MR_OFFICE_SEGMENTS];
};

/* What is free: numbers on a stack that grows with the highest number that was ever taken. */
struct free_list {
    uint32_t *number;
    uint32_t count, ever;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all that follows */
static struct mr_share share;
static struct mr_office *own;
static struct free_list flags, postings;
static struct {
    uint32_t count;
    char *at[MR_OFFICE_SEGMENTS];
    unsigned char class[MR_OFFICE_SEGMENTS];
    uint32_t next[MR_OFFICE_SEGMENTS], head[CLASSES]; /* free ones by the logarithm of their size; counted from 1 */
} segments;
static struct mr_peer *peers;

static void *map(int fd, size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

struct mr_office *mr_office_own(void)
{
    pthread_mutex_lock(&lock);
    if (!own) {
        flags.number = malloc(MR_OFFICE_FLAGS * sizeof *flags.number);
        postings.number = malloc(MR_OFFICE_POSTINGS * sizeof *postings.number);
        if (flags.number && postings.number && mr_share_create(sizeof *own, &share) &&
            !(own = map(share.fd, sizeof *own)))
            mr_share_destroy(&share);
    }
    struct mr_office *office = own;
    CUresult status = CUDA_SUCCESS;
    unsigned kind = 0;
    /* The context that knew the flags may have ended. */
    if (own && mr_math_driver.cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                    (CUdeviceptr)(uintptr_t)own->flag) != CUDA_SUCCESS)
        status = mr_math_driver.cuMemHostRegister_v2(own->flag, sizeof own->flag, CU_MEMHOSTREGISTER_PORTABLE);
    if (status != CUDA_SUCCESS) {
        mr_log(MR_LOG_WARN, "NCCL: the driver can't watch memory for it (status %d)", (int)status);
        office = NULL;
    }
    pthread_mutex_unlock(&lock);
    return office;
}

struct mr_share_handle mr_office_handle(void)
{
    struct mr_share_handle handle;
    static const uint64_t value[3];
    mr_share_handle_make(&share, MR_SHARE_MEMORY, value, &handle);
    return handle;
}

/* ---- others ---- */

static struct mr_peer *peer_new(const struct mr_share_handle *handle)
{
    struct mr_peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    peer->handle = *handle;
    peer->own = mr_share_handle_is_own(handle);
    size_t size = 0;
    int fd = peer->own ? -1 : mr_share_open(handle, &size);
    if (peer->own)
        peer->office = own;
    else if (fd >= 0 && size == sizeof *peer->office)
        peer->office = map(fd, size);
    if (fd >= 0)
        close(fd);
    if (!peer->office) {
        free(peer);
        return NULL;
    }
    peer->next = peers;
    peers = peer;
    return peer;
}

struct mr_peer *mr_peer_open(const struct mr_share_handle *handle)
{
    pthread_mutex_lock(&lock);
    struct mr_peer *peer = peers;
    while (peer && memcmp(&peer->handle, handle, sizeof *handle) != 0)
        peer = peer->next;
    if (!peer)
        peer = peer_new(handle);
    if (peer)
        peer->references++;
    pthread_mutex_unlock(&lock);
    return peer;
}

void mr_peer_close(struct mr_peer *peer)
{
    pthread_mutex_lock(&lock);
    if (--peer->references == 0) {
        struct mr_peer **link = &peers;
        while (*link != peer)
            link = &(*link)->next;
        *link = peer->next;
        for (uint32_t i = 0; i < MR_OFFICE_SEGMENTS && !peer->own; i++)
            if (peer->segment[i])
                munmap(peer->segment[i], peer->office->segment[i].size);
        if (!peer->own)
            munmap(peer->office, sizeof *peer->office);
        free(peer);
    }
    pthread_mutex_unlock(&lock);
}

struct mr_office *mr_peer_office(struct mr_peer *peer)
{
    return peer->office;
}

char *mr_peer_segment(struct mr_peer *peer, uint32_t segment)
{
    if (segment == 0 || segment > MR_OFFICE_SEGMENTS)
        return NULL;
    if (peer->own)
        return mr_office_segment(segment);
    char *at = atomic_load_explicit(&peer->segment[segment - 1], memory_order_acquire);
    if (at)
        return at;
    pthread_mutex_lock(&lock);
    at = peer->segment[segment - 1];
    if (!at) {
        size_t size = 0;
        int fd = mr_share_open(&peer->office->segment[segment - 1].handle, &size);
        if (fd >= 0 && size == peer->office->segment[segment - 1].size)
            at = map(fd, size);
        if (fd >= 0)
            close(fd);
        atomic_store_explicit(&peer->segment[segment - 1], at, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return at;
}

/* ---- what is free ---- */

static bool take(struct free_list *list, uint32_t limit, uint32_t count, uint32_t *numbers)
{
    pthread_mutex_lock(&lock);
    bool enough = list->count + (limit - list->ever) >= count;
    for (uint32_t i = 0; i < count && enough; i++)
        numbers[i] = list->count ? list->number[--list->count] : list->ever++;
    pthread_mutex_unlock(&lock);
    return enough;
}

static void give(struct free_list *list, uint32_t count, const uint32_t *numbers)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < count; i++)
        list->number[list->count++] = numbers[i];
    pthread_mutex_unlock(&lock);
}

bool mr_office_take_flag(uint32_t *flag)
{
    return take(&flags, MR_OFFICE_FLAGS, 1, flag);
}

void mr_office_give_flag(uint32_t flag)
{
    give(&flags, 1, &flag);
}

bool mr_office_take_postings(uint32_t count, uint32_t *numbers)
{
    return take(&postings, MR_OFFICE_POSTINGS, count, numbers);
}

void mr_office_give_postings(uint32_t count, const uint32_t *numbers)
{
    give(&postings, count, numbers);
}

/* ---- segments ---- */

static uint32_t segment_new(unsigned class)
{
    size_t size = SEGMENT_LEAST << class;
    struct mr_share file;
    static const uint64_t value[3];
    if (segments.count == MR_OFFICE_SEGMENTS || !mr_share_create(size, &file))
        return 0;
    char *at = map(file.fd, size);
    if (!at) {
        mr_share_destroy(&file);
        return 0;
    }
    uint32_t number = segments.count++;
    segments.at[number] = at;
    segments.class[number] = (unsigned char)class;
    mr_share_handle_make(&file, MR_SHARE_MEMORY, value, &own->segment[number].handle);
    own->segment[number].size = size;
    return number + 1;
}

uint32_t mr_office_take_segment(size_t size)
{
    unsigned class = 0;
    while (class < CLASSES && SEGMENT_LEAST << class < size)
        class ++;
    if (class == CLASSES)
        return 0;
    pthread_mutex_lock(&lock);
    uint32_t number = segments.head[class];
    if (number)
        segments.head[class] = segments.next[number - 1];
    else
        number = segment_new(class);
    pthread_mutex_unlock(&lock);
    return number;
}

void mr_office_give_segment(uint32_t segment)
{
    pthread_mutex_lock(&lock);
    unsigned class = segments.class[segment - 1];
    segments.next[segment - 1] = segments.head[class];
    segments.head[class] = segment;
    pthread_mutex_unlock(&lock);
}

char *mr_office_segment(uint32_t segment)
{
    return segments.at[segment - 1];
}
