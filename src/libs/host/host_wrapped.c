/* SPDX-License-Identifier: Apache-2.0 */
/* For gcc, which doesn't tell of memcpy and the like: the linker puts these in their place (--wrap). */
#include <stdint.h>
#include <string.h>

void __asan_loadN_noabort(uintptr_t at, size_t size);
void __asan_storeN_noabort(uintptr_t at, size_t size);
void *__real_memcpy(void *to, const void *from, size_t size);
void *__real_memmove(void *to, const void *from, size_t size);
void *__real_memset(void *to, int value, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void *__wrap_memmove(void *to, const void *from, size_t size);
void *__wrap_memset(void *to, int value, size_t size);

void *__wrap_memcpy(void *to, const void *from, size_t size)
{
    __asan_loadN_noabort((uintptr_t)from, size);
    __asan_storeN_noabort((uintptr_t)to, size);
    return __real_memcpy(to, from, size);
}

void *__wrap_memmove(void *to, const void *from, size_t size)
{
    __asan_loadN_noabort((uintptr_t)from, size);
    __asan_storeN_noabort((uintptr_t)to, size);
    return __real_memmove(to, from, size);
}

void *__wrap_memset(void *to, int value, size_t size)
{
    __asan_storeN_noabort((uintptr_t)to, size);
    return __real_memset(to, value, size);
}
