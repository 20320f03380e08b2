/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools between processes.
 *
 * A shareable pool has a file without a name (a memfd) from its birth on, and all its memory is pages of that file:
 * exporting the pool hands out a descriptor of it, and what is allocated afterwards is in it too. The file's first page
 * says what it is. It can't be made shorter by anybody, so no holder of a descriptor can take pages away from the
 * others; and it goes when the last process that holds it has gone, however that ended.
 *
 * An exported pointer is a place in the file, with the file's token. Importing it maps those pages. Blocks of shareable
 * pools are whole pages, so nothing else is mapped with them. Importers and the exporter don't hear of each other: the
 * programs order which frees first, as the manual says; memory that the exporter freed too early stays mapped, and may
 * be part of something new. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/log.h"
#include "memory/mempool_private.h"
#include "memory/space.h"
#include "share/share.h"

#define MAGIC 0x6c6f6f70696c6c69u
#define POINTER_MAGIC 0x706f6f6c70747231u
#define VERSION 1u
#define SEALS (F_SEAL_SHRINK | F_SEAL_SEAL)
#define FIRST MR_EXTENT_CHUNK         /* where the memory begins in the file */

/* The start of the file. */
struct header {
    uint64_t magic;
    uint32_t version, handle_types;
    struct mr_token token;
    CUmemLocation location;
    uint64_t most;                    /* maxSize */
    uint32_t usage, spare;
};

struct mr_pool_share {
    int fd;
    size_t size;                      /* of the file; under the pool's lock */
    bool exported; /* a descriptor was given out: from then on pointers can be; under the pool's lock */
    struct mr_token token;
};

/* What the 64 bytes of an exported pointer hold. */
struct pointer {
    uint64_t magic;
    struct mr_token token;
    uint64_t offset, size, id, check;
};
_Static_assert(sizeof(struct pointer) <= sizeof(CUmemPoolPtrExportData), "an exported pointer has 64 bytes");

static uint64_t check_of(const struct pointer *pointer)
{
    const unsigned char *bytes = (const unsigned char *)pointer;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < offsetof(struct pointer, check); i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* ---- the file ---- */

bool mr_mempool_share_begin(struct mr_mempool *pool)
{
    struct mr_pool_share *share = mr_calloc(1, sizeof *share);
    struct header header = {.magic = MAGIC,
                            .version = VERSION,
                            .handle_types = (uint32_t)pool->properties.handleTypes,
                            .location = pool->properties.location,
                            .most = pool->properties.maxSize,
                            .usage = pool->properties.usage};
    if (!share)
        return false;
    if (pool->device)
        header.location.id = pool->device->number;
    share->fd = memfd_create("millrace-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (share->fd < 0 || !mr_share_random(&header.token, sizeof header.token) ||
        ftruncate(share->fd, (off_t)FIRST) != 0 ||
        pwrite(share->fd, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        fcntl(share->fd, F_ADD_SEALS, SEALS) != 0) {
        mr_log(MR_LOG_INFO, "a shareable memory pool gets no file: %s", strerror(errno));
        if (share->fd >= 0)
            close(share->fd);
        mr_free(share);
        return false;
    }
    share->size = FIRST;
    share->token = header.token;
    pool->guarded = false;
    pool->share = share;
    return true;
}

void mr_mempool_share_end(struct mr_mempool *pool)
{
    struct mr_pool_share *share = pool->share;
    if (!share)
        return;
    pool->share = NULL;
    close(share->fd);
    mr_free(share);
}

/* The first place in the file that no extent of the pool has. */
static size_t file_place(const struct mr_mempool *pool, size_t size)
{
    size_t place = FIRST;
    const struct mr_list *link = pool->extents.next;
    while (link != &pool->extents) {
        const struct mr_extent *extent = MR_CONTAINER(link, struct mr_extent, link);
        link = link->next;
        if (extent->offset < place + size && place < extent->offset + extent->size) {
            place = extent->offset + extent->size;
            link = pool->extents.next;
        }
    }
    return place;
}

bool mr_mempool_share_back(struct mr_mempool *pool, struct mr_extent *extent)
{
    MR_HELD(&pool->lock);
    struct mr_pool_share *share = pool->share;
    size_t place = file_place(pool, extent->size);
    if (place + extent->size > share->size) {
        if (ftruncate(share->fd, (off_t)(place + extent->size)) != 0) {
            mr_log(MR_LOG_INFO, "a shareable memory pool cannot grow by %zu bytes: %s", extent->size, strerror(errno));
            return false;
        }
        share->size = place + extent->size;
    }
    return mr_extent_map(extent, share->fd, place, extent->size, false);
}

void mr_mempool_share_drop(struct mr_mempool *pool, struct mr_extent *extent, size_t start, size_t bytes)
{
    MR_HELD(&pool->lock);
    if (fallocate(pool->share->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(extent->offset + start),
                  (off_t)bytes) != 0)
        mr_log(MR_LOG_WARN, "%zu bytes of a shareable memory pool are not given back: %s", bytes, strerror(errno));
}

void mr_mempool_share_tidy(struct mr_mempool *pool)
{
    MR_HELD(&pool->lock);
    struct mr_list *next;
    for (struct mr_list *link = pool->extents.next; link != &pool->extents; link = next) {
        struct mr_extent *extent = MR_CONTAINER(link, struct mr_extent, link);
        next = link->next;
        if (mr_blocks_are_one(extent, MR_BLOCK_FREE)) {
            mr_blocks_remove(pool, extent);
            mr_extent_give(extent);
        }
    }
}

/* ---- pools ---- */

/* As on hardware, the descriptor stays open in a program that the process turns into. */
CUresult mr_mempool_export(struct mr_mempool *pool, int *out)
{
    if (!pool->share || pool->imported) {
        mr_call_log(MR_LOG_INFO, "the pool was not made to be shared");
        return CUDA_ERROR_INVALID_VALUE;
    }
    int fd = fcntl(pool->share->fd, F_DUPFD, 3);
    if (fd < 0) {
        mr_call_log(MR_LOG_INFO, "%s", strerror(errno));
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mr_lock_take(&pool->lock);
    pool->share->exported = true;
    mr_lock_drop(&pool->lock);
    *out = fd;
    return CUDA_SUCCESS;
}

/* Reads and checks the start of a file. */
static bool header_read(int fd, struct header *header)
{
    struct stat facts;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &facts) == 0 && facts.st_size >= (off_t)FIRST &&
           pread(fd, header, sizeof *header, 0) == (ssize_t)sizeof *header && header->magic == MAGIC &&
           header->version == VERSION;
}

CUresult mr_mempool_import(int descriptor, struct mr_mempool **out)
{
    struct header header;
    if (!header_read(descriptor, &header)) {
        mr_call_log(MR_LOG_INFO, "descriptor %d is not that of an exported memory pool", descriptor);
        return CUDA_ERROR_UNKNOWN;
    }
    struct mr_device *device =
        header.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? mr_device_numbered(header.location.id) : NULL;
    if (header.location.type == CU_MEM_LOCATION_TYPE_DEVICE && !device) {
        mr_call_log(MR_LOG_INFO, "the pool belongs to device %d of the machine, which this process does not see",
                    header.location.id);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (device)
        header.location.id = device->ordinal;
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = header.location,
                                 .maxSize = header.most,
                                 .usage = (unsigned short)header.usage};
    struct mr_pool_share *share = mr_calloc(1, sizeof *share);
    struct mr_mempool *pool = share ? mr_mempool_new(&properties, device) : NULL;
    int fd = pool ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3) : -1;
    if (fd < 0) {
        if (pool)
            (void)mr_mempool_destroy(pool);
        mr_free(share);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    share->fd = fd;
    share->token = header.token;
    mr_lock_take(&pool->lock);
    pool->properties.handleTypes = (CUmemAllocationHandleType)header.handle_types;
    pool->imported = true;
    pool->guarded = false;
    pool->share = share;
    mr_lock_drop(&pool->lock);
    *out = pool;
    return CUDA_SUCCESS;
}

/* ---- pointers ---- */

CUresult mr_mempool_export_pointer(uintptr_t address, CUmemPoolPtrExportData *out)
{
    struct mr_extent *extent;
    struct mr_mempool *pool = mr_mempool_lock_at(address, &extent);
    struct mr_block *block = pool ? mr_block_at(extent, address) : NULL;
    CUresult status = CUDA_ERROR_INVALID_VALUE;
    if (!block) {
        mr_call_log(MR_LOG_INFO, "no allocation of a memory pool starts at %#zx", (size_t)address);
    } else if (!pool->share || pool->imported || !pool->share->exported) {
        mr_call_log(MR_LOG_INFO, "the pool of %#zx was not exported", (size_t)address);
    } else {
        struct pointer pointer = {.magic = POINTER_MAGIC,
                                  .token = pool->share->token,
                                  .offset = extent->offset + (size_t)block->start * MR_GRANULE,
                                  .size = block->size,
                                  .id = block->id};
        pointer.check = check_of(&pointer);
        memset(out, 0, sizeof *out);
        memcpy(out, &pointer, sizeof pointer);
        status = CUDA_SUCCESS;
    }
    if (pool)
        mr_lock_drop(&pool->lock);
    return status;
}

/* Is this a place in the pool's file? */
static bool pointer_is_valid(const struct mr_mempool *pool, const struct pointer *pointer)
{
    struct stat facts;
    if (pointer->magic != POINTER_MAGIC || pointer->check != check_of(pointer) ||
        memcmp(&pointer->token, &pool->share->token, sizeof pointer->token) != 0 || fstat(pool->share->fd, &facts) != 0)
        return false;
    return pointer->size > 0 && pointer->offset >= FIRST && pointer->offset % mr_page_size == 0 &&
           pointer->offset <= (uint64_t)facts.st_size && pointer->size <= (uint64_t)facts.st_size - pointer->offset;
}

/* What was imported from a place in the file before, and not freed. Lock held. */
static struct mr_extent *find_imported(struct mr_mempool *pool, const struct pointer *pointer)
{
    MR_HELD(&pool->lock);
    for (struct mr_list *link = pool->extents.next; link != &pool->extents; link = link->next) {
        struct mr_extent *extent = MR_CONTAINER(link, struct mr_extent, link);
        if (extent->offset == pointer->offset && extent->source == pointer->id &&
            mr_blocks_are_one(extent, MR_BLOCK_LIVE))
            return extent;
    }
    return NULL;
}

/* Maps that part of the file as an allocation. Lock held. */
static struct mr_extent *import(struct mr_mempool *pool, const struct pointer *pointer)
{
    MR_HELD(&pool->lock);
    size_t bytes = (pointer->size + mr_page_size - 1) & ~(mr_page_size - 1);
    struct mr_extent *extent =
        pool->destroyed ? NULL : mr_extent_take((bytes + MR_EXTENT_CHUNK - 1) / MR_EXTENT_CHUNK * MR_EXTENT_CHUNK);
    if (!extent)
        return NULL;
    extent->source = pointer->id;
    if (mr_extent_map(extent, pool->share->fd, pointer->offset, bytes, true) &&
        mr_blocks_add_live(pool, extent, pointer->size))
        return extent;
    mr_extent_give(extent);
    return NULL;
}

/* The same allocation twice is one import: one free ends it. */
CUresult mr_mempool_import_pointer(struct mr_mempool *pool, const CUmemPoolPtrExportData *data, uintptr_t *out)
{
    struct pointer pointer;
    memcpy(&pointer, data, sizeof pointer);
    if (!pool->imported || !pointer_is_valid(pool, &pointer)) {
        mr_call_log(MR_LOG_INFO, "%s",
                    pool->imported ? "the data is not that of an allocation of this pool"
                                   : "the pool is not an imported one");
        return CUDA_ERROR_INVALID_VALUE;
    }
    mr_lock_take(&pool->lock);
    struct mr_extent *extent = find_imported(pool, &pointer);
    if (!extent)
        extent = import(pool, &pointer);
    if (extent)
        *out = extent->base;
    mr_lock_drop(&pool->lock);
    return extent ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
