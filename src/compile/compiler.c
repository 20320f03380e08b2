/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and opening the code generation library; see compiler.h. It is never closed.
 *
 * Its code may be running on some thread when another one calls exit, which takes down LLVM's tables. So a function of atexit's waits for those inside. Such
 * functions run in the reverse order of registration: ours is registered when the library has been opened, and LLVM is kept from registering more
 * (llvm_exit.h). An exit that begins while the library is being opened, some milliseconds of a process's life, runs LLVM's functions first; ours, registered
 * before as well, comes right behind them, so a moment's pause after the opening shows whether the process is ending. Known to be left: LLVM tables that go while
 * others are still being made, in those milliseconds, may take the process down. */
#include "compile/compiler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/thread.h"
#include "compile/codegen_interface.h"
#include "compile/llvm_exit.h"

#define LIBRARY_NAME "libmillrace-compile.so"

static pthread_once_t look_once = PTHREAD_ONCE_INIT, open_once = PTHREAD_ONCE_INIT;
static char path[4096];
static char identity[80];
static const struct mr_codegen_api *api;

#define END_WAIT_NS 10000000000u     /* for compilations, at the end of the process */
#define OPEN_PAUSE_NS 2000000        /* see above */

static _Atomic uint32_t inside;      /* threads that use the library; futex of the thread that ends the process */
static _Atomic bool ending;
static _Thread_local bool self_inside;

static void end_of_uses(void)
{
    uint64_t limit = mr_clock_ns() + END_WAIT_NS;
    uint32_t own = self_inside, now;
    atomic_store(&ending, true);
    while ((now = atomic_load(&inside)) > own && mr_clock_ns() < limit)
        mr_futex_wait(&inside, now, 100000000u);
}

bool mr_compiler_enter(void)
{
    atomic_fetch_add(&inside, 1);
    self_inside = true;
    if (!atomic_load(&ending))
        return true;
    mr_compiler_leave();
    return false;
}

void mr_compiler_leave(void)
{
    self_inside = false;
    atomic_fetch_sub(&inside, 1);
    if (atomic_load(&ending))
        mr_futex_wake(&inside, 1);
}

/* The folder of the library that this code is in. */
static void choose_path(void)
{
    const char *wanted = mr_setting_text(MR_SETTING_COMPILER);
    Dl_info self;
    if (*wanted) {
        snprintf(path, sizeof path, "%s", wanted);
        return;
    }
    snprintf(path, sizeof path, LIBRARY_NAME);
    if (dladdr((void *)&look_once, &self) == 0 || !self.dli_fname)
        return;
    const char *slash = strrchr(self.dli_fname, '/');
    if (slash)
        snprintf(path, sizeof path, "%.*s/" LIBRARY_NAME, (int)(slash - self.dli_fname), self.dli_fname);
}

static void look(void)
{
    struct stat facts;
    choose_path();
    if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode))
        snprintf(identity, sizeof identity, "%lld.%lld.%ld", (long long)facts.st_size, (long long)facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
    else
        mr_log(MR_LOG_WARN, "the code generation library '%s' is missing: kernels cannot be compiled; it belongs beside libcuda.so.1, or where "
            "MILLRACE_COMPILER says", path);
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
        mr_log(MR_LOG_ERROR, "'%s' is no code generation library: kernels cannot be compiled; set MILLRACE_COMPILER to the one of this driver", path);
    else if (found->version != MR_CODEGEN_VERSION || found->abi != MR_ABI_VERSION || found->interface != MR_CODEGEN_INTERFACE)
        mr_log(MR_LOG_ERROR, "the code generation library '%s' is of another version than the driver: kernels cannot be compiled; install both from one build",
            path);
    else
        return true;
    return false;
}

static void open_library(void)
{
    if (!mr_compiler_present())
        return;
    if (atexit(end_of_uses) != 0) {
        mr_log(MR_LOG_ERROR, "cannot prepare for the end of the process: out of memory");
        return;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        mr_log(MR_LOG_ERROR, "cannot open the code generation library: %s", dlerror());
        return;
    }
    const struct mr_codegen_api *found = dlsym(library, MR_CODEGEN_SYMBOL);
    if (!fits(found)) {
        dlclose(library);
        return;
    }
    if (!mr_llvm_exit_silence())
        mr_log(MR_LOG_DEBUG, "LLVM's destructors can't be kept from running at exit");
    if (atexit(end_of_uses) != 0) {
        mr_log(MR_LOG_ERROR, "cannot prepare for the end of the process: out of memory");
        return;
    }
    nanosleep(&(struct timespec){ .tv_nsec = OPEN_PAUSE_NS }, NULL);
    if (!atomic_load(&ending))
        api = found;
}

const struct mr_codegen_api *mr_compiler_open(void)
{
    pthread_once(&open_once, open_library);
    return api;
}
