/* SPDX-License-Identifier: Apache-2.0 */
/* What code calls at each load and store that was compiled by `millrace cc --check`.
 *
 * The compiler puts the calls there: they are those of its checks for kernels (-fsanitize=kernel-address), with all
 * that belongs to such a check switched off but the calls. This goes into the program itself. */
#include <stdbool.h>
#include <string.h>

#include "observe/host.h"

__attribute__((visibility("default"))) struct mr_host millrace_host = {.version = MR_HOST_VERSION};

static inline void note(uintptr_t first, size_t size, bool stores, const void *site)
{
    const struct mr_host_bounds *bounds = atomic_load_explicit(&millrace_host.bounds, memory_order_acquire);
    if (__builtin_expect(bounds != NULL, 0) && first - atomic_load_explicit(&bounds->low, memory_order_relaxed) <
                                                   atomic_load_explicit(&bounds->span, memory_order_relaxed))
        millrace_host.access(first, size, stores, site);
}

/* The compiler's names. */
#define CALLS(size) \
    void __asan_load##size##_noabort(uintptr_t at); \
    void __asan_store##size##_noabort(uintptr_t at); \
    void __asan_load##size##_noabort(uintptr_t at) \
    { \
        note(at, size, false, __builtin_return_address(0)); \
    } \
    void __asan_store##size##_noabort(uintptr_t at) \
    { \
        note(at, size, true, __builtin_return_address(0)); \
    }
CALLS(1)
CALLS(2)
CALLS(4)
CALLS(8)
CALLS(16)

void __asan_loadN_noabort(uintptr_t at, size_t size);
void __asan_storeN_noabort(uintptr_t at, size_t size);
void *__asan_memcpy(void *to, const void *from, size_t size);
void *__asan_memmove(void *to, const void *from, size_t size);
void *__asan_memset(void *to, int value, size_t size);
void __asan_handle_no_return(void);

void __asan_loadN_noabort(uintptr_t at, size_t size)
{
    note(at, size, false, __builtin_return_address(0));
}

void __asan_storeN_noabort(uintptr_t at, size_t size)
{
    note(at, size, true, __builtin_return_address(0));
}

void *__asan_memcpy(void *to, const void *from, size_t size)
{
    note((uintptr_t)from, size, false, __builtin_return_address(0));
    note((uintptr_t)to, size, true, __builtin_return_address(0));
    return memcpy(to, from, size);
}

void *__asan_memmove(void *to, const void *from, size_t size)
{
    note((uintptr_t)from, size, false, __builtin_return_address(0));
    note((uintptr_t)to, size, true, __builtin_return_address(0));
    return memmove(to, from, size);
}

void *__asan_memset(void *to, int value, size_t size)
{
    note((uintptr_t)to, size, true, __builtin_return_address(0));
    return memset(to, value, size);
}

void __asan_handle_no_return(void)
{
}
