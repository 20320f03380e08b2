/* SPDX-License-Identifier: Apache-2.0 */
/* A captured program, launched as a graph, leaves in memory what the same calls leave when they run at once. Programs
 * are drawn from seeds: kernels, fills, copies and host functions in several streams, which wait for each other through
 * events in such a way that the result doesn't depend on time. */
#include "capture_support.h"

#include <stdio.h>
#include <string.h>

enum { STREAMS = 6, WORDS = 64, STEPS = 60, SEEDS = 25, LAUNCHES = 3 };

static const char kernel_text[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry mix(.param .u64 target, .param .u32 value)\n{\n"
    "    .reg .b32 %r<6>;\n    .reg .b64 %rd<4>;\n"
    "    ld.param.u64 %rd0, [target];\n    ld.param.u32 %r0, [value];\n    cvta.to.global.u64 %rd1, %rd0;\n"
    "    mov.u32 %r1, %tid.x;\n    mul.wide.u32 %rd2, %r1, 4;\n    add.u64 %rd3, %rd1, %rd2;\n"
    "    ld.global.u32 %r2, [%rd3];\n    mad.lo.u32 %r3, %r2, 1664525, %r0;\n    add.u32 %r4, %r3, %r1;\n"
    "    st.global.u32 [%rd3], %r4;\n    ret;\n}\n";

static CUfunction mix;

/* Where one run of a program works: a region of device memory and one of pinned memory per stream. */
struct place {
    CUdeviceptr device[STREAMS];
    unsigned *host[STREAMS];
};

static struct place new_place(void)
{
    struct place place;
    for (int i = 0; i < STREAMS; i++) {
        void *host;
        OK(cuMemAlloc(&place.device[i], WORDS * 4));
        OK(cuMemHostAlloc(&host, WORDS * 4, 0));
        place.host[i] = host;
    }
    return place;
}

static void reset_place(struct place *place)
{
    for (int i = 0; i < STREAMS; i++) {
        OK(cuMemsetD32(place->device[i], (unsigned)i + 1, WORDS));
        memset(place->host[i], i, WORDS * 4);
    }
    OK(cuCtxSynchronize());
}

static void free_place(struct place *place)
{
    for (int i = 0; i < STREAMS; i++) {
        OK(cuMemFree(place->device[i]));
        OK(cuMemFreeHost(place->host[i]));
    }
}

static void CUDA_CB turn(void *data)
{
    unsigned *words = data;
    for (int i = 0; i < WORDS; i++)
        words[i] = words[i] * 5 + 3;
}

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % below;
}

/* `to` takes part of what `from` has; both are ordered around it. */
static void exchange(struct place *place, CUstream *streams, unsigned to, unsigned from)
{
    put_after(streams[to], streams[from]);
    OK(cuMemcpyDtoDAsync(place->device[to] + 32, place->device[from], WORDS * 2, streams[to]));
    put_after(streams[from], streams[to]);
}

static void put_step(struct place *place, CUstream *streams, unsigned *seed)
{
    unsigned at = draw(seed, STREAMS), value = draw(seed, 1000), other = (at + 1 + draw(seed, STREAMS - 1)) % STREAMS;
    CUdeviceptr memory = place->device[at];
    CUstream stream = streams[at];
    void *params[] = {&memory, &value};
    switch (draw(seed, 6)) {
    case 0:
        OK(cuMemsetD8Async(memory + value % 32, (unsigned char)value, 16, stream));
        break;
    case 1:
        OK(cuMemcpyDtoHAsync(place->host[at], memory, WORDS * 4, stream));
        break;
    case 2:
        OK(cuMemcpyHtoDAsync(memory + 16, place->host[at], WORDS * 2, stream));
        break;
    case 3:
        OK(cuLaunchHostFunc(stream, turn, place->host[at]));
        break;
    case 4:
        OK(cuLaunchKernel(mix, 1, 1, 1, WORDS, 1, 1, 0, stream, params, NULL));
        break;
    default:
        exchange(place, streams, at, other);
        break;
    }
}

/* All streams start behind the first and come back to it. */
static void put_program(struct place *place, CUstream *streams, unsigned seed)
{
    for (int i = 1; i < STREAMS; i++)
        put_after(streams[i], streams[0]);
    for (int i = 0; i < STEPS; i++)
        put_step(place, streams, &seed);
    for (int i = 1; i < STREAMS; i++)
        put_after(streams[0], streams[i]);
}

static void compare(struct place *one, struct place *two, unsigned seed)
{
    for (int i = 0; i < STREAMS; i++) {
        unsigned words[2][WORDS];
        OK(cuMemcpyDtoH(words[0], one->device[i], sizeof words[0]));
        OK(cuMemcpyDtoH(words[1], two->device[i], sizeof words[1]));
        if (memcmp(words[0], words[1], sizeof words[0]) || memcmp(one->host[i], two->host[i], WORDS * 4))
            fail_msg("seed %u: the regions of stream %d differ", seed, i);
    }
}

static void test_replay(void **state)
{
    (void)state;
    CUmodule module;
    CUstream streams[STREAMS];
    OK(cuModuleLoadData(&module, kernel_text));
    OK(cuModuleGetFunction(&mix, module, "mix"));
    struct place eager = new_place(), replayed = new_place();
    for (int i = 0; i < STREAMS; i++)
        streams[i] = new_stream(i % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        CUgraphExec exec;
        reset_place(&eager);
        reset_place(&replayed);
        OK(cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL));
        put_program(&replayed, streams, seed);
        CUgraph graph = end_capture(streams[0]);
        OK(cuGraphInstantiate(&exec, graph, 0));
        for (int i = 0; i < LAUNCHES; i++) {
            put_program(&eager, streams, seed);
            OK(cuGraphLaunch(exec, streams[0]));
            OK(cuStreamSynchronize(streams[0]));
            compare(&eager, &replayed, seed);
        }
        OK(cuGraphExecDestroy(exec));
        OK(cuGraphDestroy(graph));
    }
    for (int i = 0; i < STREAMS; i++)
        OK(cuStreamDestroy(streams[i]));
    free_place(&eager);
    free_place(&replayed);
    OK(cuModuleUnload(module));
}

/* Memory that a captured program allocates and frees, and its events for the outside. */
static void test_memory_and_events(void **state)
{
    (void)state;
    CUdeviceptr kept, scratch;
    CUevent event = new_event(0);
    CUgraphExec exec;
    unsigned char got[64];
    OK(cuMemAlloc(&kept, 64));
    CUstream stream = new_capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cuMemAllocAsync(&scratch, 1000, stream));
    assert_true(scratch != 0);
    OK(cuMemsetD8Async(scratch, 9, 64, stream));
    OK(cuMemcpyDtoDAsync(kept, scratch, 64, stream));
    OK(cuMemFreeAsync(scratch, stream));
    FAILS(cuMemFreeAsync(scratch, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemFreeAsync(kept, stream), CUDA_ERROR_INVALID_VALUE);
    OK(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
    ACTIVE(stream);
    CUgraph graph = end_capture(stream);
    assert_int_equal(count_nodes(graph), 5);
    OK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        OK(cuMemsetD8(kept, 0, 64));
        OK(cuGraphLaunch(exec, stream));
        OK(cuEventSynchronize(event));
        OK(cuStreamSynchronize(stream));
        OK(cuMemcpyDtoH(got, kept, 64));
        assert_int_equal(got[63], 9);
    }
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    FAILS(cuGraphLaunch(exec, stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    INVALIDATED(stream);
    end_fails(stream, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(kept));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_memory_and_events),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
