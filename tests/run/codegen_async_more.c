/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Asynchronous instructions that came with sm_100, and tensor maps in the hands of kernels: stores and reductions of
 * which no mbarrier hears, copies of some bytes of each 16, blocks taken over from the grid, maps copied and changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"
#include "abi/abi.h"
#include "kernel/tensor.h"

#define HEAD(target) ".version 8.8\n.target " target "\n.address_size 64\n"
#define KERNEL \
    ".visible .entry k(.param .u64 pin, .param .u64 pout, .param .u32 pn)\n{\n" \
    ".reg .b32 %t, %s, %n, %a<20>; .reg .b64 %in, %out, %o, %d<20>; .reg .pred %p<8>; .reg .f32 %f<8>; .reg .b16 %h<8>; .reg .b128 %q<4>;\n" \
    "ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout]; ld.param.u32 %n, [pn]; mov.u32 %t, %tid.x;\n"
#define END "ret; }\n"

struct params {
    void *in, *out;
    uint32_t n;
};

static uint32_t in[4096] __attribute__((aligned(128)));
static uint32_t out[4096] __attribute__((aligned(128)));

static void fill(void)
{
    for (uint32_t i = 0; i < 4096; i++)
        in[i] = i * 2654435761u;
    memset(out, 0, sizeof out);
}

static CUresult launch(struct rig *rig, unsigned blocks, unsigned threads, uint32_t n)
{
    struct params params = {in, out, n};
    return rig_launch(rig, "k", (unsigned[3]){blocks, 1, 1}, (unsigned[3]){threads, 1, 1}, 0, &params, 20);
}

/* Each of the forms that are a store or a reduction. */
static void stores_and_reductions(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD(
        "sm_100") ".shared .align 8 .b8 room[1024];\n" KERNEL
                  "mul.wide.u32 %d1, %t, 8; add.u64 %o, %out, %d1; mul.lo.u32 %a1, %t, 3; cvt.u16.u32 %h1, %t; mul.wide.u32 %d2, %t, -5; setp.ne.u32 %p1, %t, 7;\n"
                  "@%p1 st.async.release.gpu.global.b32 [%o], %a1; st.async.mmio.release.sys.u16 [%o+4], %h1;\n"
                  "add.u64 %o, %o, 1024; st.async.weak.global.u64 [%o], %d2; st.async.sys.b64 [%o+1024], %d2;\n"
                  "cvta.to.global.u64 %d3, %out; red.async.release.gpu.global.add.u32 [%d3+4000], %t; red.async.mmio.release.sys.max.s32 [%d3+4004], %a1;\n"
                  "red.async.relaxed.gpu.global.add.s64 [%d3+4008], %d2; red.async.release.sys.global.xor.b32 [%d3+4016], %a1; red.async.relaxed.sys.inc.u32 [%d3+4020], 100;\n"
                  "mov.u32 %s, room; mad.lo.u32 %a2, %t, 4, %s; st.async.shared.b32 [%a2], %a1; bar.sync 0; xor.b32 %a3, %t, 1; mad.lo.u32 %a3, %a3, 4, %s;\n"
                  "ld.shared.b32 %a4, [%a3]; mul.wide.u32 %d4, %t, 4; add.u64 %d4, %d4, %out; st.global.b32 [%d4+8192], %a4;\n" END);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        fill();
        assert_int_equal(launch(rig, 1, 64, 0), CUDA_SUCCESS);
        int64_t sum = 0;
        uint32_t bits = 0;
        for (uint32_t t = 0; t < 64; t++) {
            int64_t value = (int64_t)((uint64_t)t * 0xfffffffbu), got[2];
            memcpy(&got[0], (char *)out + 1024 + 8 * t, 8);
            memcpy(&got[1], (char *)out + 2048 + 8 * t, 8);
            assert_int_equal(out[2 * t], t == 7 ? 0 : 3 * t);
            assert_int_equal(out[2 * t + 1], t);
            assert_int_equal(got[1], value);
            assert_int_equal(got[0], value);
            assert_int_equal(out[2048 + t], 3 * (t ^ 1));
            sum += value;
            bits ^= 3 * t;
        }
        assert_int_equal(out[1000], 63 * 32);
        assert_int_equal(out[1001], 189);
        assert_memory_equal(&out[1002], &sum, 8);
        assert_int_equal(out[1004], bits);
        assert_int_equal(out[1005], 64);
    }
    rig_close(rig);
}

/* Each lane copies 48 bytes with a mask of its own. */
static void some_bytes(void **unused)
{
    (void)unused;
    for (int hint = 0; hint < 2; hint++) {
        char text[2048];
        strcpy(
            text,
            HEAD(
                "sm_100") ".shared .align 16 .b8 room[2048];\n" KERNEL
                          "mov.u32 %s, room; mad.lo.u32 %s, %t, 48, %s; mul.wide.u32 %d1, %t, 48; add.u64 %d2, %in, %d1; add.u64 %o, %out, %d1; mov.u32 %a1, 0;\n"
                          "more: ld.global.b32 %a2, [%d2]; add.u32 %a3, %s, %a1; st.shared.b32 [%a3], %a2; add.u64 %d2, %d2, 4; add.u32 %a1, %a1, 4; setp.lt.u32 %p1, %a1, 48; @%p1 bra more;\n"
                          "mul.lo.u32 %a4, %t, 2654435761; shr.u32 %a4, %a4, 16; setp.eq.u32 %p2, %t, 5; selp.b32 %a4, 0xffff, %a4, %p2; setp.eq.u32 %p2, %t, 6; selp.b32 %a4, 0, %a4, %p2; cvt.u16.u32 %h1, %a4; setp.ne.u32 %p3, %t, 9;\n");
        strcat(
            text,
            hint
                ? "mov.b64 %d5, 0; @%p3 cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%o], [%s], 48, %d5, %h1;\n" END
                : "@%p3 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%o], [%s], 48, %h1; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n" END);
        struct rig *rig = rig_open(text);
        for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
            fill();
            memset(out, 0xee, sizeof out);
            assert_int_equal(launch(rig, 1, 32, 0), CUDA_SUCCESS);
            for (uint32_t t = 0; t < 32; t++) {
                uint32_t mask = t == 5 ? 0xffff : t == 6 || t == 9 ? 0 : t * 2654435761u >> 16;
                for (uint32_t i = 0; i < 48; i++) {
                    unsigned char expected = mask >> i % 16 & 1 ? ((unsigned char *)in)[48 * t + i] : 0xee;
                    assert_int_equal(((unsigned char *)out)[48 * t + i], expected);
                }
            }
        }
        rig_close(rig);
    }
}

/* Blocks that do the work of others: each place of the grid is worked on once, whoever does it. */
static void taken_over(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD(
        "sm_100") ".shared .align 16 .b8 answer[16]; .shared .align 8 .b64 bar;\n" KERNEL
                  "mov.u32 %a1, %ctaid.x; mov.u32 %a2, %ctaid.y; mov.u32 %a3, %ctaid.z; mov.u32 %a10, 0; setp.eq.u32 %p1, %t, 0; mov.u32 %s, answer;\n"
                  "@%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;\n"
                  "work: mov.u32 %a4, %nctaid.x; mov.u32 %a5, %nctaid.y; mad.lo.u32 %a6, %a3, %a5, %a2; mad.lo.u32 %a6, %a6, %a4, %a1; mul.wide.u32 %d1, %a6, 4; add.u64 %d1, %d1, %out; red.global.add.u32 [%d1], 1;\n"
                  "bar.sync 0; @!%p1 bra wait; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16; clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%s], [bar];\n"
                  "wait: mbarrier.try_wait.parity.shared.b64 %p2, [bar], %a10; @!%p2 bra wait; xor.b32 %a10, %a10, 1;\n"
                  "ld.shared.b128 %q1, [%s]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q1; @!%p3 bra none;\n"
                  "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%a1, %a2, %a3, _}, %q1;\n"
                  "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %a11, %q1; clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %a12, %q1; clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %a13, %q1;\n"
                  "sub.u32 %a11, %a11, %a1; sub.u32 %a12, %a12, %a2; sub.u32 %a13, %a13, %a3; or.b32 %a11, %a11, %a12; or.b32 %a11, %a11, %a13; add.u32 %a11, %a11, 1; @%p1 red.global.add.u32 [%out+8000], %a11; bra work;\n"
                  "none:\n" END);
    static const unsigned grids[][3] = {{1, 1, 1}, {40, 1, 1}, {7, 5, 3}, {1, 60, 2}};
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        for (unsigned i = 0; i < 4; i++) {
            const unsigned *grid = grids[i], threads = 64;
            struct params params = {in, out, 0};
            fill();
            assert_int_equal(rig_launch(rig, "k", grid, (unsigned[3]){threads, 1, 1}, 0, &params, 20), CUDA_SUCCESS);
            unsigned count = grid[0] * grid[1] * grid[2];
            for (unsigned block = 0; block < count; block++)
                assert_int_equal(out[block], threads);
            assert_int_equal(out[2000], count - 1); /* here all blocks are one run */
        }
    rig_close(rig);
}

/* A map in the middle of noise. */
static void maps(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD(
        "sm_90a") ".shared .align 128 .b8 room[256];\n" KERNEL
                  "mov.u32 %s, room; mad.lo.u32 %a1, %t, 4, %s; mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %in; ld.global.b32 %a2, [%d1]; st.shared.b32 [%a1], %a2; setp.eq.u32 %p1, %t, 3; bar.sync 0;\n"
                  "@%p1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%s], %out; @%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%s], 2;\n"
                  "@%p1 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%s], 1, %t; @%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%s], 2, %n;\n"
                  "mov.b64 %d2, 4096; @%p1 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%s], 1, %d2; @%p1 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%s], 0, 2;\n"
                  "@%p1 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%s], 9; @%p1 tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%s], 3; bar.sync 0;\n"
                  "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%out], [%s], 128; fence.proxy.tensormap::generic.acquire.gpu [%out], 128;\n"
                  "@%p1 tensormap.replace.tile.fill_mode.global.b1024.b32 [%out], 1; @%p1 tensormap.replace.tile.interleave_layout.global.b1024.b32 [%out], 2;\n" END);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        unsigned char noise[128];
        fill();
        memcpy(noise, in, sizeof noise);
        assert_int_equal(launch(rig, 1, 32, 9), CUDA_SUCCESS);
        assert_memory_equal(out, noise, sizeof noise); /* no map is copied, not changed */
        struct mr_tensor_map map = {.mark = MR_TENSOR_MAP_MARK, .rank = 1, .step = {1, 1, 1}}, got;
        memcpy(in, &map, sizeof map);
        assert_int_equal(launch(rig, 1, 32, 9), CUDA_SUCCESS);
        map.address = (uint64_t)(uintptr_t)out;
        map.rank = 3;
        map.box[1] = 3;
        map.last[2] = 8;
        map.stride[1] = 4096;
        map.step[0] = 2;
        map.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
        map.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
        map.nans = 1;
        map.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
        memcpy(&got, out, sizeof got);
        assert_memory_equal(&got, &map, sizeof map);
        memset(in, 0, 128); /* become a map: of one element, before the changes */
        memcpy(map.box, (uint16_t[]){1, 3, 1, 1, 1}, sizeof map.box);
        memcpy(map.step, (uint8_t[]){2, 1, 1, 1, 1}, sizeof map.step);
        assert_int_equal(launch(rig, 1, 32, 9), CUDA_SUCCESS);
        memcpy(&got, out, sizeof got);
        assert_memory_equal(&got, &map, sizeof map);
        ((unsigned char *)in)[127] = 1; /* neither a map nor zeros */
        memcpy(noise, in, sizeof noise);
        assert_int_equal(launch(rig, 1, 32, 9), CUDA_SUCCESS);
        assert_memory_equal(out, noise, sizeof noise);
    }
    rig_close(rig);
}

/* No map is for wide columns. */
static void wide_columns(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD(
        "sm_100") ".shared .align 128 .b8 room[1024]; .shared .align 8 .b64 bar;\n" KERNEL
                  "setp.eq.u32 %p1, %n, 0; @%p1 bra done; mov.u32 %s, room; mov.u32 %a1, bar; mov.b16 %h1, 0; mov.u32 %a2, 0;\n"
                  "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [%s], [%in, {%a2, %a2, %a2}], [%a1], {%h1, %h1};\ndone:\n" END);
    struct mr_tensor_map map = {.mark = MR_TENSOR_MAP_MARK, .rank = 3, .step = {1, 1, 1}, .box = {8, 8}, .columns = 1};
    rig_variant = 0;
    memset(in, 0, sizeof in);
    memcpy(in, &map, sizeof map);
    assert_int_equal(launch(rig, 1, 1, 0), CUDA_SUCCESS);
    assert_int_equal(launch(rig, 1, 1, 1), CUDA_ERROR_ILLEGAL_INSTRUCTION);
    rig_close(rig);
}

/* .ignore_oob: the bytes between those that may be out of bounds. */
static void out_of_bounds(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        ".version 9.2\n.target sm_90\n.address_size 64\n"
        ".shared .align 16 .b8 room[64]; .shared .align 8 .b64 bar;\n" KERNEL
        "mov.u32 %s, bar; mov.u32 %a1, room; setp.ne.u32 %p1, %t, 0; @%p1 bra ready;\n"
        "mbarrier.init.shared.b64 [%s], 1; fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 _, [%s], 64;\n"
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%a1], [%in], 64, %n, 15, [%s];\n"
        "ready: bar.sync 0;\nwait: mbarrier.try_wait.parity.shared.b64 %p2, [%s], 0; @!%p2 bra wait;\n"
        "mad.lo.u32 %a2, %t, 4, %a1; ld.shared.u32 %a3, [%a2]; mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %out;\n"
        "st.global.u32 [%d1], %a3;\n" END);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        for (uint32_t left = 0; left < 16; left += 5) {
            fill();
            assert_int_equal(launch(rig, 1, 16, left), CUDA_SUCCESS);
            assert_memory_equal((char *)out + left, (char *)in + left, 64 - 15 - left);
        }
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_and_reductions),
        cmocka_unit_test(some_bytes),
        cmocka_unit_test(taken_over),
        cmocka_unit_test(maps),
        cmocka_unit_test(wide_columns),
        cmocka_unit_test(out_of_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
