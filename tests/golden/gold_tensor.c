/* SPDX-License-Identifier: Apache-2.0 */
/* See gold_tensor.h. */
#include "gold_tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prologue[] =
    ".version 8.3\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".extern .shared .align 1024 .b8 room[];\n"
    ".shared .align 8 .b64 bar;\n"
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 out, .param .align 4 .b8 at[64])\n"
    "{\n"
    "    .reg .pred %p<4>;\n"
    "    .reg .b16 %h<4>;\n"
    "    .reg .b32 %c<5>, %r<20>, %s, %b;\n"
    "    .reg .b64 %rd<8>, %rm;\n"
    "    ld.param.u64 %rd1, [out];\n"
    "    cvta.to.global.u64 %rd1, %rd1;\n"
    "    mov.u64 %rd2, map;\n"
    "    cvta.param.u64 %rm, %rd2;\n"
    "    ld.param.u32 %c0, [at];\n"
    "    ld.param.u32 %c1, [at+4];\n"
    "    ld.param.u32 %c2, [at+8];\n"
    "    ld.param.u32 %c3, [at+12];\n"
    "    ld.param.u32 %c4, [at+16];\n"
    "    ld.param.u32 %r1, [at+20];\n"
    "    ld.param.u32 %r2, [at+24];\n"
    "    ld.param.u16 %h0, [at+28];\n"
    "    ld.param.u16 %h1, [at+30];\n"
    "    ld.param.u16 %h2, [at+32];\n"
    "    mov.u32 %r3, room;\n"
    "    add.u32 %s, %r3, %r2;\n"
    "    mov.u32 %b, bar;\n"
    "    setp.eq.u32 %p1, %r1, 0;\n"
    "    mov.u32 %r4, 0;\n"
    "fill:\n"
    "    add.u32 %r6, %r3, %r4;\n"
    "    shr.u32 %r7, %r4, 1;\n"
    "    mad.lo.u32 %r7, %r7, 0x10001, 0x80018000;\n"
    "    selp.b32 %r7, %r7, 0xcdcdcdcd, %p1;\n"
    "    st.shared.u32 [%r6], %r7;\n"
    "    add.u32 %r4, %r4, 4;\n"
    "    setp.lt.u32 %p2, %r4, 16384;\n"
    "    @%p2 bra fill;\n"
    "    mbarrier.init.shared::cta.b64 [%b], 1;\n"
    "    fence.proxy.async;\n"
    "    mov.u32 %r8, 0;\n"
    "    @%p1 bra go;\n"
    "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], %r1;\n"
    "go:\n";

static const char epilogue[] = "    @%p1 bra group;\n"
                               "wait:\n"
                               "    mbarrier.test_wait.parity.shared::cta.b64 %p3, [%b], 0;\n"
                               "    @%p3 bra done;\n"
                               "    add.u32 %r8, %r8, 1;\n"
                               "    setp.lt.u32 %p2, %r8, 200000;\n"
                               "    @%p2 bra wait;\n"
                               "    mov.u32 %r8, -1;\n"
                               "    bra done;\n"
                               "group:\n"
                               "    cp.async.bulk.commit_group;\n"
                               "    cp.async.bulk.wait_group 0;\n"
                               "done:\n"
                               "    mov.u32 %r4, 0;\n"
                               "copy:\n"
                               "    add.u32 %r6, %r3, %r4;\n"
                               "    ld.shared.u32 %r7, [%r6];\n"
                               "    cvt.u64.u32 %rd4, %r4;\n"
                               "    add.u64 %rd4, %rd4, %rd1;\n"
                               "    st.global.u32 [%rd4+4], %r7;\n"
                               "    add.u32 %r4, %r4, 4;\n"
                               "    setp.lt.u32 %p2, %r4, 16384;\n"
                               "    @%p2 bra copy;\n"
                               "    st.global.u32 [%rd1], %r8;\n"
                               "    ret;\n"
                               "}\n";

unsigned tensor_element(CUtensorMapDataType type)
{
    static const unsigned char bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1};
    return bytes[type];
}

static CUresult encode_im2col(const struct tensor *tensor, void *memory, const cuuint64_t *stride,
                              const cuuint32_t *step, CUtensorMap *map)
{
    return cuTensorMapEncodeIm2col(map, tensor->type, tensor->rank, memory, tensor->dim, stride, tensor->lower,
                                   tensor->upper, tensor->channels, tensor->pixels, step, tensor->interleave,
                                   tensor->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, tensor->fill);
}

CUresult tensor_encode(const struct tensor *tensor, CUdeviceptr memory, CUtensorMap *map)
{
    cuuint64_t stride[4];
    cuuint32_t step[5];
    for (unsigned i = 0; i < 5; i++)
        step[i] = tensor->step[i] ? tensor->step[i] : 1;
    for (unsigned i = 0; i < 4; i++)
        stride[i] = tensor->stride[i] ? tensor->stride[i]
                    : i == 0          ? tensor->dim[0] * tensor_element(tensor->type)
                                      : stride[i - 1] * tensor->dim[i];
    void *place = (void *)(uintptr_t)(memory + tensor->begin);
    if (tensor->im2col)
        return encode_im2col(tensor, place, stride, step, map);
    return cuTensorMapEncodeTiled(map, tensor->type, tensor->rank, place, tensor->dim, stride, tensor->box, step,
                                  tensor->interleave, tensor->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, tensor->fill);
}

CUdeviceptr tensor_memory(const uint32_t *words, size_t count)
{
    static uint16_t bytes[TENSOR_BYTES / 2];
    for (unsigned i = 0; i < TENSOR_BYTES / 2; i++)
        bytes[i] = (uint16_t)i;
    if (words)
        memcpy(bytes, words, count * 4);
    CUdeviceptr memory = gold_alloc(TENSOR_BYTES);
    NEED(cuMemcpyHtoD(memory, bytes, TENSOR_BYTES));
    return memory;
}

CUresult tensor_run(const CUtensorMap *map, const char *instruction, const int at[5], const unsigned short more[3],
                    unsigned bytes, unsigned offset, uint16_t room[TENSOR_ROOM / 2], bool *late)
{
    static char text[sizeof prologue + sizeof epilogue + 1024];
    static uint32_t answer[1 + TENSOR_ROOM / 4];
    unsigned numbers[16] = {0};
    CUfunction function;
    CUdeviceptr out = gold_alloc_words(1 + TENSOR_ROOM / 4, 0);
    snprintf(text, sizeof text, "%s    %s\n%s", prologue, instruction, epilogue);
    CUmodule module = gold_load(text);
    NEED(cuModuleGetFunction(&function, module, "k"));
    memcpy(numbers, at, 5 * sizeof *at);
    numbers[5] = bytes;
    numbers[6] = offset;
    if (more)
        memcpy(&numbers[7], more, 3 * sizeof *more);
    void *params[] = {(void *)(uintptr_t)map, &out, numbers};
    NEED(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, TENSOR_ROOM + 1024, NULL, params, NULL));
    CUresult status = cuCtxSynchronize();
    if (status == CUDA_SUCCESS) {
        NEED(cuMemcpyDtoH(answer, out, sizeof answer));
        memcpy(room, answer + 1, TENSOR_ROOM);
        *late = answer[0] == UINT32_MAX;
        NEED(cuMemFree(out));
        NEED(cuModuleUnload(module));
    }
    return status;
}

const char *tensor_load(unsigned rank)
{
    static char text[256];
    static const char *const at[] = {
        "", "%c0", "%c0, %c1", "%c0, %c1, %c2", "%c0, %c1, %c2, %c3", "%c0, %c1, %c2, %c3, %c4"};
    snprintf(
        text, sizeof text,
        "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%s], [%%rm, {%s}], [%%b];",
        rank, at[rank]);
    return text;
}

const char *tensor_store(unsigned rank)
{
    static char text[256];
    static const char *const at[] = {
        "", "%c0", "%c0, %c1", "%c0, %c1, %c2", "%c0, %c1, %c2, %c3", "%c0, %c1, %c2, %c3, %c4"};
    snprintf(text, sizeof text, "cp.async.bulk.tensor.%ud.global.shared::cta.tile.bulk_group [%%rm, {%s}], [%%s];",
             rank, at[rank]);
    return text;
}

void tensor_say(const char *name, const uint16_t *words, size_t count)
{
    say_hash(words, count * 2);
    if (!getenv("GOLDEN_DUMP"))
        return;
    fprintf(stderr, "%s", name);
    for (size_t i = 0; i < count;) {
        size_t up = 1, same = 1;
        while (i + up < count && words[i + up] == (uint16_t)(words[i] + up))
            up++;
        while (i + same < count && words[i + same] == words[i])
            same++;
        fprintf(stderr,
                up == 1 && same == 1 ? " %x"
                : up >= same         ? " %x+%zu"
                                     : " %x*%zu",
                words[i], up >= same ? up : same);
        i += up >= same ? up : same;
    }
    fputc('\n', stderr);
}
