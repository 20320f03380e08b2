/* SPDX-License-Identifier: Apache-2.0 */
/* The management library and the driver say the same of devices, memory and processes. Each test has a process of its
 * own, because a process initialises the driver once. */
#include <cuda.h>
#include <nvml.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)
#define DRIVER(call) CHECK((call) == CUDA_SUCCESS)
#define NVML(call) CHECK((call) == NVML_SUCCESS)
#define MIB (1ull << 20)

static nvmlDevice_t device_at(unsigned index)
{
    nvmlDevice_t device;
    NVML(nvmlDeviceGetHandleByIndex(index, &device));
    return device;
}

static unsigned long long used(nvmlDevice_t device)
{
    nvmlMemory_t memory;
    NVML(nvmlDeviceGetMemoryInfo(device, &memory));
    CHECK(memory.used + memory.free == memory.total);
    return memory.used;
}

/* Whether the process is among those that use the device; its memory there in *bytes. */
static bool is_listed(nvmlDevice_t device, pid_t process, unsigned long long *bytes)
{
    nvmlProcessInfo_t infos[512];
    unsigned count = 512;
    NVML(nvmlDeviceGetComputeRunningProcesses(device, &count, infos));
    for (unsigned i = 0; i < count; i++)
        if (infos[i].pid == (unsigned)process) {
            *bytes = infos[i].usedGpuMemory;
            return true;
        }
    return false;
}

static void identities(void)
{
    setenv("MILLRACE_DEVICES", "3", 1);
    setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
    unsigned count = 0;
    int version, same;
    NVML(nvmlInit());
    NVML(nvmlDeviceGetCount(&count));
    CHECK(count == 3); /* NVML takes no notice of CUDA_VISIBLE_DEVICES */
    DRIVER(cuInit(0));
    DRIVER(cuDriverGetVersion(&version));
    NVML(nvmlSystemGetCudaDriverVersion(&same));
    CHECK(version == same);
    static const unsigned numbers[] = {2, 0};
    for (int ordinal = 0; ordinal < 2; ordinal++) {
        nvmlDevice_t device = device_at(numbers[ordinal]), found;
        char driver_text[128], text[128];
        CUuuid uuid;
        nvmlPciInfo_t pci;
        nvmlMemory_t memory;
        size_t total;
        int major, minor, driver_major, driver_minor;
        DRIVER(cuDeviceGetName(driver_text, sizeof driver_text, ordinal));
        NVML(nvmlDeviceGetName(device, text, NVML_DEVICE_NAME_V2_BUFFER_SIZE));
        CHECK(strncmp(text, driver_text, NVML_DEVICE_NAME_V2_BUFFER_SIZE - 1) == 0);
        DRIVER(cuDeviceGetUuid_v2(&uuid, ordinal));
        NVML(nvmlDeviceGetUUID(device, text, sizeof text));
        NVML(nvmlDeviceGetHandleByUUID(text, &found));
        CHECK(found == device);
        for (int byte = 0, at = 4; byte < 16; byte++) {
            unsigned value;
            if (text[at] == '-')
                at++;
            CHECK(sscanf(text + at, "%2x", &value) == 1 && value == (unsigned char)uuid.bytes[byte]);
            at += 2;
        }
        DRIVER(cuDeviceGetPCIBusId(driver_text, sizeof driver_text, ordinal));
        NVML(nvmlDeviceGetPciInfo(device, &pci));
        CHECK(strcmp(pci.busIdLegacy, driver_text) == 0);
        NVML(nvmlDeviceGetHandleByPciBusId(driver_text, &found));
        CHECK(found == device);
        DRIVER(cuDeviceTotalMem(&total, ordinal));
        NVML(nvmlDeviceGetMemoryInfo(device, &memory));
        CHECK(memory.total == total);
        DRIVER(cuDeviceGetAttribute(&driver_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, ordinal));
        DRIVER(cuDeviceGetAttribute(&driver_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, ordinal));
        NVML(nvmlDeviceGetCudaComputeCapability(device, &major, &minor));
        CHECK(major == driver_major && minor == driver_minor);
    }
}

/* Memory in use follows the driver's, on the right device, and the process is listed while it has a context. */
static void memory_in_use(void)
{
    setenv("MILLRACE_DEVICES", "2", 1);
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    CUcontext context;
    CUdeviceptr address, other;
    unsigned long long bytes = 0;
    size_t free_bytes, total;
    NVML(nvmlInit());
    nvmlDevice_t device = device_at(1);
    CHECK(!is_listed(device, getpid(), &bytes));
    DRIVER(cuInit(0));
    CHECK(!is_listed(device, getpid(), &bytes));
    DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
    DRIVER(cuCtxSetCurrent(context));
    CHECK(is_listed(device, getpid(), &bytes));
    CHECK(!is_listed(device_at(0), getpid(), &bytes));
    DRIVER(cuMemAlloc(&address, 64 * MIB));
    CHECK(is_listed(device, getpid(), &bytes) && bytes >= 64 * MIB);
    CHECK(used(device) >= bytes);
    DRIVER(cuMemGetInfo(&free_bytes, &total));
    CHECK(bytes == total - free_bytes);
    DRIVER(cuMemAllocAsync(&other, 32 * MIB, 0));
    DRIVER(cuStreamSynchronize(0));
    DRIVER(cuMemGetInfo(&free_bytes, &total));
    CHECK(is_listed(device, getpid(), &bytes) && bytes >= 96 * MIB && bytes == total - free_bytes);
    DRIVER(cuMemFree(address));
    CHECK(is_listed(device, getpid(), &bytes) && bytes < 96 * MIB);
    DRIVER(cuDevicePrimaryCtxReset(0));
    CHECK(!is_listed(device, getpid(), &bytes));
}

/* A process that dies without a word is gone from the list, and one that was forked is not taken for its parent. */
static void other_processes(void)
{
    unsigned long long bytes = 0;
    int ready[2];
    char byte;
    CHECK(pipe(ready) == 0);
    pid_t holder = fork();
    if (holder == 0) {
        CUcontext context;
        CUdeviceptr address;
        DRIVER(cuInit(0));
        DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
        DRIVER(cuCtxSetCurrent(context));
        DRIVER(cuMemAlloc(&address, 48 * MIB));
        pid_t child = fork(); /* it has the descriptor, too, and outlives its parent */
        if (child == 0) {
            sleep(60);
            _exit(0);
        }
        CHECK(write(ready[1], &child, sizeof child) == sizeof child);
        for (;;)
            pause();
    }
    pid_t child;
    CHECK(read(ready[0], &child, sizeof child) == sizeof child);
    NVML(nvmlInit());
    nvmlDevice_t device = device_at(0);
    CHECK(is_listed(device, holder, &bytes) && bytes >= 48 * MIB);
    CHECK(!is_listed(device, child, &bytes));
    char name[256];
    NVML(nvmlSystemGetProcessName((unsigned)holder, name, sizeof name));
    CHECK(strstr(name, "test_nvml"));
    kill(holder, SIGKILL);
    CHECK(waitpid(holder, NULL, 0) == holder);
    CHECK(!is_listed(device, holder, &bytes));
    CHECK(!is_listed(device, child, &bytes));
    kill(child, SIGKILL);
    close(ready[0]);
    (void)byte;
}

/* A program may look at the devices here, fork, and use the driver in the child. */
static void fork_after_init(void)
{
    NVML(nvmlInit());
    nvmlMemory_t memory;
    NVML(nvmlDeviceGetMemoryInfo(device_at(0), &memory));
    pid_t child = fork();
    if (child == 0) {
        CUcontext context;
        unsigned long long bytes;
        DRIVER(cuInit(0));
        DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
        CHECK(is_listed(device_at(0), getpid(), &bytes));
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* A process that computes shows in the figures; what they are depends on the machine, so the bounds are wide. */
static void busy(void)
{
    NVML(nvmlInit());
    nvmlDevice_t device = device_at(0);
    CUcontext context;
    DRIVER(cuInit(0));
    DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
    nvmlUtilization_t rates;
    nvmlProcessUtilizationSample_t samples[512];
    unsigned count = 512;
    bool seen = false;
    /* This thread works for as long as it takes until the figures show it. */
    for (int round = 0; round < 200 && !seen; round++) {
        for (volatile unsigned i = 0; i < 50000000; i++)
            ;
        NVML(nvmlDeviceGetUtilizationRates(device, &rates));
        CHECK(rates.gpu <= 100 && rates.memory == 0);
        count = 512;
        NVML(nvmlDeviceGetProcessUtilization(device, samples, &count, 0));
        for (unsigned i = 0; i < count; i++)
            seen |= samples[i].pid == (unsigned)getpid() && samples[i].smUtil > 0;
    }
    CHECK(seen);
}

/* A device's memory never counts as more than there is: each process has all of it for itself. */
static void several_together(void)
{
    setenv("MILLRACE_MEMORY", "256M", 1);
    pid_t holders[3];
    int ready[2];
    char byte = 0;
    CHECK(pipe(ready) == 0);
    for (int i = 0; i < 3; i++) {
        if ((holders[i] = fork()) == 0) {
            CUcontext context;
            CUdeviceptr address;
            DRIVER(cuInit(0));
            DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
            DRIVER(cuCtxSetCurrent(context));
            DRIVER(cuMemAlloc(&address, 100 * MIB));
            CHECK(write(ready[1], &byte, 1) == 1);
            for (;;)
                pause();
        }
    }
    for (int i = 0; i < 3; i++)
        CHECK(read(ready[0], &byte, 1) == 1);
    NVML(nvmlInit());
    nvmlMemory_t memory;
    unsigned long long bytes;
    NVML(nvmlDeviceGetMemoryInfo(device_at(0), &memory));
    CHECK(memory.total == 256 * MIB && memory.used == memory.total && memory.free == 0);
    for (int i = 0; i < 3; i++)
        CHECK(is_listed(device_at(0), holders[i], &bytes) && bytes >= 100 * MIB);
    unsigned count = 1;
    nvmlProcessInfo_t info;
    CHECK(nvmlDeviceGetComputeRunningProcesses(device_at(0), &count, &info) == NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK(count >= 3);
    for (int i = 0; i < 3; i++) {
        kill(holders[i], SIGKILL);
        waitpid(holders[i], NULL, 0);
    }
}

/* A false record of use is passed over: too short, without the mark, or of another process. */
static void foreign_records(void)
{
    static const char wrong[4096] = "nothing";
    unsigned long long bytes;
    for (int size = 0; size <= 4096; size += 2048) {
        int fd = memfd_create("millrace-use", 0);
        CHECK(fd >= 0 && write(fd, wrong, (size_t)size) == size);
    }
    NVML(nvmlInit());
    CHECK(!is_listed(device_at(0), getpid(), &bytes));
}

int main(void)
{
    static void (*const tests[])(void) = {identities, memory_in_use,    other_processes, fork_after_init,
                                          busy,       several_together, foreign_records};
    int failed = 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        pid_t child = fork();
        if (child == 0) {
            tests[i]();
            exit(0);
        }
        int status = 1;
        waitpid(child, &status, 0);
        printf("%s test %zu\n", status == 0 ? "passed:" : "FAILED:", i);
        fflush(stdout);
        failed += status != 0;
    }
    return failed != 0;
}
