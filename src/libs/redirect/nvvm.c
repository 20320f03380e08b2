/* SPDX-License-Identifier: Apache-2.0 */
/* nvvmCompileProgram without the option -gen-lto. It runs on the program's threads, which the C library of this
 * namespace does not know: it calls nothing that keeps something for each thread, or takes memory. */
#include "libs/redirect/nvvm.h"

#include <string.h>

#include "base/log.h"
#include "libs/redirect/libraries.h"

enum { COPIES = 4, MOST_OPTIONS = 256 };

typedef int (*compile_function)(void *program, int count, const char **options);

/* A program may have libnvvm of several versions; each has a function before it. */
static compile_function compilers[COPIES];

bool mr_nvvm_is(const char *path)
{
    static const char stem[] = "libnvvm.so";
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, stem, sizeof stem - 1) == 0 && !mr_redirect_keeps("libnvvm");
}

static bool is_gen_lto(const char *option)
{
    return option && (strcmp(option, "-gen-lto") == 0 || strcmp(option, "--gen-lto") == 0);
}

static int compile(compile_function theirs, void *program, int count, const char **options)
{
    const char *kept[MOST_OPTIONS];
    int kept_count = 0;
    if (!options || count > MOST_OPTIONS)
        return theirs(program, count, options);
    for (int i = 0; i < count; i++)
        if (!is_gen_lto(options[i]))
            kept[kept_count++] = options[i];
    return theirs(program, kept_count, kept);
}

#define COMPILE(number) \
    static int compile_##number(void *program, int count, const char **options) \
    { \
        return compile(__atomic_load_n(&compilers[number], __ATOMIC_ACQUIRE), program, count, options); \
    }
COMPILE(0)
COMPILE(1)
COMPILE(2)
COMPILE(3)

uintptr_t mr_nvvm_symbol(const char *name, uintptr_t address)
{
    static const compile_function before[COPIES] = {compile_0, compile_1, compile_2, compile_3};
    compile_function theirs = (compile_function)address;
    if (!address || strcmp(name, "nvvmCompileProgram") != 0)
        return address;
    for (int i = 0; i < COPIES; i++) {
        if (!compilers[i])
            __atomic_store_n(&compilers[i], theirs, __ATOMIC_RELEASE);
        if (compilers[i] == theirs)
            return (uintptr_t)before[i];
    }
    mr_log(MR_LOG_WARN, "more than %d libnvvm in this process: LTO code of the last can't be linked", COPIES);
    return address;
}
