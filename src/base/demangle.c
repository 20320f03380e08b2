/* SPDX-License-Identifier: Apache-2.0 */
/* The C++ library's function for names, found once. (Itanium C++ ABI: Demangler API.) */
#include "base/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangler(const char *symbol, char *room, size_t *size, int *status);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic uintptr_t found; /* a demangler; 0: none */

static void look(void)
{
    void *function = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    void *library = function ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (library)
        function = dlsym(library, "__cxa_demangle");
    atomic_store_explicit(&found, (uintptr_t)function, memory_order_release);
}

void mr_demangle_prepare(void)
{
    pthread_once(&once, look);
}

void mr_demangle(const char *symbol, char *text, size_t room)
{
    char *readable = NULL;
    uintptr_t function = atomic_load_explicit(&found, memory_order_acquire);
    if (symbol && strncmp(symbol, "_Z", 2) == 0 && function)
        readable = ((demangler *)function)(symbol, NULL, NULL, NULL);
    if (readable)
        mr_demangle_shorten(readable);
    snprintf(text, room, "%s", readable ? readable : symbol ? symbol : "?");
    free(readable);
}
