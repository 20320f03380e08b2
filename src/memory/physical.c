/* SPDX-License-Identifier: Apache-2.0 */
/* Memory without an address: making it, handles for it, and descriptors that take it to another process.
 *
 * Memory that stays in the process is an anonymous shared mapping, which costs no descriptor: programs make thousands
 * of pieces. Memory that may be exported is a sealed file without a name. Its last page, behind the memory itself, is a
 * label that says whose and how large it is; an importer of a descriptor believes neither the label nor the file before
 * it has looked at both. */
#include "memory/physical.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/log.h"
#include "object/device.h"
#include "object/handle.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define OWN_DESCRIPTORS 256     /* ours stand above the numbers that programs use, where there is room */

struct mr_physical_handle {
    struct mr_object object;
    struct mr_physical *memory;
    unsigned uses;              /* the program's: creation, imports, retains */
};

/* What the last page of an exportable file says. Padding is zero. */
struct label {
    char magic[16];
    uint64_t size;
    uint32_t type, location_type, handle_types;
    int32_t location;           /* of a device: its number */
    uint8_t compression, rdma;
    uint16_t usage;
    uint32_t check;             /* sum of all words before */
};

static const char magic[16] = "millrace memory";

mr_lock mr_vmm_lock = MR_LOCK_INIT(VMM);
static struct mr_list memories = {&memories, &memories};
static size_t memory_count;
static size_t descriptors;      /* that are held open for exportable memory */

size_t mr_physical_count(void)
{
    MR_HELD(&mr_vmm_lock);
    return memory_count;
}

static uint32_t label_sum(const struct label *label)
{
    uint32_t words[sizeof *label / 4], sum = UINT32_C(0x6d72766d);
    memcpy(words, label, sizeof words);
    for (size_t i = 0; i < offsetof(struct label, check) / 4; i++)
        sum = (sum << 5 | sum >> 27) ^ words[i];
    return sum;
}

/* A program that holds few descriptors itself must not run out because of ours: its limit grows with what we hold. */
static void make_room(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || descriptors < limit.rlim_cur / 4 || limit.rlim_cur >= limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_cur * 2 < limit.rlim_max ? limit.rlim_cur * 2 : limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        mr_log(MR_LOG_INFO, "the limit on open files is raised to %llu: %zu are shareable memory",
               (unsigned long long)limit.rlim_cur, descriptors);
}

/* The descriptor under a high number, or as it is. */
static int moved_up(int descriptor)
{
    int high = fcntl(descriptor, F_DUPFD_CLOEXEC, OWN_DESCRIPTORS);
    if (high < 0)
        return descriptor;
    close(descriptor);
    return high;
}

static bool label_write(int descriptor, const struct mr_physical *memory)
{
    const CUmemAllocationProp *properties = &memory->properties;
    struct label label;
    memset(&label, 0, sizeof label);
    memcpy(label.magic, magic, sizeof magic);
    label.size = memory->size;
    label.type = (uint32_t)properties->type;
    label.location_type = (uint32_t)properties->location.type;
    label.handle_types = (uint32_t)properties->requestedHandleTypes;
    label.location = memory->device ? memory->device->number : properties->location.id;
    label.compression = properties->allocFlags.compressionType;
    label.rdma = properties->allocFlags.gpuDirectRDMACapable;
    label.usage = properties->allocFlags.usage;
    label.check = label_sum(&label);
    return ftruncate(descriptor, (off_t)(memory->size + mr_page_size)) == 0 &&
           pwrite(descriptor, &label, sizeof label, (off_t)memory->size) == (ssize_t)sizeof label &&
           fcntl(descriptor, F_ADD_SEALS, SEALS) == 0;
}

/* Sets descriptor and identity of the memory; false when the system gives none. */
static bool file_make(struct mr_physical *memory)
{
    struct stat status;
    make_room();
    int descriptor = memfd_create("millrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0)
        return false;
    descriptor = moved_up(descriptor);
    if (!label_write(descriptor, memory) || fstat(descriptor, &status) != 0) {
        close(descriptor);
        return false;
    }
    memory->descriptor = descriptor;
    memory->file_system = status.st_dev;
    memory->file = status.st_ino;
    descriptors++;
    return true;
}

/* Maps the memory's home. */
static bool home_make(struct mr_physical *memory)
{
    int flags = MAP_SHARED | MAP_NORESERVE | (memory->descriptor < 0 ? MAP_ANONYMOUS : 0);
    void *home = mmap(NULL, memory->size, PROT_NONE, flags, memory->descriptor, 0);
    if (home == MAP_FAILED)
        return false;
    madvise(home, memory->size, MADV_HUGEPAGE);
    memory->home = (uintptr_t)home;
    return true;
}

static enum mr_memory_kind charged_as(const struct mr_physical *memory)
{
    return memory->device ? MR_MEMORY_DEVICE : MR_MEMORY_PINNED;
}

/* Frees what mr_vmm_create or mr_vmm_import had built so far. The memory is in no list. Lock held. */
static void memory_free(struct mr_physical *memory)
{
    MR_HELD(&mr_vmm_lock);
    struct mr_physical *origin = memory->origin;
    if (memory->home)
        munmap((void *)memory->home, memory->size);
    if (memory->descriptor >= 0) {
        close(memory->descriptor);
        descriptors--;
    }
    if (!memory->imported)
        mr_memory_refund(memory->device, charged_as(memory), memory->size);
    mr_free(memory);
    if (origin)
        mr_physical_drop(origin);
}

void mr_physical_drop(struct mr_physical *memory)
{
    MR_HELD(&mr_vmm_lock);
    if (--memory->uses)
        return;
    mr_list_remove(&memory->link);
    memory_count--;
    memory_free(memory);
}

bool mr_physical_view(struct mr_physical *memory, uintptr_t start)
{
    MR_HELD(&mr_vmm_lock);
    /* An old size of 0 asks for a second view of shared pages. */
    void *at = mremap((void *)memory->home, 0, memory->size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start);
    if (at == (void *)start)
        return true;
    mr_log(MR_LOG_INFO, "the system can't map %zu bytes at %#zx: %s", memory->size, (size_t)start, strerror(errno));
    return false;
}

struct mr_physical *mr_physical_find(CUmemGenericAllocationHandle handle)
{
    MR_HELD(&mr_vmm_lock);
    struct mr_physical_handle *found = mr_object_find((void *)(uintptr_t)handle, MR_KIND_PHYSICAL);
    if (found)
        return found->memory;
    mr_call_log(MR_LOG_INFO, "%#llx is not a live handle of memory", handle);
    return NULL;
}

CUmemGenericAllocationHandle mr_physical_handle_use(struct mr_physical *memory)
{
    MR_HELD(&mr_vmm_lock);
    struct mr_physical_handle *handle = memory->handle;
    if (!handle) {
        handle = mr_object_new(MR_KIND_PHYSICAL, sizeof *handle, NULL);
        if (!handle)
            return 0;
        handle->memory = memory;
        memory->handle = handle;
        memory->uses++;
    }
    handle->uses++;
    return (CUmemGenericAllocationHandle)(uintptr_t)mr_object_handle(handle);
}

CUresult mr_vmm_release(CUmemGenericAllocationHandle value)
{
    mr_lock_take(&mr_vmm_lock);
    struct mr_physical *memory = mr_physical_find(value);
    if (memory && --memory->handle->uses == 0) {
        struct mr_physical_handle *handle = memory->handle;
        memory->handle = NULL;
        if (mr_object_retire(handle))
            mr_object_drop(handle);
        mr_physical_drop(memory);
    }
    mr_lock_drop(&mr_vmm_lock);
    return memory ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Lists new memory and gives it its first handle, or frees it. Lock held. */
static CUresult memory_publish(struct mr_physical *memory, CUmemGenericAllocationHandle *out)
{
    MR_HELD(&mr_vmm_lock);
    mr_list_append(&memories, &memory->link);
    memory_count++;
    *out = mr_physical_handle_use(memory);
    if (*out)
        return CUDA_SUCCESS;
    memory->uses = 1;
    mr_physical_drop(memory);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult mr_vmm_create(struct mr_device *device, const CUmemAllocationProp *properties, size_t size,
                       CUmemGenericAllocationHandle *out)
{
    CUmemGenericAllocationHandle handle = 0;
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    struct mr_physical *memory = mr_calloc(1, sizeof *memory);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory->device = device;
    memory->size = size;
    memory->descriptor = -1;
    memory->properties = *properties;
    if (!mr_memory_charge(device, charged_as(memory), size)) {
        mr_call_log(MR_LOG_INFO, "%zu bytes are more than the free memory", size);
        mr_free(memory);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mr_lock_take(&mr_vmm_lock);
    if ((!(properties->requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) || file_make(memory)) &&
        home_make(memory)) {
        status = memory_publish(memory, &handle);
    } else {
        mr_call_log(MR_LOG_INFO, "the system has no %zu bytes of shared memory: %s", size, strerror(errno));
        memory_free(memory);
    }
    mr_lock_drop(&mr_vmm_lock);
    if (status == CUDA_SUCCESS)
        *out = handle;
    return status;
}

CUresult mr_vmm_properties(CUmemGenericAllocationHandle handle, CUmemAllocationProp *out)
{
    mr_lock_take(&mr_vmm_lock);
    struct mr_physical *memory = mr_physical_find(handle);
    if (memory)
        *out = memory->properties;
    mr_lock_drop(&mr_vmm_lock);
    return memory ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- between processes ---- */

CUresult mr_vmm_export(CUmemGenericAllocationHandle handle, int *out)
{
    CUresult status = CUDA_ERROR_INVALID_VALUE;
    mr_lock_take(&mr_vmm_lock);
    struct mr_physical *memory = mr_physical_find(handle);
    if (memory && memory->descriptor < 0) {
        mr_call_log(MR_LOG_INFO, "the memory was not made with CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR");
    } else if (memory) {
        int copy = fcntl(memory->descriptor, F_DUPFD_CLOEXEC, 0);
        if (copy < 0)
            mr_call_log(MR_LOG_INFO, "no descriptor is free: %s", strerror(errno));
        status = copy < 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
        if (copy >= 0)
            *out = copy;
    }
    mr_lock_drop(&mr_vmm_lock);
    return status;
}

/* Reads and checks what a descriptor stands for. */
static bool label_read(int descriptor, struct label *label, struct stat *status)
{
    if (fstat(descriptor, status) != 0 || !S_ISREG(status->st_mode) || status->st_size <= (off_t)mr_page_size)
        return false;
    int seals = fcntl(descriptor, F_GET_SEALS), mode = fcntl(descriptor, F_GETFL);
    if (seals < 0 || (seals & SEALS) != SEALS || mode < 0 || (mode & O_ACCMODE) != O_RDWR)
        return false;
    size_t size = (size_t)status->st_size - mr_page_size;
    return pread(descriptor, label, sizeof *label, (off_t)size) == (ssize_t)sizeof *label &&
           memcmp(label->magic, magic, sizeof magic) == 0 && label->check == label_sum(label) && label->size == size &&
           size % MR_VMM_UNIT == 0;
}

/* The piece that this process exported as this file, if it did. Lock held. */
static struct mr_physical *find_file(const struct stat *status)
{
    MR_HELD(&mr_vmm_lock);
    for (struct mr_list *node = memories.next; node != &memories; node = node->next) {
        struct mr_physical *memory = MR_CONTAINER(node, struct mr_physical, link);
        if (memory->descriptor >= 0 && memory->file == status->st_ino && memory->file_system == status->st_dev)
            return memory;
    }
    return NULL;
}

/* A record of memory that was exported. It can't be exported again from here, as on hardware, so its descriptor is not
 * kept. Lock held. */
static struct mr_physical *memory_from(int descriptor, const struct label *label, struct mr_device *device)
{
    MR_HELD(&mr_vmm_lock);
    struct mr_physical *memory = mr_calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    memory->imported = true;
    memory->device = device;
    memory->size = label->size;
    memory->properties.type = (CUmemAllocationType)label->type;
    memory->properties.location = (CUmemLocation){.type = (CUmemLocationType)label->location_type,
                                                  .id = device ? device->ordinal : label->location};
    memory->properties.allocFlags.compressionType = label->compression;
    memory->properties.allocFlags.gpuDirectRDMACapable = label->rdma;
    memory->properties.allocFlags.usage = label->usage;
    memory->descriptor = descriptor;
    bool made = home_make(memory);
    memory->descriptor = -1;
    if (made)
        return memory;
    memory_free(memory);
    return NULL;
}

CUresult mr_vmm_import(int descriptor, CUmemGenericAllocationHandle *out)
{
    struct label label;
    struct stat file;
    struct mr_device *device = NULL;
    CUmemGenericAllocationHandle handle = 0;
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    if (!label_read(descriptor, &label, &file)) {
        mr_call_log(MR_LOG_INFO, "descriptor %d is not one that cuMemExportToShareableHandle gave", descriptor);
        return CUDA_ERROR_UNKNOWN;
    }
    if (label.location_type == CU_MEM_LOCATION_TYPE_DEVICE && !(device = mr_device_numbered(label.location))) {
        mr_call_log(MR_LOG_INFO, "the memory belongs to device %d of the machine, which this process does not see",
                    label.location);
        return CUDA_ERROR_INVALID_DEVICE;
    }
    mr_lock_take(&mr_vmm_lock);
    struct mr_physical *memory = memory_from(descriptor, &label, device);
    if (memory) {
        memory->origin = find_file(&file);
        if (memory->origin)
            memory->origin->uses++;
        status = memory_publish(memory, &handle);
    }
    mr_lock_drop(&mr_vmm_lock);
    if (status == CUDA_SUCCESS)
        *out = handle;
    return status;
}
