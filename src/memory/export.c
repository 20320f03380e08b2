/* SPDX-License-Identifier: Apache-2.0 */
/* Exporting and importing device memory; see export.h.
 *
 * Exporting goes piece by piece: the piece becomes read-only, its bytes are written to the file, the file is mapped
 * over it. Readers notice nothing. A thread that writes meanwhile faults, waits in the signal handler until the piece
 * is done (mr_memory_export_wait), and writes to the file's page. So no write is lost, nothing else is stopped, and at
 * most a piece more memory is used than before. Zero pages are left out: the file is sparse where the memory is.
 *
 * `epoch` is odd while a piece is read-only, and changes twice with each piece. A handler that finds it changed since
 * its thread last looked lets the thread try again; a true fault comes back with the same epoch.
 *
 * The pages of a chunk are shared as a whole: where allocations are packed (pack.c), its neighbours go with it, as they
 * do on hardware. */
#define _GNU_SOURCE
#include "memory/export.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/thread.h"
#include "memory/sharing.h"
#include "memory/space.h"
#include "object/context.h"
#include "object/device.h"

#define PIECE ((size_t)16 << 20)
#define BLOCK ((size_t)64 << 10)
#define WAIT_NS 1000000000u

static struct mr_list imports = {&imports, &imports};

static _Atomic uint32_t epoch;
static _Atomic uintptr_t busy_from, busy_to;
static _Thread_local uint32_t epoch_seen __attribute__((tls_model("initial-exec")));

bool mr_memory_export_wait(uintptr_t address)
{
    uint32_t now = atomic_load_explicit(&epoch, memory_order_acquire);
    if (now == 0 || !mr_memory_is_reserved(address))
        return false;
    while ((now & 1) && address >= atomic_load_explicit(&busy_from, memory_order_relaxed) &&
           address < atomic_load_explicit(&busy_to, memory_order_relaxed)) {
        mr_futex_wait(&epoch, now, WAIT_NS);
        now = atomic_load_explicit(&epoch, memory_order_acquire);
    }
    if (now == epoch_seen)
        return false;
    epoch_seen = now;
    return true;
}

/* Reads pages that other threads may still want to write to: those are held up by the pages' protection, which
 * ThreadSanitizer knows nothing of. */
__attribute__((no_sanitize_thread)) static bool is_zero(const char *page)
{
    const uint64_t *word = (const uint64_t *)page;
    for (size_t i = 0; i < mr_page_size / sizeof *word; i++)
        if (word[i] != 0)
            return false;
    return true;
}

/* pwrite and mmap, but not as sanitizers know them: the one reads and the other writes what threads use meanwhile. */
static ssize_t write_at(int fd, const char *bytes, size_t size, size_t offset)
{
    return syscall(SYS_pwrite64, fd, bytes, size, (off_t)offset);
}

static bool map_over(char *at, size_t size, int fd, size_t offset)
{
    return syscall(SYS_mmap, at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset) ==
           (long)(intptr_t)at;
}

/* Writes what isn't zero of a read-only piece to the file, which is all zero. */
static bool piece_write(int fd, const char *bytes, size_t size, size_t offset)
{
    for (size_t at = 0; at < size;) {
        size_t length = 0, most = size - at < BLOCK ? size - at : BLOCK;
        while (length < most && !is_zero(bytes + at + length))
            length += mr_page_size;
        if (!length) {
            at += mr_page_size;
            continue;
        }
        for (size_t done = 0; done < length;) {
            ssize_t step = write_at(fd, bytes + at + done, length - done, offset + at + done);
            if (step < 0 && errno == EINTR)
                continue;
            if (step <= 0)
                return false;
            done += (size_t)step;
        }
        at += length;
    }
    return true;
}

static bool piece_export(struct mr_chunk *chunk, int fd, size_t offset, size_t size)
{
    char *at = (char *)chunk->base + offset;
    atomic_store_explicit(&busy_from, (uintptr_t)at, memory_order_relaxed);
    atomic_store_explicit(&busy_to, (uintptr_t)at + size, memory_order_relaxed);
    atomic_fetch_add_explicit(&epoch, 1, memory_order_acq_rel);
    bool done =
        mprotect(at, size, PROT_READ) == 0 && piece_write(fd, at, size, offset) && map_over(at, size, fd, offset);
    if (!done) {
        mr_log(MR_LOG_INFO, "%zu bytes at %p cannot be shared: %s", size, (void *)at, strerror(errno));
        mprotect(at, size, PROT_READ | PROT_WRITE);
    } else if (chunk->mapped >= MR_HUGE) {
        madvise(at, size, MADV_HUGEPAGE);
    }
    atomic_fetch_add_explicit(&epoch, 1, memory_order_acq_rel);
    mr_futex_wake(&epoch, INT32_MAX);
    return done;
}

/* Gives the chunk a file and makes its pages those of the file. Goes on where an earlier attempt ended. Lock held. */
static bool chunk_export(struct mr_chunk *chunk)
{
    MR_HELD(&mr_memory_lock);
    struct mr_sharing *sharing = chunk->sharing;
    if (!sharing) {
        sharing = mr_calloc(1, sizeof *sharing);
        if (!sharing || !mr_share_create(chunk->mapped, &sharing->share)) {
            mr_free(sharing);
            return false;
        }
        mr_list_init(&sharing->link);
        chunk->sharing = sharing;
    }
    while (sharing->done < chunk->mapped) {
        size_t left = chunk->mapped - sharing->done, size = left < PIECE ? left : PIECE;
        if (!piece_export(chunk, sharing->share.fd, sharing->done, size))
            return false;
        sharing->done += size;
    }
    return true;
}

CUresult mr_memory_export(uintptr_t address, struct mr_share_handle *out)
{
    struct mr_allocation found;
    CUresult status = CUDA_ERROR_INVALID_VALUE;
    mr_lock_take(&mr_memory_lock);
    struct mr_slab *slab;
    struct mr_record *record = mr_memory_is_reserved(address) ? mr_record_at(address, &slab) : NULL;
    if (!record || !mr_record_read(record, &found) || address - found.base >= found.size) {
        mr_log(MR_LOG_INFO, "%#zx is in no live allocation", (size_t)address);
    } else if (found.kind != MR_MEMORY_DEVICE || found.imported) {
        mr_log(MR_LOG_INFO, "%#zx is not device memory that this process allocated", (size_t)address);
    } else {
        struct mr_chunk *chunk = slab ? slab->chunk : MR_CONTAINER(record, struct mr_chunk, record);
        status = CUDA_ERROR_OUT_OF_MEMORY;
        if (chunk_export(chunk)) {
            uint64_t value[3] = {found.base - chunk->base, found.size, (uint64_t)found.device->number};
            mr_share_handle_make(&chunk->sharing->share, MR_SHARE_MEMORY, value, out);
            status = CUDA_SUCCESS;
        }
    }
    mr_lock_drop(&mr_memory_lock);
    return status;
}

/* Lock held. */
static struct mr_sharing *import_find(const struct mr_share_handle *handle)
{
    MR_HELD(&mr_memory_lock);
    for (struct mr_list *link = imports.next; link != &imports; link = link->next) {
        struct mr_sharing *sharing = MR_CONTAINER(link, struct mr_sharing, link);
        if (memcmp(&sharing->share.token, &handle->token, sizeof handle->token) == 0 &&
            sharing->offset == handle->value[0])
            return sharing;
    }
    return NULL;
}

/* Maps the allocation that the handle tells of, from a descriptor of its file. Lock held. */
static CUresult import_map(struct mr_context *context, const struct mr_share_handle *handle, int fd, uintptr_t *out)
{
    MR_HELD(&mr_memory_lock);
    size_t offset = handle->value[0], size = handle->value[1];
    size_t from = offset & ~(mr_page_size - 1), shift = offset - from;
    size_t bytes = (shift + size + mr_page_size - 1) & ~(mr_page_size - 1);
    struct mr_sharing *sharing = mr_calloc(1, sizeof *sharing);
    struct mr_chunk *chunk = sharing ? mr_chunk_take(mr_zone_main(), bytes) : NULL;
    if (!chunk) {
        mr_free(sharing);
        return CUDA_ERROR_MAP_FAILED;
    }
    if (mmap((void *)chunk->base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)from) ==
        MAP_FAILED) {
        mr_log(MR_LOG_INFO, "%zu bytes of another process cannot be mapped: %s", bytes, strerror(errno));
        mr_chunk_give(chunk, false);
        mr_free(sharing);
        return CUDA_ERROR_MAP_FAILED;
    }
    *sharing = (struct mr_sharing){.share = {.fd = -1, .token = handle->token},
                                   .imported = true,
                                   .offset = offset,
                                   .opened = 1,
                                   .chunk = chunk,
                                   .context = context};
    chunk->sharing = sharing;
    mr_list_init(&sharing->link);
    mr_list_append(&imports, &sharing->link);
    struct mr_device *theirs = handle->value[2] < MR_DEVICE_LIMIT ? mr_device_numbered((int)handle->value[2]) : NULL;
    struct mr_allocation value = {.kind = MR_MEMORY_DEVICE,
                                  .base = chunk->base + shift,
                                  .size = size,
                                  .mapped = bytes - shift,
                                  .context = context,
                                  .device = theirs ? theirs : context->device};
    mr_record_begin_foreign(&chunk->record, &value);
    *out = value.base;
    return CUDA_SUCCESS;
}

/* What the system's error number means for the program. */
static CUresult open_failed(const struct mr_share_handle *handle, int error)
{
    mr_log(MR_LOG_INFO, "memory of process %u cannot be opened: %s", handle->process, strerror(error));
    if (error == EMFILE || error == ENFILE || error == ENOMEM || error == EACCES || error == EPERM)
        return CUDA_ERROR_MAP_FAILED;
    return mr_share_process_exists(handle) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

CUresult mr_memory_import(struct mr_context *context, const struct mr_share_handle *handle, uintptr_t *out)
{
    size_t offset = handle->value[0], size = handle->value[1], length = 0, end;
    CUresult status;
    if (mr_share_handle_is_own(handle) || !size || __builtin_add_overflow(offset, size, &end)) {
        mr_log(MR_LOG_INFO, "the handle is %s", size ? "of this very process" : "damaged");
        return CUDA_ERROR_INVALID_VALUE;
    }
    mr_lock_take(&mr_memory_lock);
    struct mr_sharing *sharing = import_find(handle);
    if (atomic_load_explicit(&context->destroyed, memory_order_acquire)) {
        status = CUDA_ERROR_CONTEXT_IS_DESTROYED; /* what it had open may be closed already */
    } else if (sharing) {
        status = sharing->context == context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
        if (status == CUDA_SUCCESS) {
            sharing->opened++;
            *out = atomic_load_explicit(&sharing->chunk->record.base, memory_order_relaxed);
        } else {
            mr_log(MR_LOG_INFO, "the memory is open in another context");
        }
    } else {
        int fd = mr_share_open(handle, &length);
        if (fd < 0) {
            status = open_failed(handle, errno);
        } else {
            status = end <= length ? import_map(context, handle, fd, out) : CUDA_ERROR_INVALID_VALUE;
            close(fd);
        }
    }
    mr_lock_drop(&mr_memory_lock);
    return status;
}

/* The imported allocation that starts at `base`. Lock held. */
static struct mr_sharing *import_at(uintptr_t base, struct mr_record **record, struct mr_allocation *found)
{
    MR_HELD(&mr_memory_lock);
    struct mr_slab *slab;
    *record = mr_memory_is_reserved(base) ? mr_record_at(base, &slab) : NULL;
    if (!*record || !mr_record_read(*record, found) || found->base != base || !found->imported)
        return NULL;
    return MR_CONTAINER(*record, struct mr_chunk, record)->sharing;
}

struct mr_context *mr_memory_import_context(uintptr_t base, bool *last)
{
    struct mr_record *record;
    struct mr_allocation found;
    mr_lock_take(&mr_memory_lock);
    struct mr_sharing *sharing = import_at(base, &record, &found);
    struct mr_context *context = sharing ? sharing->context : NULL;
    *last = sharing && sharing->opened == 1;
    mr_lock_drop(&mr_memory_lock);
    return context;
}

CUresult mr_memory_import_close(uintptr_t base)
{
    struct mr_record *record;
    struct mr_allocation found;
    mr_lock_take(&mr_memory_lock);
    struct mr_sharing *sharing = import_at(base, &record, &found);
    CUresult status = sharing ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (sharing && --sharing->opened == 0)
        mr_record_release(record, &found);
    mr_lock_drop(&mr_memory_lock);
    return status;
}
