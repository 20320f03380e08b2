/* SPDX-License-Identifier: Apache-2.0 */
/* The archives that programs name in place of a library of mathematics (libcublas_static.a). Such an archive holds the
 * way to the library (libcublas.so.13), not the library. A program that has it inside opens the library when it
 * starts, as the loader would, and each function here is a jump to the library's. So the program needs no path, and has
 * the version that is there.
 *
 * The build compiles this file once for each library: MR_LINKED_FILE is the library's file, the file MR_LINKED_NAMES
 * has its functions' names, MR_LINKED_HOME is its folder, which lib/home.py replaces when the archive is installed. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libs/cudart/home.h"

#define STATUS_OF_A_MISSING_LIBRARY 127 /* as the loader has it */

/* The folder of the libraries, which nvcc leaves in each object of CUDA C++. */
extern const char millrace_libraries[] __attribute__((weak, visibility("hidden")));

static const char home[PATH_MAX] = MR_RT_HOME_MARK MR_LINKED_HOME;

/* Each function, and the place that it jumps to, whatever its arguments are. */
#define MR_LINKED(name) \
    static void *to_##name __attribute__((used)); \
    __asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n" \
            "\tendbr64\n\tjmp *to_" #name "(%rip)\n.size " #name ", . - " #name "\n.popsection");
#include MR_LINKED_NAMES
#undef MR_LINKED

static const struct place {
    const char *name;
    void **to;
} places[] = {
#define MR_LINKED(name) {#name, &to_##name},
#include MR_LINKED_NAMES
#undef MR_LINKED
};

static void missing(void)
{
    fprintf(stderr, "millrace: error: the program calls a function that the " MR_LINKED_FILE
                    " which was found does not have; it is older than the " MR_LINKED_FILE
                    " that the program was linked for\n");
    abort();
}

/* The folder of the compiler that made this program, then the archive's, then where the loader looks, which may find
 * NVIDIA's: a program that has a library inside is never given another's. */
static void *find_library(void)
{
    const char *const folders[] = {millrace_libraries, home + sizeof MR_RT_HOME_MARK - 1};
    void *library = NULL;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !library; i++) {
        char path[PATH_MAX];
        if (folders[i] && *folders[i] == '/' &&
            snprintf(path, sizeof path, "%s/" MR_LINKED_FILE, folders[i]) < (int)sizeof path)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library ? library : dlopen(MR_LINKED_FILE, RTLD_NOW | RTLD_LOCAL);
}

/* Runs before the program's own constructors, which may call the library. */
__attribute__((constructor(101))) static void link_library(void)
{
    void *library = find_library();
    if (!library) {
        fprintf(stderr, "millrace: error: %s; run the program through 'millrace run'\n", dlerror());
        _exit(STATUS_OF_A_MISSING_LIBRARY);
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        void *function = dlsym(library, places[i].name);
        *places[i].to = function ? function : (void *)missing;
    }
}
