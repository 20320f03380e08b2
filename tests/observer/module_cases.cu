/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that unload modules, and their mended twins: module_cases NAME [mended]. What each one is found guilty of
 * stands in test_modules.py. */
#include <cuda.h>
#include <sched.h>

#include <atomic>

#include "cases.h"

/* A variable of 256 words, which `count` adds to. */
static const char text[] = ".version 7.0\n"
                           ".target sm_80\n"
                           ".address_size 64\n"
                           ".visible .global .align 4 .u32 words[256];\n"
                           ".visible .entry count()\n"
                           "{\n"
                           "    .reg .u32 %r<3>;\n"
                           "    .reg .u64 %rd<4>;\n"
                           "    mov.u32 %r1, %tid.x;\n"
                           "    mov.u64 %rd1, words;\n"
                           "    mul.wide.u32 %rd2, %r1, 4;\n"
                           "    add.u64 %rd3, %rd1, %rd2;\n"
                           "    ld.global.u32 %r2, [%rd3];\n"
                           "    add.u32 %r2, %r2, 1;\n"
                           "    st.global.u32 [%rd3], %r2;\n"
                           "    ret;\n"
                           "}\n"
                           ".visible .entry nothing() { ret; }\n"
                           ".visible .entry read(.param .u64 from)\n"
                           "{\n"
                           "    .reg .u32 %r<2>;\n"
                           "    .reg .u64 %rd<2>;\n"
                           "    ld.param.u64 %rd1, [from];\n"
                           "    ld.global.u32 %r1, [%rd1];\n"
                           "    ret;\n"
                           "}\n";

static bool mended;
static CUstream one, two;

static CUmodule load(CUfunction *function, const char *name)
{
    CUmodule module;
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(function, module, name));
    return module;
}

static void launch(CUfunction function, CUstream stream)
{
    CHECK(cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, stream, nullptr, nullptr));
}

/* Hardware waits for the kernel. No manual promises it. */
static void unloaded_early()
{
    CUfunction count;
    CUmodule module = load(&count, "count");
    launch(count, one);
    if (mended)
        CHECK(cuStreamSynchronize(one));
    CHECK(cuModuleUnload(module));
}

/* The same of a kernel that uses no variable. */
static void code_unloaded_early()
{
    CUfunction nothing;
    CUmodule module = load(&nothing, "nothing");
    launch(nothing, one);
    if (mended)
        CHECK(cuStreamSynchronize(one));
    CHECK(cuModuleUnload(module));
}

static void library_unloaded_early()
{
    CUlibrary library;
    CUkernel count;
    CHECK(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cuLibraryGetKernel(&count, library, "count"));
    launch(reinterpret_cast<CUfunction>(count), one);
    if (mended)
        CHECK(cuStreamSynchronize(one));
    CHECK(cuLibraryUnload(library));
}

/* What comes behind the unloading comes after the kernel, and another module may have its variable in the same place. */
static void loaded_again()
{
    for (int i = 0; i < 8; i++) {
        CUfunction count;
        CUmodule module = load(&count, "count");
        launch(count, i % 2 ? one : two);
        if (mended)
            CHECK(cuStreamSynchronize(i % 2 ? one : two));
        CHECK(cuModuleUnload(module));
    }
}

static CUgraphExec capture(CUfunction function)
{
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(function, one);
    CHECK(cuStreamEndCapture(one, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

/* Runs a graph whose kernel is gone. */
static void graph_of_unloaded()
{
    CUfunction nothing;
    CUmodule module = load(&nothing, "nothing");
    CUgraphExec exec = capture(nothing);
    if (!mended)
        CHECK(cuModuleUnload(module));
    CHECK(cuGraphLaunch(exec, one));
    CHECK(cuStreamSynchronize(one));
    if (mended)
        CHECK(cuModuleUnload(module));
}

static void graph_of_unloaded_library()
{
    CUlibrary library;
    CUkernel nothing;
    CHECK(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cuLibraryGetKernel(&nothing, library, "nothing"));
    CUgraphExec exec = capture(reinterpret_cast<CUfunction>(nothing));
    if (!mended)
        CHECK(cuLibraryUnload(library));
    CHECK(cuGraphLaunch(exec, one));
    CHECK(cuStreamSynchronize(one));
    if (mended)
        CHECK(cuLibraryUnload(library));
}

/* Work of another context uses the variable: unloading waits for the module's context alone. */
static void used_elsewhere()
{
    CUcontext here, elsewhere;
    CUstream far;
    CUdeviceptr variable, copy;
    CUfunction count;
    CUmodule module = load(&count, "count");
    CHECK(cuModuleGetGlobal(&variable, nullptr, module, "words"));
    CHECK(cuCtxGetCurrent(&here));
    CUctxCreateParams none = {};
    CHECK(cuCtxCreate(&elsewhere, &none, 0, 0));
    CHECK(cuStreamCreate(&far, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&copy, 1024));
    CHECK(cuMemcpyPeerAsync(copy, elsewhere, variable, here, 1024, far));
    if (mended)
        CHECK(cuStreamSynchronize(far));
    CHECK(cuCtxSetCurrent(here));
    CHECK(cuModuleUnload(module));
}

static std::atomic<bool> may_go;

static void wait_to_go(void *)
{
    while (!may_go)
        sched_yield();
}

/* The same of a kernel that runs once another module has its variable in the same place. */
static void read_elsewhere()
{
    CUcontext here, elsewhere;
    CUstream far;
    CUdeviceptr variable, next;
    CUfunction read, other;
    CUmodule module = load(&other, "nothing");
    CHECK(cuModuleGetGlobal(&variable, nullptr, module, "words"));
    CHECK(cuCtxGetCurrent(&here));
    CUctxCreateParams none = {};
    CHECK(cuCtxCreate(&elsewhere, &none, 0, 0));
    CHECK(cuStreamCreate(&far, CU_STREAM_NON_BLOCKING));
    load(&read, "read");
    CHECK(cuLaunchHostFunc(far, wait_to_go, nullptr));
    void *parameters[] = {&variable};
    CHECK(cuLaunchKernel(read, 1, 1, 1, 1, 1, 1, 0, far, parameters, nullptr));
    may_go = mended;
    if (mended)
        CHECK(cuStreamSynchronize(far));
    CHECK(cuCtxSetCurrent(here));
    CHECK(cuModuleUnload(module));
    CHECK(cuModuleGetGlobal(&next, nullptr, load(&other, "nothing"), "words"));
    CHECK(next == variable ? cudaSuccess : cudaErrorUnknown);
    CHECK(cuMemsetD32(next, 7, 256));
    may_go = true;
    CHECK(cuStreamSynchronize(far));
}

/* The unloading is refused in a capture, and the module goes on. */
static void refused()
{
    CUfunction count;
    CUgraph graph;
    CUmodule module = load(&count, "count");
    launch(count, one);
    CHECK(cuStreamSynchronize(one));
    CHECK(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuModuleUnload(module) != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK(cuStreamEndCapture(one, &graph) != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    launch(count, one);
    CHECK(cuStreamSynchronize(one));
    launch(count, two);
    CHECK(cuStreamSynchronize(two));
    CHECK(cuModuleUnload(module));
}

/* The process ends with the kernel running and the module there. */
static void left()
{
    CUfunction count;
    (void)load(&count, "count");
    launch(count, one);
}

int main(int count, char **words)
{
    static const one_case cases[] = {{"unloaded_early", unloaded_early},
                                     {"code_unloaded_early", code_unloaded_early},
                                     {"library_unloaded_early", library_unloaded_early},
                                     {"loaded_again", loaded_again},
                                     {"graph_of_unloaded", graph_of_unloaded},
                                     {"graph_of_unloaded_library", graph_of_unloaded_library},
                                     {"used_elsewhere", used_elsewhere},
                                     {"read_elsewhere", read_elsewhere},
                                     {"refused", refused},
                                     {"left", left}};
    mended = count > 2 && std::strcmp(words[2], "mended") == 0;
    CHECK(cudaFree(nullptr));
    CHECK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    return run_case(cases, words[1]);
}
