/* SPDX-License-Identifier: Apache-2.0 */
/* Registration, as nvcc's and clang's host code calls it before main, when a library is opened, and at the end.
 *
 * An image is one fat binary of the program. It is loaded as a library of the driver when something of it is used for
 * the first time, so a program that registers hundreds starts at once, and one that can't be loaded harms only what
 * uses it. Entries are the kernels and variables of an image, found by the address of their stub or shadow on the host
 * in a table that readers walk without a lock: slots are written once, a removed entry leaves a mark, and a table that
 * grew is kept.
 *
 * A compiler's names and images live as long as the program or library that brought them; it calls
 * __cudaUnregisterFatBinary before. */
#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mapped.h"
#include "base/mutex.h"
#include "libs/cudart/image_heads.h"
#include "libs/cudart/link.h"
#include "libs/cudart/lock.h"
#include "libs/cudart/register.h"
#include "libs/cudart/runtime.h"
#include "libs/cudart/told.h"
#include "runtime_impl.h"

#define WRAPPER_MAGIC 0x466243b1u

/* What compilers hand over: where the fat binary is. */
struct wrapper {
    unsigned magic, version;
    const void *data;
    void *more; /* of version 2: the fat binaries of the objects that belong together, then NULL */
};

enum entry_kind { ENTRY_KERNEL, ENTRY_VARIABLE, ENTRY_MANAGED, ENTRY_REFERENCE };

struct entry {
    const void *host;
    const char *name;
    struct image *image;
    struct entry *next; /* in the image */
    void **shadow;      /* of a managed variable: the program's pointer to it */
    CUkernel kernel;    /* atomic; NULL: not looked up yet */
    enum entry_kind kind;
    struct mr_rt_reference reference;
};

struct image {
    struct image *next;
    const void *data;
    void *const *objects; /* fat binaries to be linked, then NULL; or NULL */
    struct entry *entries;
    pthread_mutex_t lock; /* guards loading */
    CUlibrary library;    /* atomic; NULL: not loaded */
    cudaError_t status;   /* under `lock`: why it can't be */
};

struct table {
    size_t mask;
    size_t used; /* slots that are not empty */
    struct table *older;
    struct entry *slots[];
};

/* Guards everything that registers and unregisters. Readers of `table` take nothing. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table *table;
static struct image *images;
static struct entry removed; /* the mark in a slot */

static size_t hash(const void *host)
{
    return (size_t)(((uintptr_t)host >> 4) * 0x9e3779b97f4a7c15u >> 20);
}

static struct entry *find(const void *host)
{
    const struct table *now = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    if (!now)
        return NULL;
    for (size_t i = hash(host);; i++) {
        struct entry *entry = __atomic_load_n(&now->slots[i & now->mask], __ATOMIC_ACQUIRE);
        if (!entry)
            return NULL;
        if (entry != &removed && entry->host == host)
            return entry;
    }
}

/* `lock` is held. A slot of a removed entry is not used again: a reader may be looking at what was behind it. */
static void put(struct table *into, struct entry *entry)
{
    MR_MUTEX_HELD(&lock);
    size_t i = hash(entry->host);
    while (into->slots[i & into->mask] &&
           !(into->slots[i & into->mask] != &removed && into->slots[i & into->mask]->host == entry->host))
        i++;
    if (!into->slots[i & into->mask])
        into->used++;
    __atomic_store_n(&into->slots[i & into->mask], entry, __ATOMIC_RELEASE);
}

/* `lock` is held. Makes room for one more entry, at most half full. */
static bool grow(void)
{
    MR_MUTEX_HELD(&lock);
    size_t size = table ? table->mask + 1 : 0;
    if (table && (table->used + 1) * 2 <= size)
        return true;
    size = size ? size * 2 : 64;
    struct table *bigger = calloc(1, sizeof *bigger + size * sizeof *bigger->slots);
    if (!bigger)
        return false;
    bigger->mask = size - 1;
    bigger->older = table;
    for (size_t i = 0; table && i <= table->mask; i++)
        if (table->slots[i] && table->slots[i] != &removed)
            put(bigger, table->slots[i]);
    __atomic_store_n(&table, bigger, __ATOMIC_RELEASE);
    return true;
}

/* Where two images register one address (an inline function's kernel, say), the later one counts. */
static void add(void **handle, struct entry what)
{
    struct image *image = (struct image *)(void *)handle;
    if (!image || !what.host || !what.name)
        return;
    struct entry *entry = calloc(1, sizeof *entry);
    mr_rt_lock(&lock);
    if (!entry || !grow()) {
        mr_rt_unlock(&lock);
        free(entry);
        mr_log(MR_LOG_ERROR, "libcudart: no memory to register '%s'", what.name);
        return;
    }
    what.image = image;
    what.next = image->entries;
    *entry = what;
    image->entries = entry;
    put(table, entry);
    mr_rt_unlock(&lock);
}

void **__cudaRegisterFatBinary(void *fatCubin)
{
    const struct wrapper *wrapper = fatCubin;
    struct image *image = calloc(1, sizeof *image);
    if (!image) {
        mr_log(MR_LOG_ERROR, "libcudart: no memory to register a fat binary");
        return NULL;
    }
    pthread_mutex_init(&image->lock, NULL);
    if (wrapper && wrapper->magic == WRAPPER_MAGIC && wrapper->data) {
        image->data = wrapper->data;
        image->objects = wrapper->version == 2 ? wrapper->more : NULL;
    } else {
        image->status = cudaErrorInvalidKernelImage;
    }
    mr_rt_lock(&lock);
    image->next = images;
    images = image;
    mr_rt_unlock(&lock);
    return (void **)(void *)image;
}

void mr_rt_each_image(void (*see)(void *of, const void *data, void *const *objects), void *of)
{
    mr_rt_lock(&lock);
    for (const struct image *image = images; image; image = image->next)
        if (image->data)
            see(of, image->data, image->objects);
    mr_rt_unlock(&lock);
}

void __cudaRegisterFatBinaryEnd(void **fatCubinHandle)
{
    (void)fatCubinHandle;
}

void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun, const char *deviceName,
                            int thread_limit, uint3 *tid, uint3 *bid, dim3 *bDim, dim3 *gDim, int *wSize)
{
    (void)deviceFun, (void)thread_limit, (void)tid, (void)bid, (void)bDim, (void)gDim, (void)wSize;
    add(fatCubinHandle, (struct entry){.host = hostFun, .name = deviceName, .kind = ENTRY_KERNEL});
}

void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress, const char *deviceName, int ext,
                       size_t size, int constant, int global)
{
    (void)deviceAddress, (void)ext, (void)size, (void)constant, (void)global;
    add(fatCubinHandle, (struct entry){.host = hostVar, .name = deviceName, .kind = ENTRY_VARIABLE});
}

void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress,
                              const char *deviceName, int ext, size_t size, int constant, int global)
{
    (void)deviceAddress, (void)ext, (void)size, (void)constant, (void)global;
    add(fatCubinHandle, (struct entry){.host = (const void *)hostVarPtrAddress,
                                       .name = deviceName,
                                       .kind = ENTRY_MANAGED,
                                       .shadow = hostVarPtrAddress});
}

void __cudaRegisterTexture(void **fatCubinHandle, const struct textureReference *hostVar, const void **deviceAddress,
                           const char *deviceName, int dim, int norm, int ext)
{
    (void)deviceAddress, (void)dim, (void)ext;
    add(fatCubinHandle, (struct entry){.host = hostVar,
                                       .name = deviceName,
                                       .kind = ENTRY_REFERENCE,
                                       .reference = {.name = deviceName, .reads_normalized = norm != 0}});
}

void __cudaRegisterSurface(void **fatCubinHandle, const struct surfaceReference *hostVar, const void **deviceAddress,
                           const char *deviceName, int dim, int ext)
{
    (void)deviceAddress, (void)dim, (void)ext;
    add(fatCubinHandle, (struct entry){.host = hostVar,
                                       .name = deviceName,
                                       .kind = ENTRY_REFERENCE,
                                       .reference = {.name = deviceName, .is_surface = true}});
}

/* The program's pointers to its managed variables. */
static cudaError_t fill_shadows(const struct image *image, CUlibrary library)
{
    for (const struct entry *entry = image->entries; entry; entry = entry->next) {
        CUdeviceptr address;
        if (entry->kind != ENTRY_MANAGED)
            continue;
        CUresult status = mr_driver.cuLibraryGetManaged(&address, NULL, library, entry->name);
        if (status != CUDA_SUCCESS)
            return mr_rt_bad((cudaError_t)status, "libcudart: there is no managed variable '%s' in its image",
                             entry->name);
        __atomic_store_n(entry->shadow, (void *)(uintptr_t)address,
                         __ATOMIC_RELEASE); /* another thread may look whether it has come */
    }
    return cudaSuccess;
}

/* The image's lock is held. */
static cudaError_t load_image(struct image *image)
{
    MR_MUTEX_HELD(&image->lock);
    CUlibrary library;
    if (image->status != cudaSuccess)
        return image->status;
    /* The driver looks at the rest; but whether there is anything is for us to know. */
    if (!mr_mapped_allows((uintptr_t)image->data, sizeof(struct wrapper), false))
        return image->status = mr_rt_bad(cudaErrorInvalidKernelImage,
                                         "libcudart: a wrapper points to no fat binary, but to %p", image->data);
    CUresult status = mr_driver.cuLibraryLoadData(&library, image->data, NULL, NULL, 0, NULL, NULL, 0);
    if (status == CUDA_ERROR_NO_BINARY_FOR_GPU && image->objects)
        status = mr_rt_link(image->objects, &library);
    if (status == CUDA_ERROR_NO_BINARY_FOR_GPU)
        mr_rt_tell_no_code(image->data, image->objects);
    /* A lack of memory may pass; other reasons stay. */
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_OUT_OF_MEMORY)
        image->status = (cudaError_t)status;
    if (status != CUDA_SUCCESS)
        return (cudaError_t)status;
    image->status = fill_shadows(image, library);
    if (image->status != cudaSuccess) {
        (void)mr_driver.cuLibraryUnload(library);
        return image->status;
    }
    __atomic_store_n(&image->library, library, __ATOMIC_RELEASE);
    return cudaSuccess;
}

static cudaError_t library_of(struct image *image, CUlibrary *out)
{
    cudaError_t status = cudaSuccess;
    *out = __atomic_load_n(&image->library, __ATOMIC_ACQUIRE);
    if (*out)
        return cudaSuccess;
    mr_rt_lock(&image->lock);
    if (!image->library)
        status = load_image(image);
    *out = image->library;
    mr_rt_unlock(&image->lock);
    return status;
}

void mr_rt_load_all(void)
{
    CUlibrary library;
    mr_rt_lock(&lock);
    for (struct image *image = images; image; image = image->next)
        (void)library_of(image, &library);
    mr_rt_unlock(&lock);
}

char __cudaInitModule(void **fatCubinHandle)
{
    CUlibrary library;
    if (!fatCubinHandle)
        return 0;
    cudaError_t status = mr_rt_context();
    if (status == cudaSuccess)
        status = library_of((struct image *)(void *)fatCubinHandle, &library);
    if (status == cudaSuccess)
        return 1;
    (void)mr_rt_fail(status, "__cudaInitModule");
    return 0;
}

/* At the end of a process the driver may have ended already; then there is nothing left to unload. */
void __cudaUnregisterFatBinary(void **fatCubinHandle)
{
    struct image *image = (struct image *)(void *)fatCubinHandle;
    if (!image)
        return;
    mr_rt_lock(&lock);
    for (struct image **at = &images; *at; at = &(*at)->next)
        if (*at == image) {
            *at = image->next;
            break;
        }
    for (size_t i = 0; table && i <= table->mask; i++)
        if (table->slots[i] && table->slots[i]->image == image)
            __atomic_store_n(&table->slots[i], &removed, __ATOMIC_RELEASE);
    mr_rt_unlock(&lock);
    if (image->library)
        (void)mr_driver.cuLibraryUnload(image->library);
    for (struct entry *entry = image->entries, *next; entry; entry = next) {
        next = entry->next;
        free(entry);
    }
    pthread_mutex_destroy(&image->lock);
    free(image);
}

static cudaError_t kernel_of(struct entry *entry, CUkernel *out)
{
    CUlibrary library;
    cudaError_t status = library_of(entry->image, &library);
    if (status != cudaSuccess)
        return status;
    CUresult got = mr_driver.cuLibraryGetKernel(out, library, entry->name);
    if (got == CUDA_ERROR_NOT_FOUND)
        return mr_rt_bad(cudaErrorInvalidDeviceFunction, "libcudart: there is no kernel '%s' in its image",
                         entry->name);
    if (got == CUDA_SUCCESS)
        __atomic_store_n(&entry->kernel, *out, __ATOMIC_RELEASE);
    return (cudaError_t)got;
}

static inline cudaError_t kernel_of_entry(struct entry *entry, CUkernel *out)
{
    *out = __atomic_load_n(&entry->kernel, __ATOMIC_ACQUIRE);
    if (__builtin_expect(*out != NULL, 1))
        return cudaSuccess;
    if (entry->kind == ENTRY_KERNEL)
        return kernel_of(entry, out);
    return mr_rt_bad(cudaErrorInvalidResourceHandle, "'%s' is no kernel", entry->name);
}

cudaError_t mr_rt_launched(const void *func, CUkernel *out)
{
    struct entry *entry = find(func);
    if (entry)
        return kernel_of_entry(entry, out);
    *out = (CUkernel)(uintptr_t)func;
    return func ? cudaSuccess : mr_rt_bad(cudaErrorInvalidDeviceFunction, "a launch of no kernel");
}

const char *mr_rt_launch_name(const void *func)
{
    const struct entry *entry = find(func);
    return entry && entry->kind == ENTRY_KERNEL ? entry->name : NULL;
}

cudaError_t mr_rt_kernel(const void *func, CUkernel *out)
{
    CUlibrary library;
    struct entry *entry = find(func);
    if (__builtin_expect(entry != NULL, 1))
        return kernel_of_entry(entry, out);
    if (func && mr_driver.cuKernelGetLibrary(&library, (CUkernel)(uintptr_t)func) == CUDA_SUCCESS) {
        *out = (CUkernel)(uintptr_t)func;
        return cudaSuccess;
    }
    /* What is not registered is taken for a handle, so that hardware answers as it does for a bad handle. */
    return mr_rt_bad(func ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction,
                     "%p is no kernel that this program has registered", func);
}

cudaError_t mr_rt_symbol_kernel(const void *symbol, CUkernel *out)
{
    cudaError_t status = mr_rt_kernel(symbol, out);
    return status == cudaErrorInvalidResourceHandle ? cudaErrorInvalidDeviceFunction : status;
}

const void *mr_rt_kernel_name(CUkernel kernel)
{
    const void *found = kernel;
    mr_rt_lock(&lock);
    for (size_t i = 0; table && i <= table->mask; i++)
        if (table->slots[i] && table->slots[i] != &removed && table->slots[i]->kernel == kernel)
            found = table->slots[i]->host;
    mr_rt_unlock(&lock);
    return found;
}

/* A managed variable is also known by the address that the program reads from its shadow. */
static struct entry *find_managed(const void *address)
{
    struct entry *found = NULL;
    mr_rt_lock(&lock);
    for (size_t i = 0; table && i <= table->mask; i++)
        if (table->slots[i] && table->slots[i]->shadow &&
            __atomic_load_n(table->slots[i]->shadow, __ATOMIC_ACQUIRE) == address)
            found = table->slots[i];
    mr_rt_unlock(&lock);
    return found;
}

cudaError_t mr_rt_symbol(const void *symbol, void **address, size_t *size)
{
    CUlibrary library;
    CUdeviceptr found;
    struct entry *entry = symbol ? find(symbol) : NULL;
    if (!entry && symbol)
        entry = find_managed(symbol);
    if (!entry || (entry->kind != ENTRY_VARIABLE && entry->kind != ENTRY_MANAGED))
        return mr_rt_bad(cudaErrorInvalidSymbol, "%p is no variable that this program has registered", symbol);
    cudaError_t status = library_of(entry->image, &library);
    if (status != cudaSuccess)
        return status;
    CUresult got = entry->kind == ENTRY_MANAGED ? mr_driver.cuLibraryGetManaged(&found, size, library, entry->name)
                                                : mr_driver.cuLibraryGetGlobal(&found, size, library, entry->name);
    if (got == CUDA_ERROR_NOT_FOUND)
        return mr_rt_bad(cudaErrorInvalidSymbol, "there is no variable '%s' in its image", entry->name);
    if (got == CUDA_SUCCESS && address)
        *address = (void *)(uintptr_t)found;
    return (cudaError_t)got;
}

struct mr_rt_reference *mr_rt_reference(const void *host, bool is_surface)
{
    struct entry *entry = host ? find(host) : NULL;
    bool found = entry && entry->kind == ENTRY_REFERENCE && entry->reference.is_surface == is_surface;
    return found ? &entry->reference : NULL;
}

cudaError_t mr_rt_reference_module(const void *host, CUmodule *out)
{
    CUlibrary library;
    struct entry *entry = find(host);
    cudaError_t status = entry ? library_of(entry->image, &library) : cudaErrorInvalidSymbol;
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuLibraryGetModule(out, library) : status;
}

cudaError_t mr_rt_symbol_range(const void *symbol, size_t count, size_t offset, void **address)
{
    void *start;
    size_t size;
    cudaError_t status = mr_rt_symbol(symbol, &start, &size);
    if (status != cudaSuccess)
        return status;
    if (offset > size || count > size - offset)
        return mr_rt_bad(cudaErrorInvalidValue, "%zu bytes at %zu run past the end of a variable of %zu", count, offset,
                         size);
    *address = (char *)start + offset;
    return cudaSuccess;
}

cudaError_t mr_cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    size_t size;
    return devPtr ? mr_rt_symbol(symbol, devPtr, &size) : cudaErrorInvalidValue;
}

cudaError_t mr_cudaGetSymbolSize(size_t *size, const void *symbol)
{
    return size ? mr_rt_symbol(symbol, NULL, size) : cudaErrorInvalidValue;
}
