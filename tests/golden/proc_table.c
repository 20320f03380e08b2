/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes down facts of a driver for reading: which symbol cuGetProcAddress
 * gives for each name, version and flag; the texts of all statuses; and the
 * device attributes.  No test compares these.
 *
 *     proc_table NAMES      a file with one name per line
 *     proc_table --errors
 *     proc_table --attributes
 */
#define _GNU_SOURCE
#include <cuda.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int versions[] = {2000,  2010,  2020,  3000,  3010,  3020,  4000,  4010,  4020,  5000,  5050,
                               6000,  6050,  7000,  7050,  8000,  9000,  9010,  9020,  10000, 10010, 10020,
                               11000, 11010, 11020, 11030, 11040, 11050, 11060, 11070, 11080, 12000, 12010,
                               12020, 12030, 12040, 12050, 12060, 12070, 12080, 12090, 13000, 13010};
enum { VERSIONS = sizeof versions / sizeof versions[0] };

/* The exported symbol at ADDRESS: by the loader's tables, or by trying the forms of NAME. */
static const char *symbol_at(const char *name, void *address, char *room, size_t size)
{
    static const char *const suffixes[] = {"",      "_v2",      "_v3",      "_v4",      "_v5",      "_ptsz",
                                           "_ptds", "_v2_ptsz", "_v2_ptds", "_v3_ptsz", "_v3_ptds", "_v4_ptsz"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(room, size, "%s%s", name, suffixes[i]);
        if (dlsym(RTLD_DEFAULT, room) == address)
            return room;
    }
    Dl_info info;
    if (dladdr(address, &info) && info.dli_sname && info.dli_saddr == address)
        return info.dli_sname;
    if (dladdr(address, &info) && info.dli_fname) {
        snprintf(room, size, "unexported+0x%lx", (unsigned long)((char *)address - (char *)info.dli_fbase));
        return room;
    }
    return "unknown";
}

/* One line per name and flag: ranges of versions with one answer. */
static void table_line(const char *name, unsigned long flags)
{
    char line[4096] = "", before[256] = "";
    int from = 0;
    for (int i = 0; i <= VERSIONS; i++) {
        char text[256] = "", room[128];
        if (i < VERSIONS) {
            void *address = NULL;
            CUdriverProcAddressQueryResult result = (CUdriverProcAddressQueryResult)9;
            CUresult status = cuGetProcAddress_v2(name, &address, versions[i], flags, &result);
            snprintf(text, sizeof text, "%s(%d,%d)", address ? symbol_at(name, address, room, sizeof room) : "-",
                     (int)status, (int)result);
        }
        if (i == 0) {
            strcpy(before, text);
        } else if (strcmp(before, text) != 0) {
            size_t length = strlen(line);
            snprintf(line + length, sizeof line - length, " %d-%d:%s", versions[from], versions[i - 1], before);
            strcpy(before, text);
            from = i;
        }
    }
    printf("%s %lu%s\n", name, flags, line);
}

static int table(const char *path)
{
    FILE *names = fopen(path, "r");
    if (!names) {
        perror(path);
        return 1;
    }
    char name[256];
    while (fscanf(names, "%255s", name) == 1)
        for (unsigned long flags = 0; flags < 3; flags++)
            table_line(name, flags);
    fclose(names);
    return 0;
}

static int errors(void)
{
    for (int code = 0; code < 1001; code++) {
        const char *name = NULL, *text = NULL;
        CUresult one = cuGetErrorName((CUresult)code, &name), two = cuGetErrorString((CUresult)code, &text);
        if (one == CUDA_SUCCESS || two == CUDA_SUCCESS)
            printf("%d %d %d %s | %s\n", code, (int)one, (int)two, name ? name : "-", text ? text : "-");
    }
    return 0;
}

static int attributes(void)
{
    CUdevice device;
    char name[256] = "";
    size_t bytes = 0, limit = 0;
    if (cuDeviceGet(&device, 0) != CUDA_SUCCESS)
        return 1;
    cuDeviceGetName(name, sizeof name, device);
    cuDeviceTotalMem(&bytes, device);
    printf("name %s\ntotal %zu\n", name, bytes);
    for (int i = 0; i <= 160; i++) {
        int value = 0;
        CUresult status = cuDeviceGetAttribute(&value, (CUdevice_attribute)i, device);
        printf("attribute %d status %d value %d\n", i, (int)status, value);
    }
    CUcontext context;
    if (cuCtxCreate(&context, NULL, 0, device) != CUDA_SUCCESS)
        return 1;
    for (int i = 0; i < 16; i++) {
        CUresult status = cuCtxGetLimit(&limit, (CUlimit)i);
        printf("limit %d status %d value %zu\n", i, (int)status, limit);
    }
    int low = 0, high = 0;
    cuCtxGetStreamPriorityRange(&low, &high);
    printf("priorities %d %d\n", low, high);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: proc_table NAMES | --errors | --attributes\n");
        return 2;
    }
    if (cuInit(0) != CUDA_SUCCESS) {
        fprintf(stderr, "proc_table: cuInit failed\n");
        return 1;
    }
    if (!strcmp(argv[1], "--errors"))
        return errors();
    if (!strcmp(argv[1], "--attributes"))
        return attributes();
    return table(argv[1]);
}
