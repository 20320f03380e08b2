/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names, by the C++ library's own function for it. It is opened when the first such name comes, so that the command
 * does not need the C++ library; without one, names stay as they are. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "names.h"

typedef char *demangle_function(const char *symbol, char *room, size_t *size, int *status);

static demangle_function *find_demangler(void)
{
    static bool looked;
    static demangle_function *function;
    if (!looked) {
        looked = true;
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            library = dlopen("libc++abi.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library)
            function = (demangle_function *)dlsym(library, "__cxa_demangle");
    }
    return function;
}

char *names_demangle(const char *symbol)
{
    demangle_function *demangle = strncmp(symbol, "_Z", 2) == 0 ? find_demangler() : NULL;
    char *readable = demangle ? demangle(symbol, NULL, NULL, NULL) : NULL;
    if (readable)
        mr_demangle_shorten(readable);
    return readable ? readable : strdup(symbol);
}
