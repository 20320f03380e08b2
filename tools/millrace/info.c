/* SPDX-License-Identifier: Apache-2.0 */
/* millrace info: what a program would find here. Asks the driver through its public interface, so the answer is the one
 * that programs get; the document is built once as JSON and printed as such or as text. */
#include <cjson/cJSON.h>
#include <cuda.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/settings.h"
#include "millrace.h"

static const struct {
    const char *name;
    CUdevice_attribute attribute;
} attributes[] = {
    {"compute_capability_major", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {"compute_capability_minor", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {"multiprocessors", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {"clock_rate_khz", CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    {"warp_size", CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {"max_threads_per_block", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {"max_grid_x", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
    {"shared_memory_per_block", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {"shared_memory_per_block_optin", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
};

static const struct {
    const char *name;
    CUlimit limit;
} limits[] = {
    {"stack_size", CU_LIMIT_STACK_SIZE},
    {"printf_fifo_size", CU_LIMIT_PRINTF_FIFO_SIZE},
    {"malloc_heap_size", CU_LIMIT_MALLOC_HEAP_SIZE},
};

/* What a new context on the device has: its limits, and the memory that is free. */
static void add_context(cJSON *entry, CUdevice device)
{
    CUcontext context;
    size_t value, total;
    if (cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS)
        return;
    if (cuCtxPushCurrent(context) == CUDA_SUCCESS) {
        if (cuMemGetInfo(&value, &total) == CUDA_SUCCESS)
            cJSON_AddNumberToObject(entry, "free_memory", (double)value);
        cJSON *object = cJSON_AddObjectToObject(entry, "context_limits");
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
            if (cuCtxGetLimit(&value, limits[i].limit) == CUDA_SUCCESS)
                cJSON_AddNumberToObject(object, limits[i].name, (double)value);
        cuCtxPopCurrent(NULL);
    }
    cuDevicePrimaryCtxRelease(device);
}

static void add_device(cJSON *devices, int ordinal)
{
    CUdevice device;
    char name[256] = "";
    size_t bytes = 0;
    if (cuDeviceGet(&device, ordinal) != CUDA_SUCCESS)
        return;
    cuDeviceGetName(name, sizeof name, device);
    cuDeviceTotalMem(&bytes, device);
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddNumberToObject(entry, "ordinal", ordinal);
    cJSON_AddStringToObject(entry, "name", name);
    cJSON_AddNumberToObject(entry, "total_memory", (double)bytes);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        int value = 0;
        if (cuDeviceGetAttribute(&value, attributes[i].attribute, device) == CUDA_SUCCESS)
            cJSON_AddNumberToObject(entry, attributes[i].name, value);
    }
    add_context(entry, device);
    cJSON_AddItemToArray(devices, entry);
}

/* Files below a folder, one level of subfolders included: number and bytes. */
static void measure_folder(int parent, const char *path, int depth, double *files, double *bytes)
{
    int fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        struct stat status;
        if (entry->d_name[0] == '.' || fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISDIR(status.st_mode) && depth > 0)
            measure_folder(fd, entry->d_name, depth - 1, files, bytes);
        if (S_ISREG(status.st_mode)) {
            *files += 1;
            *bytes += (double)status.st_size;
        }
    }
    closedir(folder);
}

static cJSON *collect(const struct tool_paths *paths)
{
    cJSON *root = cJSON_CreateObject();
    char folder[PATH_MAX];
    double files = 0, bytes = 0;
    int version = 0, count = 0;
    cJSON_AddStringToObject(root, "version", MR_VERSION);
    if (cuDriverGetVersion(&version) == CUDA_SUCCESS)
        cJSON_AddNumberToObject(root, "driver_version", version);
    cJSON_AddStringToObject(root, "libraries", paths->libraries);
    cJSON_AddStringToObject(root, "shims", paths->shims);
    cJSON *devices = cJSON_AddArrayToObject(root, "devices");
    if (cuDeviceGetCount(&count) == CUDA_SUCCESS)
        for (int i = 0; i < count; i++)
            add_device(devices, i);
    cJSON *cache = cJSON_AddObjectToObject(root, "cache");
    bool known = mr_setting_cache_folder(folder, sizeof folder);
    if (known)
        measure_folder(AT_FDCWD, folder, 1, &files, &bytes);
    else
        snprintf(folder, sizeof folder, "none: neither HOME nor MILLRACE_CACHE_DIR is set");
    cJSON_AddBoolToObject(cache, "on", known && mr_setting_on(MR_SETTING_CACHE));
    cJSON_AddStringToObject(cache, "folder", folder);
    cJSON_AddNumberToObject(cache, "files", files);
    cJSON_AddNumberToObject(cache, "bytes", bytes);
    cJSON *settings = cJSON_AddObjectToObject(root, "settings");
    for (int i = 0; i < MR_SETTING_COUNT; i++)
        cJSON_AddStringToObject(settings, mr_setting_describe((enum mr_setting)i)->name,
                                mr_setting_in_force((enum mr_setting)i));
    return root;
}

static bool contains(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

/* Numbers as a reader wants them: sizes with a unit, versions and rates with a point. */
static void print_number(const char *name, double value)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    double scaled = value;
    if (strcmp(name, "driver_version") == 0) {
        printf("CUDA %d.%d\n", (int)value / 1000, (int)value % 1000 / 10);
    } else if (strcmp(name, "clock_rate_khz") == 0) {
        printf("%.0f (%.2f GHz)\n", value, value / 1e6);
    } else if (contains(name, "memory") || contains(name, "_size") || contains(name, "bytes")) {
        for (; scaled >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
            scaled /= 1024;
        printf(unit ? "%.0f (%.4g %s)\n" : "%.0f\n", value, scaled, units[unit]);
    } else {
        printf("%.0f\n", value);
    }
}

/* The document as indented lines: objects and arrays open a level, everything else is "name value". */
static void print_text(const cJSON *item, int depth)
{
    for (const cJSON *child = item->child; child; child = child->next) {
        const char *name = child->string ? child->string : "device";
        if (cJSON_IsArray(child)) {
            print_text(child, depth);
            continue;
        }
        if (cJSON_IsObject(child)) {
            printf("%s%*s%s\n", depth ? "" : "\n", depth * 2, "", name);
            print_text(child, depth + 1);
            continue;
        }
        printf("%*s%-*s ", depth * 2, "", 34 - depth * 2, name);
        if (cJSON_IsString(child))
            puts(*child->valuestring ? child->valuestring : "(not set)");
        else if (cJSON_IsBool(child))
            puts(cJSON_IsTrue(child) ? "yes" : "no");
        else
            print_number(name, child->valuedouble);
    }
}

int tool_info(int argc, char **argv)
{
    bool json = false;
    struct tool_paths paths;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            puts(
                "Usage: millrace info [--json]\n\nShows the devices and their limits, where libraries and shims are, the cache of "
                "compiled kernels\nand the settings in force. --json prints the same as one JSON document.");
            return 0;
        } else {
            return tool_bad_argument("info", argv[i]);
        }
    }
    if (!tool_find_paths(&paths))
        return 1;
    CUresult status = cuInit(0);
    if (status != CUDA_SUCCESS) {
        const char *name = "unknown status";
        cuGetErrorName(status, &name);
        fprintf(stderr, "millrace info: the driver does not start: %s; MILLRACE_LOG=info says more\n", name);
        return 1;
    }
    cJSON *root = collect(&paths);
    if (json) {
        char *text = cJSON_Print(root);
        puts(text ? text : "{}");
        free(text);
    } else {
        print_text(root, 0);
    }
    cJSON_Delete(root);
    return 0;
}
