/* SPDX-License-Identifier: Apache-2.0 */
/* The driver behind: opened once, its functions by name, and which function here stands for which of its own. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "libs/forward/works.h"

struct mr_forward_driver mr_forward_driver;

static void *library;
static void **behind;   /* by index in mr_forwarded */
static size_t *ordered; /* indices, by the address behind */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int by_address(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    if (behind[a] != behind[b])
        return (uintptr_t)behind[a] < (uintptr_t)behind[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* A driver that is this library itself would hand its calls on to itself for ever. */
static bool is_own(void *opened)
{
    return dlsym(opened, mr_forwarded[0].elf) == mr_forwarded[0].here;
}

static void open_behind(void)
{
    const char *path = mr_setting_text(MR_SETTING_DRIVER_BEHIND);
    void **functions = calloc(mr_forwarded_count, sizeof *functions);
    ordered = calloc(mr_forwarded_count, sizeof *ordered);
    void *opened = *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!functions || !ordered || !opened || is_own(opened)) {
        mr_log(MR_LOG_ERROR, "the driver to hand calls on to cannot be opened (MILLRACE_DRIVER_BEHIND is '%s'): %s",
               path,
               opened  ? "it is this library itself"
               : *path ? dlerror()
                       : "no path");
        free(functions);
        return;
    }
    library = opened;
    behind = functions;
    for (size_t i = 0; i < mr_forwarded_count; i++) {
        functions[i] = dlsym(opened, mr_forwarded[i].elf);
        ordered[i] = i;
    }
    qsort(ordered, mr_forwarded_count, sizeof *ordered, by_address);
}

void *mr_forward_behind(size_t index)
{
    pthread_once(&once, open_behind);
    return behind ? behind[index] : NULL;
}

void *mr_forward_symbol(const char *elf)
{
    pthread_once(&once, open_behind);
    return library ? dlsym(library, elf) : NULL;
}

CUresult mr_forward_lacks(const char *elf)
{
    if (behind)
        mr_log(MR_LOG_WARN, "the driver behind has no function %s", elf);
    return library ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_NO_DEVICE;
}

/* ---- addresses that programs ask for ---- */

/* The function here that stands for `function`: several names may share one address behind, so the one with the name
 * and the form that were asked for goes first. NULL: none does. */
static void *stands_for(const void *function, const char *name, bool per_thread)
{
    size_t low = 0, high = mr_forwarded_count;
    void *found = NULL;
    int best = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)behind[ordered[middle]] < (uintptr_t)function)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < mr_forwarded_count && behind[ordered[low]] == function; low++) {
        const struct mr_forwarded *row = &mr_forwarded[ordered[low]];
        int fits = 1 + 2 * (strcmp(row->name, name) == 0) + (row->per_thread == per_thread);
        if (fits > best) {
            best = fits;
            found = row->here;
        }
    }
    return found;
}

static void exchange(const char *symbol, void **function, cuuint64_t flags)
{
    void *here =
        *function ? stands_for(*function, symbol, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0) : NULL;
    if (here)
        *function = here;
    else if (*function)
        mr_log(MR_LOG_INFO, "calls of %s are not seen: this library does not know that function", symbol);
}

CUresult mr_forward_cuGetProcAddress(CUresult (*real)(const char *, void **, int, cuuint64_t), const char *symbol,
                                     void **function, int version, cuuint64_t flags)
{
    if (!real)
        return mr_forward_lacks("cuGetProcAddress");
    CUresult status = real(symbol, function, version, flags);
    if (status == CUDA_SUCCESS)
        exchange(symbol, function, flags);
    return status;
}

CUresult mr_forward_cuGetProcAddress_v2(CUresult (*real)(const char *, void **, int, cuuint64_t,
                                                         CUdriverProcAddressQueryResult *),
                                        const char *symbol, void **function, int version, cuuint64_t flags,
                                        CUdriverProcAddressQueryResult *found)
{
    if (!real)
        return mr_forward_lacks("cuGetProcAddress_v2");
    CUresult status = real(symbol, function, version, flags, found);
    if (status == CUDA_SUCCESS && function)
        exchange(symbol, function, flags);
    return status;
}
