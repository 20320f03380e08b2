/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the driver, and contexts of threads that have none. */
#include "libs/math/driver.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/log.h"

#define NAME_(name) #name
#define NAME(name) NAME_(name)

struct mr_math_driver mr_math_driver;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_open;

static void open_driver(void)
{
    mr_log_setup();
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        mr_log(MR_LOG_WARN, "there is no driver: %s (run the program through 'millrace run')", dlerror());
        return;
    }
    const char *missing = NULL;
#define FIND(name) \
    if (!(mr_math_driver.name = (__typeof__(name) *)dlsym(library, NAME(name)))) \
        missing = NAME(name);
    MR_MATH_DRIVER_FUNCTIONS(FIND)
#undef FIND
    *(void **)&mr_math_driver.submit_parts = dlsym(library, "millrace_submit_parts");
    *(void **)&mr_math_driver.fail_part = dlsym(library, "millrace_fail_part");
    *(void **)&mr_math_driver.touch_part = dlsym(library, "millrace_touch_part");
    *(void **)&mr_math_driver.touch_late = dlsym(library, "millrace_touch_late");
    if (!mr_math_driver.touch_part || !mr_math_driver.touch_late || !mr_math_driver.submit_parts ||
        !mr_math_driver.fail_part)
        missing = "millrace_submit_parts: it is not Millrace's, or an older one";
    if (missing)
        mr_log(MR_LOG_WARN, "the driver that was found has no %s", missing);
    else
        is_open = mr_math_driver.cuInit(0) == CUDA_SUCCESS;
}

bool mr_math_driver_open(void)
{
    pthread_once(&once, open_driver);
    return is_open;
}

CUcontext mr_math_context(CUcontext wanted)
{
    CUcontext current = NULL;
    if (mr_math_driver.cuCtxGetCurrent(&current) != CUDA_SUCCESS)
        return NULL;
    if (current)
        return current;
    if (!wanted && mr_math_driver.cuDevicePrimaryCtxRetain(&wanted, 0) != CUDA_SUCCESS)
        return NULL;
    return mr_math_driver.cuCtxSetCurrent(wanted) == CUDA_SUCCESS ? wanted : NULL;
}
