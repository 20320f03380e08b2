/* SPDX-License-Identifier: Apache-2.0 */
/* What code calls at each load and store that was compiled by `millrace cc --check`.
 *
 * The compiler makes the calls: those of its check for kernels (-fsanitize=kernel-address), of which everything except
 * the calls is switched off. This file becomes part of the program. */
#include <string.h>

#include "libs/host/host_note.h"

__attribute__((visibility("default"))) struct mr_host millrace_host = {.version = MR_HOST_VERSION};

/* The compiler's names. */
#define CALLS(size) \
    void __asan_load##size##_noabort(uintptr_t at); \
    void __asan_store##size##_noabort(uintptr_t at); \
    void __asan_load##size##_noabort(uintptr_t at) \
    { \
        host_note(at, size, false, __builtin_return_address(0)); \
    } \
    void __asan_store##size##_noabort(uintptr_t at) \
    { \
        host_note(at, size, true, __builtin_return_address(0)); \
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
    host_note(at, size, false, __builtin_return_address(0));
}

void __asan_storeN_noabort(uintptr_t at, size_t size)
{
    host_note(at, size, true, __builtin_return_address(0));
}

void *__asan_memcpy(void *to, const void *from, size_t size)
{
    host_note((uintptr_t)from, size, false, __builtin_return_address(0));
    host_note((uintptr_t)to, size, true, __builtin_return_address(0));
    return memcpy(to, from, size);
}

void *__asan_memmove(void *to, const void *from, size_t size)
{
    host_note((uintptr_t)from, size, false, __builtin_return_address(0));
    host_note((uintptr_t)to, size, true, __builtin_return_address(0));
    return memmove(to, from, size);
}

void *__asan_memset(void *to, int value, size_t size)
{
    host_note((uintptr_t)to, size, true, __builtin_return_address(0));
    return memset(to, value, size);
}

void __asan_handle_no_return(void)
{
}
