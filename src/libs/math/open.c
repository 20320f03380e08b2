/* SPDX-License-Identifier: Apache-2.0 */
/* dlopen and dlsym with lines in the log. */
#include "libs/math/open.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/log.h"

void *mr_cpu_library_load(const char *name, bool is_cpp)
{
    /* A sanitizer's runtime ends the program at an RTLD_DEEPBIND. */
    bool has_sanitizer = dlsym(RTLD_DEFAULT, "__sanitizer_set_report_path") != NULL;
    return dlopen(name, RTLD_NOW | RTLD_LOCAL | (is_cpp || has_sanitizer ? 0 : RTLD_DEEPBIND));
}

void *mr_cpu_library_open(const struct mr_cpu_library *wanted)
{
    mr_log_setup();
    for (const char *const *name = wanted->names; *name; name++) {
        void *library = mr_cpu_library_load(*name, wanted->is_cpp);
        if (library && (!wanted->fits || wanted->fits(library, *name)))
            return library;
        if (library)
            dlclose(library);
    }
    mr_log(MR_LOG_WARN, "%s is missing, without which there is no %s: install the package %s", wanted->what,
           wanted->without, wanted->package);
    return NULL;
}

bool mr_cpu_library_find(const struct mr_cpu_library *wanted, void *library, void **function, const char *symbol)
{
    *function = dlsym(library, symbol);
    if (!*function)
        mr_log(MR_LOG_WARN, "the library that was found for %s has no %s: install the package %s", wanted->without,
               symbol, wanted->package);
    return *function != NULL;
}
