/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensor maps in the hands of kernels: copied from shared to global memory, and changed there field by field. And what
 * an address for the memory of several devices is to a device that has none (multimem).
 */
#include "gold_tensor.h"

#include <stdio.h>
#include <string.h>

/* Rows leave out what they do not need. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Woverride-init"

/* One warp: the map that stands in a parameter goes to shared memory, STATEMENTS find its address there in %s and that
 * of 128 bytes of global memory in %g, of which *map gets what they hold afterwards. */
static CUresult run(const char *version, const char *target, const char *statements, CUtensorMap *map)
{
    static char text[4096];
    CUfunction function;
    CUdeviceptr place = gold_alloc(1024);
    NEED(cuMemsetD8(place, 0xee, 1024));
    snprintf(text, sizeof text,
             ".version %s\n.target %s\n.address_size 64\n"
             ".shared .align 128 .b8 room[256];\n"
             ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)\n{\n"
             ".reg .pred %%p<4>; .reg .b32 %%r<8>, %%s; .reg .b64 %%rd<8>, %%g; .reg .f32 %%f<4>;\n"
             "ld.param.u64 %%g, [out]; cvta.to.global.u64 %%g, %%g; mov.u32 %%s, room;\n"
             "mov.u32 %%r1, %%tid.x; shl.b32 %%r1, %%r1, 2; cvt.u64.u32 %%rd1, %%r1; mov.u64 %%rd2, map; add.u64 "
             "%%rd2, %%rd2, %%rd1;\n"
             "ld.param.b32 %%r2, [%%rd2]; add.u32 %%r3, %%s, %%r1; st.shared.b32 [%%r3], %%r2; setp.eq.u32 %%p1, "
             "%%r1, 0;\nbar.sync 0;\n%s\nret;\n}\n",
             version, target, statements);
    CUmodule module = gold_load(text);
    NEED(cuModuleGetFunction(&function, module, "k"));
    void *params[] = {map, &place};
    NEED(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    CUresult status = cuCtxSynchronize();
    if (status == CUDA_SUCCESS) {
        NEED(cuMemcpyDtoH(map, place, sizeof *map));
        NEED(cuMemFree(place));
        NEED(cuModuleUnload(module));
    }
    return status;
}

#define COPY "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%g], [%s], 128;"
#define PLANE \
    .type = CU_TENSOR_MAP_DATA_TYPE_UINT16, .rank = 2, .dim = {64, 60}, .box = {16, 8}, .stride = {128}, .step = {1, 1}

CASE(tensor, copied_map)
{
    static uint16_t room[TENSOR_ROOM / 2];
    CUtensorMap map, copy;
    bool late;
    char text[512];
    CUdeviceptr memory = tensor_memory(NULL, 0), place = gold_alloc(sizeof map);
    NEED(tensor_encode(&(struct tensor){PLANE}, memory, &map));
    copy = map;
    NEED(run("8.3", "sm_90", COPY, &copy));
    say_if("same", memcmp(&map, &copy, sizeof map) == 0);
    NEED(cuMemcpyHtoD(place, &copy, sizeof copy));
    snprintf(text, sizeof text, "mov.u64 %%rm, %llu; fence.proxy.tensormap::generic.acquire.gpu [%%rm], 128; %s", place,
             tensor_load(2));
    say(tensor_run(&map, text, (int[5]){8, 4}, NULL, 256, 0, room, &late));
    tensor_say(self->name, room, TENSOR_ROOM / 2);
}

/* It copies whatever is there. */
CASE(tensor, copied_noise)
{
    CUtensorMap noise, copy;
    memset(&noise, 0x5a, sizeof noise);
    copy = noise;
    NEED(run("8.3", "sm_90", COPY, &copy));
    say_if("same", memcmp(&noise, &copy, sizeof noise) == 0);
}

/* Which bytes are copied where addresses are no multiples of 128: which of the first 128 at %g changed, and to what. */
static void copied(const char *statements)
{
    static char text[1024];
    CUtensorMap map;
    for (unsigned i = 0; i < 128; i++)
        ((unsigned char *)&map)[i] = (unsigned char)i;
    /* The first 128 bytes of shared memory are the numbers of their places; so are the next. */
    snprintf(text, sizeof text,
             "add.u32 %%r3, %%s, %%r1; ld.shared.b32 %%r4, [%%r3]; add.u32 %%r4, %%r4, 0x80808080; st.shared.b32 "
             "[%%r3+128], %%r4; bar.sync 0; %s",
             statements);
    say(run("8.3", "sm_90", text, &map));
    const unsigned char *bytes = (const unsigned char *)&map;
    unsigned first = 0, last = 128;
    while (first < 128 && bytes[first] == 0xee)
        first++;
    while (last > first && bytes[last - 1] == 0xee)
        last--;
    say_value("from", first);
    say_value("to", last);
    say_value("first", first < 128 ? bytes[first] : -1);
    say_hash(bytes, 128);
}

CASE(tensor, copied_to_64, .alone = true)
{
    copied("add.u64 %g, %g, 64; " COPY);
}
CASE(tensor, copied_to_16, .alone = true)
{
    copied("add.u64 %g, %g, 16; " COPY);
}
CASE(tensor, copied_to_8, .alone = true)
{
    copied("add.u64 %g, %g, 8; " COPY);
}
CASE(tensor, copied_to_1, .alone = true)
{
    copied("add.u64 %g, %g, 1; " COPY);
}
CASE(tensor, copied_from_64, .alone = true)
{
    copied("add.u32 %s, %s, 64; " COPY);
}
CASE(tensor, copied_from_16, .alone = true)
{
    copied("add.u32 %s, %s, 16; " COPY);
}
CASE(tensor, copied_from_8, .alone = true)
{
    copied("add.u32 %s, %s, 8; " COPY);
}
CASE(tensor, copied_from_1, .alone = true)
{
    copied("add.u32 %s, %s, 1; " COPY);
}

/* Not what is in the map, but how a device of this kind takes the call. */
CASE(tensor, encode_wide)
{
    CUtensorMap map;
    CUdeviceptr memory = gold_alloc(65536);
    say(cuTensorMapEncodeIm2colWide(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 4, (void *)(uintptr_t)memory,
                                    (cuuint64_t[]){64, 8, 8, 2}, (cuuint64_t[]){128, 1024, 8192}, 0, 0, 64, 8,
                                    (cuuint32_t[]){1, 1, 1, 1}, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                    CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, CU_TENSOR_MAP_SWIZZLE_128B,
                                    CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    say(cuTensorMapEncodeIm2colWide(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 4, (void *)(uintptr_t)memory,
                                    (cuuint64_t[]){64, 8, 8, 2}, (cuuint64_t[]){128, 1024, 8192}, 0, 0, 64, 8,
                                    (cuuint32_t[]){1, 1, 1, 1}, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                    CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128, CU_TENSOR_MAP_SWIZZLE_128B,
                                    CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

/* ---- tensormap.replace: a load by the map that the kernel changed, beside one by the host's map of the new numbers
 * ---- */

struct change {
    const char *name;
    const char *statements; /* of the thread whose %p1 is true */
    struct tensor tensor; /* as it is then */
    const char *version; /* NULL: 8.3 */
    unsigned moved; /* bytes by which its memory moves */
};

#define IN_SHARED(field, type, value) \
    "@%p1 tensormap.replace.tile." field ".shared::cta.b1024." type " [%s], " value ";"
#define AFTER " bar.sync 0; " COPY
/* A map made of zeros: each thread stores a word of them in place of the host's map. */
#define ZEROS "mov.u32 %r2, 0; st.shared.b32 [%r3], %r2; bar.sync 0; "
#define MADE_ADDRESS IN_SHARED("global_address", "b64", "%rd3")
#define MADE_RANK IN_SHARED("rank", "b32", "1")
#define MADE_BOX IN_SHARED("box_dim", "b32", "0, 16") IN_SHARED("box_dim", "b32", "1, 8")
#define MADE_DIM IN_SHARED("global_dim", "b32", "0, 64") IN_SHARED("global_dim", "b32", "1, 60")
#define MADE_STRIDE IN_SHARED("global_stride", "b64", "0, 128")
#define MADE_STEP IN_SHARED("element_stride", "b32", "0, 1") IN_SHARED("element_stride", "b32", "1, 1")
#define MADE_TYPE IN_SHARED("elemtype", "b32", "1")
#define PLANE_OF(...) PLANE, __VA_ARGS__

static const struct change changes[] = {
    {"tensor.change_address", IN_SHARED("global_address", "b64", "%rd3") AFTER, {PLANE}, .moved = 256},
    {"tensor.change_rank", IN_SHARED("rank", "b32", "0") AFTER, {PLANE_OF(.rank = 1)}},
    {"tensor.change_rank_up",
     IN_SHARED("rank", "b32", "2") AFTER,
     {PLANE_OF(.rank = 3, .dim = {64, 60, 1}, .box = {16, 8, 1})}},
    {"tensor.change_box", IN_SHARED("box_dim", "b32", "1, 4") AFTER, {PLANE_OF(.box = {16, 4})}},
    {"tensor.change_box_less", IN_SHARED("box_dim", "b32", "1, 3") AFTER, {PLANE_OF(.box = {16, 4})}},
    {"tensor.change_box_first", IN_SHARED("box_dim", "b32", "0, 8") AFTER, {PLANE_OF(.box = {8, 8})}},
    {"tensor.change_dim", IN_SHARED("global_dim", "b32", "1, 30") AFTER, {PLANE_OF(.dim = {64, 30})}},
    {"tensor.change_dim_less", IN_SHARED("global_dim", "b32", "1, 29") AFTER, {PLANE_OF(.dim = {64, 30})}},
    {"tensor.change_dim_first", IN_SHARED("global_dim", "b32", "0, 40") AFTER, {PLANE_OF(.dim = {40, 60})}},
    {"tensor.change_dim_first_less", IN_SHARED("global_dim", "b32", "0, 39") AFTER, {PLANE_OF(.dim = {40, 60})}},
    {"tensor.change_stride", IN_SHARED("global_stride", "b64", "0, 256") AFTER, {PLANE_OF(.stride = {256})}},
    {"tensor.change_stride_16", IN_SHARED("global_stride", "b64", "0, 16") AFTER, {PLANE_OF(.stride = {256})}},
    {"tensor.change_stride_8_6", IN_SHARED("global_stride", "b64", "0, 256") AFTER, {PLANE_OF(.stride = {256})}, "8.6"},
    {"tensor.change_stride_8_6_16",
     IN_SHARED("global_stride", "b64", "0, 16") AFTER,
     {PLANE_OF(.stride = {256})},
     "8.6"},
    {"tensor.change_step", IN_SHARED("element_stride", "b32", "1, 3") AFTER, {PLANE_OF(.step = {1, 3})}},
    {"tensor.change_step_less", IN_SHARED("element_stride", "b32", "1, 2") AFTER, {PLANE_OF(.step = {1, 3})}},
    {"tensor.change_type_u8",
     IN_SHARED("elemtype", "b32", "0") AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_UINT8)}},
    {"tensor.change_type_u32",
     IN_SHARED("elemtype", "b32", "2") AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_UINT32)}},
    {"tensor.change_type_s32",
     IN_SHARED("elemtype", "b32", "3") AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_INT32)}},
    {"tensor.change_type_u64",
     IN_SHARED("elemtype", "b32", "4") AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_UINT64)}},
    {"tensor.change_type_s64",
     IN_SHARED("elemtype", "b32", "5") AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_INT64)}},
    {"tensor.change_type_f16",
     IN_SHARED("elemtype", "b32", "6") AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16)}},
    {"tensor.change_type_f32",
     IN_SHARED("elemtype", "b32", "7") AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32)}},
    {"tensor.change_type_f32_ftz",
     IN_SHARED("elemtype", "b32", "8") AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ)}},
    {"tensor.change_type_f64",
     IN_SHARED("elemtype", "b32", "9") AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT64)}},
    {"tensor.change_type_bf16",
     IN_SHARED("elemtype", "b32", "10") AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16)}},
    {"tensor.change_type_tf32",
     IN_SHARED("elemtype", "b32", "11") AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32)}},
    {"tensor.change_type_tf32_ftz",
     IN_SHARED("elemtype", "b32", "12") AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ)}},
    {"tensor.change_swizzle_32",
     IN_SHARED("swizzle_mode", "b32", "1") AFTER,
     {PLANE_OF(.swizzle = CU_TENSOR_MAP_SWIZZLE_32B)}},
    {"tensor.change_swizzle_64",
     IN_SHARED("swizzle_mode", "b32", "2") AFTER,
     {PLANE_OF(.swizzle = CU_TENSOR_MAP_SWIZZLE_64B)}},
    {"tensor.change_swizzle_128",
     IN_SHARED("swizzle_mode", "b32", "3") AFTER,
     {PLANE_OF(.swizzle = CU_TENSOR_MAP_SWIZZLE_128B)}},
    {"tensor.change_interleave_0", IN_SHARED("interleave_layout", "b32", "0") AFTER, {PLANE}},
    {"tensor.change_fill",
     IN_SHARED("fill_mode", "b32", "1") " @%p1 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%s], 6;" AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16, .fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)}},
    {"tensor.made",
     ZEROS MADE_ADDRESS MADE_RANK MADE_BOX MADE_DIM MADE_STRIDE MADE_STEP MADE_TYPE AFTER,
     {PLANE},
     .moved = 256},
    {"tensor.made_backwards",
     ZEROS MADE_TYPE MADE_STEP MADE_STRIDE MADE_DIM MADE_BOX MADE_RANK MADE_ADDRESS AFTER,
     {PLANE}},
    {"tensor.made_without_rank",
     ZEROS MADE_ADDRESS MADE_BOX MADE_DIM MADE_STRIDE MADE_STEP MADE_TYPE AFTER,
     {PLANE_OF(.rank = 1)}},
    {"tensor.made_without_step", ZEROS MADE_ADDRESS MADE_RANK MADE_BOX MADE_DIM MADE_STRIDE MADE_TYPE AFTER, {PLANE}},
    {"tensor.made_without_type",
     ZEROS MADE_ADDRESS MADE_RANK MADE_BOX MADE_DIM MADE_STRIDE MADE_STEP AFTER,
     {PLANE_OF(.type = CU_TENSOR_MAP_DATA_TYPE_UINT8)}},
    {"tensor.made_without_box_1",
     ZEROS MADE_ADDRESS MADE_RANK IN_SHARED("box_dim", "b32", "0, 16") MADE_DIM MADE_STRIDE MADE_STEP MADE_TYPE AFTER,
     {PLANE_OF(.box = {16, 1})}},
    {"tensor.made_without_dim_1",
     ZEROS MADE_ADDRESS MADE_RANK MADE_BOX IN_SHARED("global_dim", "b32", "0, 64")
         MADE_STRIDE MADE_STEP MADE_TYPE AFTER,
     {PLANE_OF(.dim = {64, 1})}},
    {"tensor.made_of_ones",
     "mov.u32 %r2, 0x01010101; st.shared.b32 [%r3], %r2; bar.sync 0; " MADE_ADDRESS MADE_RANK MADE_BOX MADE_DIM
         MADE_STRIDE MADE_STEP MADE_TYPE AFTER,
     {PLANE}},
    {"tensor.change_in_global",
     COPY
     " fence.proxy.tensormap::generic.acquire.gpu [%g], 128; bar.sync 0; @%p1 tensormap.replace.tile.box_dim.global.b1024.b32 [%g], 1, 4;",
     {PLANE_OF(.box = {16, 4})}},
};

/* What a load of 16-bit words finds by a map. */
static CUresult load_by(const CUtensorMap *map, const struct tensor *tensor, uint16_t room[TENSOR_ROOM / 2], bool *late)
{
    unsigned bytes = tensor_element(tensor->type);
    for (unsigned i = 0; i < tensor->rank; i++)
        bytes *= i && tensor->step[i] ? (tensor->box[i] + tensor->step[i] - 1) / tensor->step[i] : tensor->box[i];
    return tensor_run(map, tensor_load(tensor->rank), (int[5]){8, 28}, NULL, bytes, 0, room, late);
}

/* Whether a load by the map that the kernel changed finds what one by the host's map finds. */
static void run_change(const struct gold_case *self)
{
    static uint16_t room[TENSOR_ROOM / 2], expected_room[TENSOR_ROOM / 2];
    const struct change *change = self->data;
    const CUdeviceptr memory = tensor_memory(NULL, 0);
    char text[1024];
    bool late = false, expected_late = false;
    CUtensorMap map, expected;
    NEED(tensor_encode(&(struct tensor){PLANE}, memory, &map));
    NEED(tensor_encode(&change->tensor, memory + change->moved, &expected));
    snprintf(text, sizeof text, "mov.b64 %%rd3, %llu; %s", memory + change->moved, change->statements);
    NEED(run(change->version ? change->version : "8.3", "sm_90a", text, &map));
    CUresult status = load_by(&map, &change->tensor, room, &late);
    say(status);
    if (status != CUDA_SUCCESS)
        return;
    NEED(load_by(&expected, &change->tensor, expected_room, &expected_late));
    say_if("as_expected", late == expected_late && memcmp(room, expected_room, sizeof room) == 0);
    if (late)
        say_text("late");
}

static struct gold_case change_cases[sizeof changes / sizeof changes[0]];
__attribute__((constructor)) static void add_changes(void)
{
    size_t count = sizeof changes / sizeof changes[0];
    for (size_t i = 0; i < count; i++)
        change_cases[i] = (struct gold_case){
            .name = changes[i].name,
            .run = run_change,
            .data = &changes[i],
            .alone = true,
            .allow =
                strcmp(changes[i].name, "tensor.change_step_less") == 0 ? "CUDA_SUCCESS as_expected=no late" : NULL,
            .why = "hardware tells the mbarrier of more bytes than it expects in parts"};
    gold_register_all(change_cases, count);
}

/* ---- multimem ---- */

struct everywhere {
    const char *name, *statement;
};

static const struct everywhere everywhere[] = {
    {"multimem.store", "multimem.st.global.b32 [%g], 5;"},
    {"multimem.store_relaxed", "multimem.st.relaxed.sys.global.b32 [%g], 5;"},
    {"multimem.store_generic", "multimem.st.b32 [%g], 5;"},
    {"multimem.load", "multimem.ld_reduce.global.add.u32 %r4, [%g]; st.global.b32 [%g+4], %r4;"},
    {"multimem.load_floats",
     "multimem.ld_reduce.relaxed.sys.global.add.v2.f32 {%f1, %f2}, [%g]; st.global.f32 [%g+4], %f2;"},
    {"multimem.load_relaxed", "multimem.ld_reduce.relaxed.sys.global.and.b32 %r4, [%g]; st.global.b32 [%g+4], %r4;"},
    {"multimem.add", "multimem.red.global.add.u32 [%g], 5;"},
    {"multimem.add_relaxed", "multimem.red.relaxed.sys.global.add.u32 [%g], 5;"},
    {"multimem.null", "multimem.st.global.b32 [%rd7], 5;"},
    {"multimem.none", "setp.gt.u32 %p2, %r1, 1000; @%p2 multimem.st.global.b32 [%g], 5;"},
};

static void run_everywhere(const struct gold_case *self)
{
    static char text[512];
    const struct everywhere *row = self->data;
    CUtensorMap map;
    memset(&map, 0, sizeof map);
    snprintf(text, sizeof text, "mov.b64 %%rd7, 0; %s", row->statement);
    CUresult status = run("8.3", "sm_90", text, &map);
    say(status);
    if (status == CUDA_SUCCESS)
        say_hash(&map, 8);
}

static struct gold_case everywhere_cases[sizeof everywhere / sizeof everywhere[0]];
__attribute__((constructor)) static void add_everywhere(void)
{
    size_t count = sizeof everywhere / sizeof everywhere[0];
    for (size_t i = 0; i < count; i++)
        everywhere_cases[i] =
            (struct gold_case){.name = everywhere[i].name,
                               .run = run_everywhere,
                               .data = &everywhere[i],
                               .alone = true,
                               .allow = strstr(everywhere[i].name, "load") ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL,
                               .why = "hardware tells an illegal instruction now and then"};
    gold_register_all(everywhere_cases, count);
}
