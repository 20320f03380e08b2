/* SPDX-License-Identifier: Apache-2.0 */
/* Stray accesses of kernels: indices that lead out of local memory, bytes behind and before allocations, freed memory;
 * by default and with MILLRACE_GUARD. Each in a child process, whose log goes to a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

static const char kernels[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .b8 variable[1000];\n"
    ".visible .entry poke(.param .u64 p)\n{\n.reg .u64 %d<2>;\nld.param.u64 %d0, [p];\nst.global.u32 [%d0], 7;\nret;\n}\n"
    /* All warps have stacks; thread 40's index is wrong. */
    ".visible .entry local(.param .u64 offset)\n{\n.reg .u64 %d<4>;\n.reg .u32 %r<3>;\n.reg .pred %p;\n.local .align 4 .b8 words[64];\n"
    "ld.param.u64 %d0, [offset];\nmov.u32 %r0, %tid.x;\nsetp.ne.u32 %p, %r0, 40;\nmov.u64 %d1, words;\nand.b32 %r1, %r0, 15;\nmul.wide.u32 %d2, %r1, 4;\n"
    "add.u64 %d2, %d1, %d2;\nst.local.u32 [%d2], %r0;\nbarrier.sync 0;\n@%p mov.u64 %d0, 0;\nadd.u64 %d2, %d2, %d0;\nst.local.u32 [%d2], %r0;\nbarrier.sync 0;\n"
    "ld.local.u32 %r2, [%d2];\nsetp.ne.u32 %p, %r2, %r0;\n@%p trap;\nret;\n}\n";

#define MANY 20000u   /* allocations: more than there are guards for */

enum what { LOCAL, DEVICE, AMONG, MANAGED, PINNED, VARIABLE, CHURN, ASYNC, POOL, MAPPED, POOL_CHURN };

struct stray {
    enum what what;
    size_t size;
    int64_t offset;              /* of the access, from the allocation's start on */
    bool freed;                  /* before the access */
    const char *guard;           /* MILLRACE_GUARD */
    CUresult status;
    const char *log;             /* part of a log line; NULL: looked at no further */
};

/* The pool lives as long as the process. */
static CUresult from_pool(CUdeviceptr *out, size_t size)
{
    CUmemoryPool pool;
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUresult status = cuMemPoolCreate(&pool, &properties);
    return status ? status : cuMemAllocFromPoolAsync(out, size, pool, NULL);
}

/* Memory in the middle one of three reservations of that size; each would be the other's neighbour. */
static CUresult mapped(CUdeviceptr *out, size_t size)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr ranges[3];
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    for (int i = 0; i < 3; i++) {
        CUresult status = cuMemAddressReserve(&ranges[i], size, 0, 0, 0);
        status = status ? status : cuMemCreate(&handle, size, &properties, 0);
        status = status ? status : cuMemMap(ranges[i], size, 0, handle, 0);
        status = status ? status : cuMemRelease(handle);
        status = status ? status : cuMemSetAccess(ranges[i], size, &access, 1);
        if (status)
            return status;
    }
    *out = ranges[1];
    return CUDA_SUCCESS;
}

/* Memory and addresses, and new ones in their place. */
static CUresult unmapped(CUdeviceptr address, size_t size)
{
    CUdeviceptr other;
    CUresult status = cuMemUnmap(address, size);
    status = status ? status : cuMemAddressFree(address, size);
    status = status ? status : mapped(&other, size);
    return status;
}

/* One of many allocations that follow each other. */
static CUresult among(CUdeviceptr *out, size_t size)
{
    CUdeviceptr other;
    CUresult status = CUDA_SUCCESS;
    for (int i = 0; i < 100 && !status; i++)
        status = cuMemAlloc(i == 20 ? out : &other, size);
    return status;
}

static CUresult allocate(const struct stray *stray, CUmodule module, CUdeviceptr *out)
{
    size_t bytes;
    switch (stray->what) {
    case MANAGED:
        return cuMemAllocManaged(out, stray->size, CU_MEM_ATTACH_GLOBAL);
    case PINNED:
        return cuMemHostAlloc((void **)out, stray->size, CU_MEMHOSTALLOC_DEVICEMAP);
    case ASYNC:
        return cuMemAllocAsync(out, stray->size, NULL);
    case POOL:
        return from_pool(out, stray->size);
    case MAPPED:
        return mapped(out, stray->size);
    case AMONG:
        return among(out, stray->size);
    case VARIABLE:
        return cuModuleGetGlobal(out, &bytes, module, "variable");
    default:
        return cuMemAlloc(out, stray->size);
    }
}

static int give_back(const struct stray *stray, CUdeviceptr p)
{
    if (stray->what == ASYNC || stray->what == POOL) {
        /* The second allocation would get the first one's place. */
        CUdeviceptr other;
        int status = (int)cuMemFreeAsync(p, NULL);
        return status ? status : (int)cuMemAllocAsync(&other, stray->size, NULL);
    }
    if (stray->what == MAPPED)
        return (int)unmapped(p, stray->size);
    return (int)(stray->what == PINNED ? cuMemFreeHost((void *)(uintptr_t)p) : cuMemFree(p));
}

/* Freed addresses come back late, all of memory can be allocated again and again, and what was written is there. */
static int churn(void)
{
    CUdeviceptr first, again, kept[64] = {0};
    uint32_t seed = 1, value;
    if (cuMemAlloc(&first, 5000) || cuMemFree(first))
        return 10;
    for (unsigned i = 0; i < 6000; i++) {
        unsigned slot = i % 64;
        seed = seed * 1664525u + 1013904223u;
        size_t size = i % 50 ? 8 + (seed >> 16) % 9000 : 3u << 20;
        if (kept[slot] && (cuMemcpyDtoH(&value, kept[slot], 4) || value != i - 64 || cuMemFree(kept[slot])))
            return 11;
        if (cuMemAlloc(&kept[slot], size) || kept[slot] % 512 || cuMemcpyHtoD(kept[slot], &i, 4) ||
            (i < 2000 && kept[slot] == first))
            return 12;
    }
    for (unsigned i = 0; i < 64; i++)
        if (cuMemFree(kept[i]))
            return 13;
    size_t available, total;
    for (unsigned i = 0; i < 300; i++)
        if (cuMemGetInfo(&available, &total) || cuMemAlloc(&again, available - (1u << 20)) || cuMemFree(again))
            return 14;
    return 0;
}

/* The same of a pool: also behind work, when the device's memory is used up, and when its allocations are many. */
static int pool_churn(bool guarded)
{
    CUdeviceptr first, again, kept[64] = {0}, *many = calloc(MANY, sizeof *many);
    CUmemoryPool pool;
    CUstream streams[2];
    uint64_t threshold = UINT64_MAX, used, reserved;
    size_t available, total;
    uint32_t seed = 1, value;
    if (!many || cuMemAllocAsync(&first, 5000, NULL) || cuMemFreeAsync(first, NULL) ||
        cuDeviceGetDefaultMemPool(&pool, 0) ||
        cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold) || cuStreamCreate(&streams[0], 0) ||
        cuStreamCreate(&streams[1], 0))
        return 20;
    for (unsigned i = 0; i < 6000; i++) {
        unsigned slot = i % 64;
        CUstream stream = streams[slot & 1];
        seed = seed * 1664525u + 1013904223u;
        size_t size = i % 50 ? 8 + (seed >> 16) % 9000 : 3u << 20;
        if (kept[slot] &&
            (cuMemcpyDtoHAsync(&value, kept[slot], 4, stream) || cuStreamSynchronize(stream) || value != i - 64 ||
             cuMemsetD8Async(kept[slot], 1, 8, stream) || cuMemFreeAsync(kept[slot], stream)))
            return 21;
        if (cuMemAllocAsync(&kept[slot], size, stream) || kept[slot] % 512 ||
            cuMemsetD32Async(kept[slot], i, 2, stream) || (guarded && i < 2000 && kept[slot] == first))
            return 22;
    }
    for (unsigned i = 0; i < 64; i++)
        if (cuMemFreeAsync(kept[i], streams[i & 1]))
            return 23;
    if (cuCtxSynchronize() || cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) || used)
        return 24;
    threshold = 0;
    if (cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold))
        return 29;
    for (unsigned i = 0; i < 200; i++)
        if (cuStreamSynchronize(streams[0]) || cuMemGetInfo(&available, &total) ||
            cuMemAllocAsync(&again, available - (64u << 20), streams[0]) || cuMemsetD8Async(again, 0, 64, streams[0]) ||
            cuMemFreeAsync(again, streams[0]))
            return 25;
    for (unsigned i = 0; i < MANY; i++)
        if (cuMemAllocAsync(&many[i], 1000, NULL) || cuMemsetD32Async(many[i], i, 250, NULL))
            return 26;
    for (unsigned i = 0; i < MANY; i++)
        if (cuMemcpyDtoH(&value, many[i] + 996, 4) || value != i || cuMemFreeAsync(many[i], NULL))
            return 27;
    free(many);
    if (cuCtxSynchronize() || cuMemPoolTrimTo(pool, 0) ||
        cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) || reserved)
        return 28;
    return 0;
}

/* In the child: 0 if all went as it must. */
static int run(const struct stray *stray)
{
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr p = 0;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
        return 1;
    if (stray->what == CHURN)
        return churn();
    if (stray->what == POOL_CHURN)
        return pool_churn(*stray->guard == '1');
    if (cuModuleLoadData(&module, kernels) ||
        cuModuleGetFunction(&function, module, stray->what == LOCAL ? "local" : "poke"))
        return 2;
    if (stray->what != LOCAL && allocate(stray, module, &p))
        return 3;
    if (stray->freed && give_back(stray, p))
        return 4;
    p += (uint64_t)stray->offset;
    void *params[] = {&p};
    if (cuLaunchKernel(function, 1, 1, 1, stray->what == LOCAL ? 128 : 1, 1, 1, 0, NULL, params, NULL))
        return 5;
    CUresult status = cuCtxSynchronize();
    if (status != stray->status)
        return 100 + (int)status % 100;
    return status == CUDA_SUCCESS && stray->what != LOCAL && !stray->freed &&
                   give_back(stray, p - (uint64_t)stray->offset)
               ? 6
               : 0;
}

static void check(const struct stray *stray)
{
    char path[] = "/tmp/millrace-stray-XXXXXX", line[1024];
    int file = mkstemp(path), status = 0;
    assert_true(file >= 0);
    close(file);
    pid_t child = fork();
    if (child == 0) {
        setenv("MILLRACE_LOG", "info", 1);
        setenv("MILLRACE_LOG_FILE", path, 1);
        setenv("MILLRACE_GUARD", stray->guard ? stray->guard : "0", 1);
        _exit(run(stray));
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    bool found = !stray->log;
    FILE *log = fopen(path, "r");
    assert_non_null(log);
    while (!found && fgets(line, sizeof line, log))
        found = strstr(line, stray->log) != NULL;
    fclose(log);
    unlink(path);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail_msg("kind %d, %zu bytes, offset %lld: status %#x", stray->what, stray->size, (long long)stray->offset,
                 (unsigned)status);
    if (!found)
        fail_msg("not in the log: %s", stray->log);
}

/* A stack is a mebibyte at least. */
static void local_memory(void **state)
{
    (void)state;
    const int64_t mib = 1 << 20, offsets[] = {mib + 8192, 2 * mib + 64, 5 * mib,  64 * mib,    1000 * mib,
                                              4000 * mib, -mib - 8192,  -3 * mib, -1000 * mib, -4000 * mib};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
        check(&(struct stray){LOCAL, 64, offsets[i], false, NULL, CUDA_ERROR_ILLEGAL_ADDRESS,
                              "access outside of local memory"});
    check(&(struct stray){LOCAL, 64, 0, false, NULL, CUDA_SUCCESS, NULL});
}

static void behind_pages(void **state)
{
    (void)state;
    check(&(struct stray){DEVICE, 4000, 4000, false, NULL, CUDA_SUCCESS, NULL});
    check(&(struct stray){DEVICE, 4000, 4096, false, NULL, CUDA_ERROR_ILLEGAL_ADDRESS,
                          ", 96 bytes behind the end of an allocation of 4000 bytes at 0x"});
    check(&(struct stray){DEVICE, 4000, -8, false, NULL, CUDA_ERROR_ILLEGAL_ADDRESS,
                          ", 8 bytes before an allocation of 4000 bytes at 0x"});
    check(&(struct stray){DEVICE, 4 << 20, 64, true, NULL, CUDA_ERROR_ILLEGAL_ADDRESS, " that was freed"});
}

static void behind_the_last_byte(void **state)
{
    (void)state;
    const enum what all[] = {DEVICE, MANAGED, PINNED};
    for (int i = 0; i < 3; i++) {
        check(&(struct stray){all[i], 1024, 1020, false, "1", CUDA_SUCCESS, NULL});
        check(&(struct stray){all[i], 1024, 1024, false, "1", CUDA_ERROR_ILLEGAL_ADDRESS,
                              ", 0 bytes behind the end of an allocation of 1024 bytes at 0x"});
        check(&(struct stray){all[i], 1000, 1000, false, "8", CUDA_ERROR_ILLEGAL_ADDRESS,
                              ", 0 bytes behind the end of an allocation of 1000 bytes at 0x"});
        check(&(struct stray){all[i], 1000, 16, true, "1", CUDA_ERROR_ILLEGAL_ADDRESS,
                              ", inside an allocation of 1000 bytes at 0x"});
        check(&(struct stray){all[i], 900 << 20, 16, true, "1", CUDA_ERROR_ILLEGAL_ADDRESS, " that was freed"});
    }
    check(&(struct stray){VARIABLE, 1000, 1024, false, "1", CUDA_ERROR_ILLEGAL_ADDRESS,
                          ", 24 bytes behind the end of an allocation of 1000 bytes at 0x"});
}

/* Where a neighbour would be. */
static void far_away(void **state)
{
    (void)state;
    const size_t sizes[] = {1000, 64 << 10, 3 << 20};
    const int64_t mib = 1 << 20, offsets[] = {mib, 16 * mib, 100 * mib, 2000 * mib, 4000 * mib, -mib, -2000 * mib};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t j = 0; j < sizeof offsets / sizeof offsets[0]; j++)
            check(&(struct stray){AMONG, sizes[i], (offsets[j] > 0 ? (int64_t)sizes[i] : 0) + offsets[j], false, "1",
                                  CUDA_ERROR_ILLEGAL_ADDRESS, NULL});
}

static void seen_when_freed(void **state)
{
    (void)state;
    check(&(struct stray){DEVICE, 1000, 1004, false, "1", CUDA_SUCCESS,
                          "4 bytes behind the allocation of 1000 bytes at 0x"});
    check(&(struct stray){MANAGED, 1000, -12, false, "1", CUDA_SUCCESS,
                          "4 bytes before the allocation of 1000 bytes at 0x"});
    check(&(struct stray){ASYNC, 1000, 1004, false, "1", CUDA_SUCCESS,
                          "4 bytes behind the allocation of 1000 bytes at 0x"});
    check(&(struct stray){POOL, 1000, -12, false, "1", CUDA_SUCCESS,
                          "4 bytes before the allocation of 1000 bytes at 0x"});
}

/* The first byte behind, and a freed allocation. */
static void in_pools(void **state)
{
    (void)state;
    const enum what all[] = {ASYNC, POOL};
    for (int i = 0; i < 2; i++) {
        check(&(struct stray){all[i], 1024, 1020, false, "1", CUDA_SUCCESS, NULL});
        check(&(struct stray){all[i], 1024, 1024, false, "1", CUDA_ERROR_ILLEGAL_ADDRESS,
                              ", 0 bytes behind the end of an allocation of 1024 bytes at 0x"});
        check(&(struct stray){all[i], 1000, 1000, false, "8", CUDA_ERROR_ILLEGAL_ADDRESS,
                              ", 0 bytes behind the end of an allocation of 1000 bytes at 0x"});
        check(&(struct stray){all[i], 40 << 20, 40 << 20, false, "1", CUDA_ERROR_ILLEGAL_ADDRESS,
                              ", 0 bytes behind the end of an allocation of 41943040 bytes at 0x"});
        check(&(struct stray){all[i], 1000, 16, true, "1", CUDA_ERROR_ILLEGAL_ADDRESS,
                              ", inside an allocation of 1000 bytes at 0x"});
        check(&(struct stray){all[i], 900 << 20, 16, true, "1", CUDA_ERROR_ILLEGAL_ADDRESS, " that was freed"});
    }
}

static void in_mapped_memory(void **state)
{
    (void)state;
    check(&(struct stray){MAPPED, 2 << 20, (2 << 20) - 4, false, "1", CUDA_SUCCESS, NULL});
    check(&(struct stray){MAPPED, 2 << 20, 2 << 20, false, "1", CUDA_ERROR_ILLEGAL_ADDRESS,
                          ", 0 bytes behind the end of an allocation of 2097152 bytes at 0x"});
    check(&(struct stray){MAPPED, 4 << 20, -8, false, "1", CUDA_ERROR_ILLEGAL_ADDRESS,
                          ", 8 bytes before an allocation of 4194304 bytes at 0x"});
    check(&(struct stray){MAPPED, 4 << 20, 64, true, "1", CUDA_ERROR_ILLEGAL_ADDRESS,
                          ", inside an allocation of 4194304 bytes at 0x"});
}

static void addresses_rest(void **state)
{
    (void)state;
    check(&(struct stray){POOL_CHURN, 0, 0, false, "0", CUDA_SUCCESS, NULL});
    check(&(struct stray){POOL_CHURN, 0, 0, false, "1", CUDA_SUCCESS, NULL});
    check(&(struct stray){CHURN, 0, 0, false, "1", CUDA_SUCCESS, NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_memory),    cmocka_unit_test(behind_pages), cmocka_unit_test(behind_the_last_byte),
        cmocka_unit_test(seen_when_freed), cmocka_unit_test(in_pools),     cmocka_unit_test(in_mapped_memory),
        cmocka_unit_test(addresses_rest),  cmocka_unit_test(far_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
