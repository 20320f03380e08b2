/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and opening the code generation library; see compiler.h.
 *
 * It is never closed, and nothing of it is taken down when the process ends (codegen/llvm/no_exit.c), so a thread may
 * open it or be inside of it while another calls exit. */
#include "compile/compiler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/beside.h"
#include "base/log.h"
#include "base/settings.h"
#include "compile/codegen_interface.h"

#define LIBRARY_NAME "libmillrace-compile.so"

enum { FORK_WAITS_S = 5 };

static pthread_once_t look_once = PTHREAD_ONCE_INIT, open_once = PTHREAD_ONCE_INIT;
static char path[PATH_MAX];
static char identity[80];
static const struct mr_codegen_api *api;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER; /* held from dlopen to its end, and while a thread forks */
static _Thread_local bool forking; /* this thread holds it for that */

static void choose_path(void)
{
    const char *wanted = mr_setting_text(MR_SETTING_COMPILER);
    snprintf(path, sizeof path, "%s", *wanted ? wanted : LIBRARY_NAME);
    if (!*wanted)
        mr_beside(&look_once, LIBRARY_NAME, path);
}

static void look(void)
{
    struct stat facts;
    choose_path();
    if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode))
        snprintf(identity, sizeof identity, "%lld.%lld.%ld", (long long)facts.st_size, (long long)facts.st_mtim.tv_sec,
                 facts.st_mtim.tv_nsec);
    else
        mr_log(
            MR_LOG_WARN,
            "the code generation library '%s' is missing: kernels cannot be compiled; it belongs beside libcuda.so.1, or where "
            "MILLRACE_COMPILER says",
            path);
}

bool mr_compiler_present(void)
{
    pthread_once(&look_once, look);
    return identity[0] != '\0';
}

const char *mr_compiler_identity(void)
{
    pthread_once(&look_once, look);
    return identity;
}

/* Another build's library has other records than this driver, so nothing of it may be called. */
static bool fits(const struct mr_codegen_api *found)
{
    if (!found)
        mr_log(
            MR_LOG_ERROR,
            "'%s' is no code generation library: kernels cannot be compiled; set MILLRACE_COMPILER to the one of this driver",
            path);
    else if (found->version != MR_CODEGEN_VERSION || found->abi != MR_ABI_VERSION ||
             found->interface != MR_CODEGEN_INTERFACE)
        mr_log(
            MR_LOG_ERROR,
            "the code generation library '%s' is of another version than the driver: kernels cannot be compiled; install both from one build",
            path);
    else
        return true;
    return false;
}

static const struct mr_codegen_api *load_library(void)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        mr_log(MR_LOG_ERROR, "cannot open the code generation library: %s", dlerror());
        return NULL;
    }
    const struct mr_codegen_api *found = dlsym(library, MR_CODEGEN_SYMBOL);
    if (fits(found))
        return found;
    dlclose(library);
    return NULL;
}

static void open_library(void)
{
    if (!mr_compiler_present())
        return;
    pthread_mutex_lock(&loading);
    api = load_library();
    pthread_mutex_unlock(&loading);
}

const struct mr_codegen_api *mr_compiler_open(void)
{
    pthread_once(&open_once, open_library);
    return api;
}

/* A thread may fork in a constructor of a library that it opens, and holds the loader's lock then, for which the other
 * thread waits: so the wait has an end. */
void mr_compiler_fork_begins(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += FORK_WAITS_S;
    forking = pthread_mutex_clocklock(&loading, CLOCK_MONOTONIC, &until) == 0;
}

void mr_compiler_fork_ends(void)
{
    if (forking)
        pthread_mutex_unlock(&loading);
    forking = false;
}
