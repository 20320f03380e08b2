/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and opening the code generation library; see compiler.h. It is never closed: its code may be running when the process ends. */
#include "compile/compiler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/settings.h"
#include "base/thread.h"

#define LIBRARY_NAME "libmillrace-compile.so"

static pthread_once_t look_once = PTHREAD_ONCE_INIT, open_once = PTHREAD_ONCE_INIT;
static char path[4096];
static char identity[80];
static const struct mr_codegen_api *api;

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

static void open_library(void)
{
    if (!mr_compiler_present())
        return;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        mr_log(MR_LOG_ERROR, "cannot open the code generation library: %s", dlerror());
        return;
    }
    const struct mr_codegen_api *found = dlsym(library, MR_CODEGEN_SYMBOL);
    if (!found || found->version != MR_CODEGEN_VERSION || found->abi != MR_ABI_VERSION) {
        mr_log(MR_LOG_ERROR, "'%s' is not the code generation library of this driver", path);
        dlclose(library);
        return;
    }
    api = found;
}

const struct mr_codegen_api *mr_compiler_open(void)
{
    pthread_once(&open_once, open_library);
    return api;
}
