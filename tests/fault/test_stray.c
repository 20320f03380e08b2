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

enum what { LOCAL, DEVICE, MANAGED, PINNED, VARIABLE, CHURN };

struct stray {
    enum what what;
    size_t size;
    int64_t offset;              /* of the access, from the allocation's start on */
    bool freed;                  /* before the access */
    const char *guard;           /* MILLRACE_GUARD */
    CUresult status;
    const char *log;             /* part of a log line; NULL: looked at no further */
};

static CUresult allocate(const struct stray *stray, CUmodule module, CUdeviceptr *out)
{
    size_t bytes;
    switch (stray->what) {
    case MANAGED:
        return cuMemAllocManaged(out, stray->size, CU_MEM_ATTACH_GLOBAL);
    case PINNED:
        return cuMemHostAlloc((void **)out, stray->size, CU_MEMHOSTALLOC_DEVICEMAP);
    case VARIABLE:
        return cuModuleGetGlobal(out, &bytes, module, "variable");
    default:
        return cuMemAlloc(out, stray->size);
    }
}

static int give_back(const struct stray *stray, CUdeviceptr p)
{
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

static void seen_when_freed(void **state)
{
    (void)state;
    check(&(struct stray){DEVICE, 1000, 1004, false, "1", CUDA_SUCCESS,
                          "4 bytes behind the allocation of 1000 bytes at 0x"});
    check(&(struct stray){MANAGED, 1000, -12, false, "1", CUDA_SUCCESS,
                          "4 bytes before the allocation of 1000 bytes at 0x"});
}

static void addresses_rest(void **state)
{
    (void)state;
    check(&(struct stray){CHURN, 0, 0, false, "1", CUDA_SUCCESS, NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_memory),    cmocka_unit_test(behind_pages),   cmocka_unit_test(behind_the_last_byte),
        cmocka_unit_test(seen_when_freed), cmocka_unit_test(addresses_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
