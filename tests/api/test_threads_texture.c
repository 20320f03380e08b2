/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, textures and surfaces that several threads make, use and end at the same time. */
#include "array_support.h"

#include <pthread.h>
#include <sched.h>

/* Threads make textures, read through them and end them, at the same time. */
struct job {
    CUcontext context;
    CUfunction function;
    int number;
    bool good;
};

static void *work(void *data)
{
    struct job *job = data;
    job->good = cuCtxSetCurrent(job->context) == CUDA_SUCCESS;
    for (int round = 0; round < 20 && job->good; round++) {
        float values[8], at[8], found[8];
        for (int i = 0; i < 8; i++) {
            values[i] = (float)(job->number * 1000 + round * 10 + i);
            at[i] = (float)i + 0.5f;
        }
        CUarray array = make_array(8, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0);
        fill_array(array, values, 32, 1, 1);
        CUtexObject texture = make_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
        job->good = read_texture(job->function, texture, at, found, 8) == CUDA_SUCCESS &&
                    memcmp(found, values, sizeof values) == 0 && cuTexObjectDestroy(texture) == CUDA_SUCCESS &&
                    cuArrayDestroy(array) == CUDA_SUCCESS;
    }
    return NULL;
}

static void each_its_own(void **state)
{
    CUfunction function = get_function(load_module(PTX_HEAD PTX_READ_1D), "read");
    struct job jobs[4];
    pthread_t ids[4];
    for (int i = 0; i < 4; i++) {
        jobs[i] = (struct job){*state, function, i, false};
        assert_int_equal(pthread_create(&ids[i], NULL, work, &jobs[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(ids[i], NULL), 0);
        assert_true(jobs[i].good);
    }
}

/* All threads read one texture and add up in one surface, in streams of their own. */
static const char adding[] = PTX_HEAD
    ".visible .entry add(.param .u64 texture, .param .u64 surface)\n{\n    .reg .b64 %rd<4>;\n    .reg .b32 %r<4>;\n    .reg .f32 %f<6>;\n"
    "    ld.param.u64 %rd1, [texture];\n    ld.param.u64 %rd2, [surface];\n    mov.u32 %r1, %tid.x;\n    cvt.rn.f32.u32 %f1, %r1;\n"
    "    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1}];\n    cvt.rni.s32.f32 %r2, %f2;\n    sured.b.add.1d.u32.trap [%rd2, {0}], %r2;\n"
    "    shl.b32 %r3, %r1, 2;\n    sured.b.max.1d.s32.trap [%rd2, {%r3}], %r2;\n    ret;\n}\n";

struct shared {
    CUcontext context;
    CUfunction function;
    CUtexObject texture;
    CUsurfObject surface;
    bool good;
};

static void *add(void *data)
{
    struct shared *shared = data;
    CUstream stream;
    void *params[] = {&shared->texture, &shared->surface};
    shared->good = cuCtxSetCurrent(shared->context) == CUDA_SUCCESS &&
                   cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
    for (int round = 0; round < 20 && shared->good; round++)
        shared->good = cuLaunchKernel(shared->function, 2, 1, 1, 50, 1, 1, 0, stream, params, NULL) == CUDA_SUCCESS;
    shared->good =
        shared->good && cuStreamSynchronize(stream) == CUDA_SUCCESS && cuStreamDestroy(stream) == CUDA_SUCCESS;
    return NULL;
}

static void one_for_all(void **state)
{
    CUarray picture = make_array(50, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUarray sums = make_array(50, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST);
    const CUDA_RESOURCE_DESC resource = array_resource(sums);
    CUsurfObject surface;
    float values[50];
    unsigned found[50] = {0};
    struct shared shared[4];
    pthread_t ids[4];
    for (int i = 0; i < 50; i++)
        values[i] = (float)i;
    fill_array(picture, values, 200, 1, 1);
    fill_array(sums, found, 200, 1, 1);
    OK(cuSurfObjectCreate(&surface, &resource));
    CUtexObject texture = make_texture(picture, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUfunction function = get_function(load_module(adding), "add");
    for (int i = 0; i < 4; i++) {
        shared[i] = (struct shared){*state, function, texture, surface, false};
        assert_int_equal(pthread_create(&ids[i], NULL, add, &shared[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(ids[i], NULL), 0);
        assert_true(shared[i].good);
    }
    OK(cuMemcpyAtoH(found, sums, 0, 200));
    assert_int_equal(found[0], 4 * 20 * 2 * 49 * 50 / 2);
    for (unsigned i = 1; i < 50; i++)
        assert_int_equal(found[i], i);
}

/* read_on(u64 texture, u32 *begun): reads until the texture has gone, which is a fault; says when it has begun. */
static const char reading_on[] = PTX_HEAD
    ".visible .entry read_on(.param .u64 texture, .param .u64 begun)\n{\n    .reg .b64 %rd<3>;\n    .reg .f32 %f<6>;\n"
    "    ld.param.u64 %rd1, [texture];\n    ld.param.u64 %rd2, [begun];\n    mov.f32 %f1, 0f3f000000;\nagain:\n"
    "    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1}];\n    st.volatile.global.f32 [%rd2], %f2;\n    bra again;\n}\n";

/* A texture is destroyed while a kernel reads it, and its record is given out again. (The kernel is another context's,
 * so that the call doesn't wait for it.) The kernel ends with a fault; nobody else comes to harm. */
static void destroyed_under_a_kernel(void **state)
{
    const float one = 1;
    CUcontext other, first = *state;
    CUarray line = make_array(1, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0),
            box = make_array(4, 4, 4, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    float *begun;
    fill_array(line, &one, 4, 1, 1);
    for (int round = 0; round < 10; round++) {
        CUtexObject texture = make_texture(line, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
        OK(cuCtxCreate(&other, NULL, 0, 0));
        OK(cuMemHostAlloc((void **)&begun, 4, CU_MEMHOSTALLOC_PORTABLE));
        *(volatile float *)begun = 0;
        CUfunction function = get_function(load_module(reading_on), "read_on");
        void *params[] = {&texture, &begun};
        OK(cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
        while (__atomic_load_n((unsigned *)begun, __ATOMIC_RELAXED) == 0)
            sched_yield();
        OK(cuCtxSetCurrent(first));
        OK(cuTexObjectDestroy(texture));
        for (int i = 0; i < 500; i++)
            OK(cuTexObjectDestroy(make_texture(i % 2 ? box : line, CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_POINT,
                                               CU_TRSF_READ_AS_INTEGER)));
        OK(cuCtxSetCurrent(other));
        FAILS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
        OK(cuCtxDestroy(other));
        OK(cuCtxSetCurrent(first));
    }
    OK(cuArrayDestroy(line));
    OK(cuArrayDestroy(box));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_IN_CONTEXT(each_its_own), TEST_IN_CONTEXT(one_for_all),
                                       TEST_IN_CONTEXT(destroyed_under_a_kernel)};
    return cmocka_run_group_tests_name("textures and surfaces of several threads", tests, NULL, NULL);
}
