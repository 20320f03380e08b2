/* SPDX-License-Identifier: Apache-2.0 */
/* What every call needs first: the driver, and a current context.
 *
 * The driver is opened once and never closed. A thread without a current context gets the primary context of its
 * device. That context is retained once per device for the whole process and released by cudaDeviceReset only. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mutex.h"
#include "libs/cudart/device.h"
#include "libs/cudart/home.h"
#include "libs/cudart/lock.h"
#include "libs/cudart/register.h"
#include "libs/cudart/runtime.h"
#include "libs/cudart/told.h"
#include "libs/cudart/wanted.h"
#include "runtime_impl.h"

#define MAX_DEVICES 64

/* The folder of the libraries, which nvcc (tools/nvcc/) leaves in each object of CUDA C++. There in programs that have
 * this library inside of them, and only in those: a libcudart.so.N finds the driver beside it. */
extern const char millrace_libraries[] __attribute__((weak, visibility("hidden")));

struct mr_driver mr_driver;
bool mr_rt_is_ready;
unsigned mr_rt_resets;
_Thread_local struct mr_rt_thread mr_rt_thread = {.device = -1};

/* Guards loading, `retained` and `lost`. Taken before the driver's locks, never inside a call of the driver into us. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext retained[MAX_DEVICES];
static bool lost[MAX_DEVICES]; /* reset after a fault: not to be had again in this process, as on hardware */
static int first_device; /* what cudaSetValidDevices put first */

/* The driver's, by which it hears what the program's images want before it makes its devices (object/device.h); NULL in
 * a driver that has none. */
static void (*prefer_capability)(unsigned capability);

#define MR_NAME_(name) #name
#define MR_NAME(name) MR_NAME_(name)

/* The driver that the loader finds, or else the one of the compiler or the archive that made this program. */
static void *find_driver(void)
{
    uintptr_t home = (uintptr_t)mr_rt_home; /* may be NULL, to which nothing may be added */
    const char *const folders[] = {millrace_libraries, home ? (const char *)home + sizeof MR_RT_HOME_MARK - 1 : NULL};
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !library; i++) {
        char path[PATH_MAX];
        if (folders[i] && *folders[i] == '/' &&
            snprintf(path, sizeof path, "%s/libcuda.so.1", folders[i]) < (int)sizeof path)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

/* Finds every function that this library uses. A driver that lacks one is too old. The lock is held. */
static cudaError_t open_driver(void)
{
    MR_MUTEX_HELD(&lock);
    mr_log_setup();
    void *library = find_driver();
    if (!library)
        return mr_rt_bad(cudaErrorInsufficientDriver,
                         "libcudart: there is no driver: %s (run the program through 'millrace run')", dlerror());
    const char *missing = NULL;
#define MR_DRIVER(name) \
    if (!(mr_driver.name = (__typeof__(name) *)dlsym(library, MR_NAME(name)))) \
        missing = MR_NAME(name);
#include "runtime_driver.inc"
#undef MR_DRIVER
    if (missing)
        return mr_rt_bad(cudaErrorInsufficientDriver, "libcudart: the driver that was found has no %s", missing);
    prefer_capability = (void (*)(unsigned))dlsym(library, "millrace_prefer_capability");
    mr_rt_find_points(library);
    return cudaSuccess;
}

/* Its name, or that of its section, tells the audit library that the runtime library inside an object is Millrace's. */
__attribute__((section("millrace_runtime"))) cudaError_t mr_rt_driver_slow(void)
{
    static cudaError_t result;
    static bool tried;
    mr_rt_lock(&lock);
    if (!tried) {
        result = open_driver();
        tried = true;
    }
    cudaError_t status = result;
    if (status == cudaSuccess && !mr_rt_is_ready) {
        if (prefer_capability)
            prefer_capability(mr_rt_wanted_capability());
        status = (cudaError_t)mr_driver.cuInit(0);
        if (status == cudaSuccess)
            __atomic_store_n(&mr_rt_is_ready, true, __ATOMIC_RELEASE);
        else if (status == cudaErrorNoDevice || status == cudaErrorInvalidDevice)
            result =
                status; /* what CUDA_VISIBLE_DEVICES said at the first call counts, though cuInit would read it again */
    }
    mr_rt_unlock(&lock);
    return status;
}

int mr_rt_device(void)
{
    CUdevice device;
    CUcontext current;
    if (mr_rt_is_ready && mr_driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current &&
        mr_driver.cuCtxGetDevice(&device) == CUDA_SUCCESS)
        return device;
    return mr_rt_thread.device >= 0 ? mr_rt_thread.device : __atomic_load_n(&first_device, __ATOMIC_RELAXED);
}

void mr_rt_set_first_device(int device)
{
    __atomic_store_n(&first_device, device, __ATOMIC_RELAXED);
}

cudaError_t mr_rt_primary(int device, CUcontext *out)
{
    CUresult status = CUDA_SUCCESS;
    unsigned flags;
    int active = 0;
    if (device < 0 || device >= MAX_DEVICES)
        return mr_rt_bad(cudaErrorInvalidDevice, "there is no device %d", device);
    mr_rt_lock(&lock);
    if (lost[device]) {
        mr_rt_unlock(&lock);
        return mr_rt_bad(
            cudaErrorDevicesUnavailable,
            "device %d: a kernel failed before it was reset; as on hardware, only another process can use it", device);
    }
    /* The program may have reset it through the driver: then there is nothing of it left but this process's retain. */
    if (retained[device] && mr_driver.cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && !active) {
        (void)mr_driver.cuDevicePrimaryCtxRelease(device);
        retained[device] = NULL;
    }
    if (!retained[device])
        status = mr_driver.cuDevicePrimaryCtxRetain(&retained[device], device);
    if (status != CUDA_SUCCESS)
        retained[device] = NULL;
    *out = retained[device];
    mr_rt_unlock(&lock);
    return (cudaError_t)status;
}

cudaError_t mr_rt_use_device(int device)
{
    CUcontext context;
    unsigned resets = __atomic_load_n(&mr_rt_resets, __ATOMIC_ACQUIRE);
    cudaError_t status = mr_rt_primary(device, &context);
    if (status == cudaSuccess)
        status = (cudaError_t)mr_driver.cuCtxSetCurrent(context);
    if (status != cudaSuccess)
        return status;
    mr_rt_thread.context = context;
    mr_rt_thread.resets = resets;
    return cudaSuccess;
}

/* With CUDA_MODULE_LOADING=EAGER the first context brings all images along. Without it each is loaded when it is used.
 */
static void load_eagerly(void)
{
    static bool done;
    const char *mode = getenv("CUDA_MODULE_LOADING");
    if (mode && strcmp(mode, "EAGER") == 0 && !__atomic_exchange_n(&done, true, __ATOMIC_ACQ_REL))
        mr_rt_load_all();
}

cudaError_t mr_rt_context_slow(void)
{
    CUcontext current;
    unsigned version;
    cudaError_t status = mr_rt_driver();
    if (status != cudaSuccess)
        return status;
    unsigned resets = __atomic_load_n(&mr_rt_resets, __ATOMIC_ACQUIRE);
    CUresult got = mr_driver.cuCtxGetCurrent(&current);
    if (got != CUDA_SUCCESS)
        return (cudaError_t)got;
    /* A context of the program's own, or of its primary kind, if it still lives. */
    if (current && mr_driver.cuCtxGetApiVersion(current, &version) == CUDA_SUCCESS) {
        mr_rt_thread.context = current;
        mr_rt_thread.resets = resets;
    } else {
        status = mr_rt_use_device(mr_rt_thread.device >= 0 ? mr_rt_thread.device
                                                           : __atomic_load_n(&first_device, __ATOMIC_RELAXED));
    }
    if (status == cudaSuccess)
        load_eagerly();
    return status;
}

/* Takes the process's retain of a device back; whether there was one. */
static bool forget(int device)
{
    mr_rt_lock(&lock);
    bool had = retained[device] != NULL;
    retained[device] = NULL;
    mr_rt_unlock(&lock);
    return had;
}

static bool ends_contexts(CUresult status)
{
    switch (status) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
        return true;
    default:
        return false;
    }
}

/* Has a kernel of the device's primary context failed, or will one of those that are under way? */
static bool has_failed(int device)
{
    CUcontext context;
    unsigned flags;
    int active = 0;
    if (mr_driver.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || !active ||
        mr_driver.cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS)
        return false;
    CUresult status = mr_driver.cuCtxSynchronize_v2(context);
    (void)mr_driver.cuDevicePrimaryCtxRelease(device);
    return ends_contexts(status);
}

/* Everything of the device goes. The retain of this process goes as well, so that the next use makes a new context.
 * Ending the context waits for work, which may be a host function that calls us: no lock is held then. A thread that
 * uses the device meanwhile may have retained it again. */
cudaError_t mr_cudaDeviceReset(void)
{
    int device = mr_rt_device();
    if (device < 0 || device >= MAX_DEVICES)
        return cudaErrorInvalidDevice;
    bool failed = has_failed(device), had = forget(device);
    CUresult status = mr_driver.cuDevicePrimaryCtxReset(device);
    if (had && status == CUDA_SUCCESS)
        status = mr_driver.cuDevicePrimaryCtxRelease(device);
    if (forget(device))
        (void)mr_driver.cuDevicePrimaryCtxRelease(device);
    if (failed) {
        mr_rt_lock(&lock);
        lost[device] = true;
        mr_rt_unlock(&lock);
    }
    __atomic_add_fetch(&mr_rt_resets, 1, __ATOMIC_ACQ_REL);
    mr_rt_thread.device = device;
    mr_rt_thread.context = NULL;
    return (cudaError_t)status;
}

void mr_rt_say_bad(const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (mr_log_enabled(MR_LOG_INFO)) {
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        mr_log(MR_LOG_INFO, "%s", text);
    }
}

cudaError_t mr_rt_refuse(const char *entry)
{
    mr_log(MR_LOG_INFO, "%s is not supported; docs/runtime.md lists what is", entry);
    return mr_rt_fail(cudaErrorNotSupported, entry);
}
