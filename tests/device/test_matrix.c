/* SPDX-License-Identifier: Apache-2.0 */
/* mma.h and cuda_pipeline.h: products of matrices and staged copies of matrix.cu, compared with plain C. Numbers are
 * small whole ones, so that every sum is exact in any order. */
#include <cuda.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define SIDE 64

static CUmodule module;

static CUdeviceptr to_device(const void *from, size_t bytes)
{
    CUdeviceptr p;
    OK(cuMemAlloc(&p, bytes));
    OK(cuMemcpyHtoD(p, from, bytes));
    return p;
}

static void launch(const char *name, unsigned x, unsigned y, unsigned threads, void **params)
{
    CUfunction function;
    OK(cuModuleGetFunction(&function, module, name));
    OK(cuLaunchKernel(function, x, y, 1, threads, 1, 1, 0, NULL, params, NULL));
}

static void from_device(void *to, CUdeviceptr p, size_t bytes)
{
    OK(cuMemcpyDtoH(to, p, bytes));
    OK(cuMemFree(p));
}

static int small(unsigned i)
{
    return (int)(i * 2654435761u >> 20) % 9 - 4;
}

/* A whole number of at most 4 in size, as a half. */
static uint16_t half_of(int value)
{
    static const uint16_t sizes[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
    return (uint16_t)(sizes[abs(value)] | (value < 0 ? 0x8000 : 0));
}

static void halves(void **state)
{
    (void)state;
    static uint16_t a[SIDE * SIDE], b[SIDE * SIDE];
    static float c[SIDE * SIDE];
    int n = SIDE;
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        a[i] = half_of(small(i));
        b[i] = half_of(small(i + 5000));
    }
    CUdeviceptr da = to_device(a, sizeof a), db = to_device(b, sizeof b), dc = to_device(c, sizeof c);
    void *params[] = {&da, &db, &dc, &n};
    launch("gemm", SIDE / 64, SIDE / 16, 128, params);
    from_device(c, dc, sizeof c);
    for (unsigned row = 0; row < SIDE; row++)
        for (unsigned col = 0; col < SIDE; col++) {
            int sum = 0;
            for (unsigned k = 0; k < SIDE; k++)
                sum += small(row * SIDE + k) * small(col * SIDE + k + 5000);
            assert_true(c[row * SIDE + col] == 2.0f * (float)sum);
        }
    OK(cuMemFree(da));
    OK(cuMemFree(db));
}

/* D (by columns) of a tile, from A, B and C as their elements lie. */
static int product(unsigned m, unsigned n, unsigned k, bool a_col, bool b_col, unsigned row, unsigned col)
{
    int sum = small(row * n + col + 900);
    for (unsigned i = 0; i < k; i++)
        sum += small(a_col ? i * m + row : row * k + i) * small((b_col ? col * k + i : i * n + col) + 300);
    return sum;
}

static void whole_numbers(void **state)
{
    (void)state;
    signed char a[512], b[512];
    int c[256], d[512];
    for (unsigned i = 0; i < 512; i++) {
        a[i] = (signed char)small(i);
        b[i] = (signed char)small(i + 300);
        c[i % 256] = small(i % 256 + 900);
    }
    CUdeviceptr da = to_device(a, sizeof a), db = to_device(b, sizeof b), dc = to_device(c, sizeof c),
                dd = to_device(d, sizeof d);
    void *params[] = {&da, &db, &dc, &dd};
    launch("bytes", 1, 1, 32, params);
    from_device(d, dd, sizeof d);
    for (unsigned i = 0; i < 256; i++) {
        assert_int_equal(d[i], product(16, 16, 16, false, false, i % 16, i / 16));
        assert_int_equal(d[256 + i], product(32, 8, 16, true, true, i % 32, i / 32));
    }
    OK(cuMemFree(da));
    OK(cuMemFree(db));
    OK(cuMemFree(dc));
}

static void floats(void **state)
{
    (void)state;
    double a[32], b[32], c[64], d[64];
    float fa[128], fb[128], fc[256], fd[256];
    for (unsigned i = 0; i < 256; i++) {
        a[i % 32] = small(i % 32);
        b[i % 32] = small(i % 32 + 300);
        c[i % 64] = small(i % 64 + 900);
        fa[i % 128] = (float)small(i % 128);
        fb[i % 128] = (float)small(i % 128 + 300);
        fc[i] = (float)small(i + 900);
    }
    CUdeviceptr da = to_device(a, sizeof a), db = to_device(b, sizeof b), dc = to_device(c, sizeof c),
                dd = to_device(d, sizeof d);
    void *params[] = {&da, &db, &dc, &dd};
    launch("doubles", 1, 1, 32, params);
    from_device(d, dd, sizeof d);
    for (unsigned i = 0; i < 64; i++)
        assert_true(d[i] == product(8, 8, 4, false, true, i % 8, i / 8));
    CUdeviceptr ea = to_device(fa, sizeof fa), eb = to_device(fb, sizeof fb), ec = to_device(fc, sizeof fc),
                ed = to_device(fd, sizeof fd);
    void *singles[] = {&ea, &eb, &ec, &ed};
    launch("singles", 1, 1, 32, singles);
    from_device(fd, ed, sizeof fd);
    for (unsigned i = 0; i < 256; i++)
        assert_true(fd[i] == (float)product(16, 16, 8, false, false, i % 16, i / 16));
    CUdeviceptr rest[] = {da, db, dc, ea, eb, ec};
    for (unsigned i = 0; i < 6; i++)
        OK(cuMemFree(rest[i]));
}

static void bits(void **state)
{
    (void)state;
    uint32_t a[32], b[32];
    int c[64], d[64];
    for (unsigned i = 0; i < 64; i++) {
        a[i % 32] = (i % 32) * 2654435761u;
        b[i % 32] = (i % 32 + 77) * 2246822519u;
        c[i] = (int)i;
    }
    CUdeviceptr da = to_device(a, sizeof a), db = to_device(b, sizeof b), dc = to_device(c, sizeof c),
                dd = to_device(d, sizeof d);
    void *params[] = {&da, &db, &dc, &dd};
    launch("bits", 1, 1, 32, params);
    from_device(d, dd, sizeof d);
    for (unsigned i = 0; i < 64; i++) {
        int sum = (int)i;
        for (unsigned w = 0; w < 4; w++)
            sum += __builtin_popcount(a[i / 8 * 4 + w] ^ b[i % 8 * 4 + w]);
        assert_int_equal(d[i], sum);
    }
    OK(cuMemFree(da));
    OK(cuMemFree(db));
    OK(cuMemFree(dc));
}

static void staged(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    static int in[COUNT * 4];
    int out[256], count = COUNT;
    double numbers[64], turned[64];
    for (unsigned i = 0; i < COUNT * 4; i++)
        in[i] = small(i);
    for (unsigned i = 0; i < 64; i++)
        numbers[i] = i * 1.5;
    CUdeviceptr din = to_device(in, sizeof in), dout = to_device(out, sizeof out);
    void *params[] = {&din, &count, &dout};
    launch("stages", 1, 1, 256, params);
    from_device(out, dout, sizeof out);
    for (unsigned me = 0; me < 256; me++) {
        int sum = 0;
        for (unsigned i = me ^ 1; i < COUNT; i += 256)
            for (unsigned part = 0; part < 4; part++)
                sum += (int)(part + 1) * in[4 * i + part];
        assert_int_equal(out[me], sum);
    }
    OK(cuMemFree(din));
    CUdeviceptr from = to_device(numbers, sizeof numbers), to = to_device(turned, sizeof turned);
    void *objects[] = {&from, &to};
    launch("staged_objects", 1, 1, 64, objects);
    from_device(turned, to, sizeof turned);
    for (unsigned i = 0; i < 64; i++)
        assert_true(turned[i] == numbers[63 - i]);
    OK(cuMemFree(from));
}

int main(void)
{
    const char *path = getenv("DEVICE_MATRIX_PTX");
    CUdevice device;
    CUcontext context;
    if (!path || cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS || cuCtxSetCurrent(context) != CUDA_SUCCESS ||
        cuModuleLoad(&module, path) != CUDA_SUCCESS)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves), cmocka_unit_test(whole_numbers), cmocka_unit_test(floats),
        cmocka_unit_test(bits),   cmocka_unit_test(staged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
