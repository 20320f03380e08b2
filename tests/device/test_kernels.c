/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of kernels.cu, run through the driver and compared with the same work in C. Integers and sums of whole
 * numbers must be equal; what multiplies and adds fractions may differ by the rounding of a fused operation. */
#include <cuda.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

static CUcontext context;
static CUmodule module;

static int begin(void **state)
{
    (void)state;
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuModuleLoad(&module, getenv("DEVICE_KERNELS_PTX")));
    return 0;
}

static int end(void **state)
{
    (void)state;
    return cuCtxDestroy(context) == CUDA_SUCCESS ? 0 : -1;
}

static CUdeviceptr device_copy(const void *from, size_t size)
{
    CUdeviceptr to;
    OK(cuMemAlloc(&to, size));
    if (from)
        OK(cuMemcpyHtoD(to, from, size));
    else
        OK(cuMemsetD8(to, 0, size));
    return to;
}

static CUresult launch(const char *name, const unsigned grid[2], const unsigned block[2], unsigned shared,
                       void **parameters)
{
    CUfunction function;
    OK(cuModuleGetFunction(&function, module, name));
    CUresult status =
        cuLaunchKernel(function, grid[0], grid[1], 1, block[0], block[1], 1, shared, NULL, parameters, NULL);
    return status == CUDA_SUCCESS ? cuCtxSynchronize() : status;
}

#define GRID(...) ((const unsigned[2]){__VA_ARGS__})

static void reductions(void **state)
{
    (void)state;
    enum { COUNT = 10007, BLOCKS = 9 };
    static int numbers[COUNT];
    static double fractions[COUNT];
    int sums[BLOCKS], sum = 0, got = 0, n = COUNT;
    double parts[BLOCKS], whole = 0;
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = i * 7919 % 2003 - 1000;
        fractions[i] = numbers[i] / 4.0;
        sum += numbers[i];
    }
    for (unsigned threads = 32; threads <= 1024; threads = threads == 32 ? 96 : threads == 96 ? 256 : threads * 4) {
        CUdeviceptr in = device_copy(numbers, sizeof numbers), out = device_copy(NULL, sizeof sums);
        OK(launch("reduce_int", GRID(BLOCKS, 1), GRID(threads, 1), 0, (void *[]){&out, &in, &n}));
        OK(cuMemcpyDtoH(sums, out, sizeof sums));
        got = 0;
        for (int i = 0; i < BLOCKS; i++)
            got += sums[i];
        assert_int_equal(got, sum);
        OK(cuMemFree(in));
        OK(cuMemFree(out));
        in = device_copy(fractions, sizeof fractions);
        out = device_copy(NULL, sizeof parts);
        OK(launch("reduce_double", GRID(BLOCKS, 1), GRID(threads, 1), 0, (void *[]){&out, &in, &n}));
        OK(cuMemcpyDtoH(parts, out, sizeof parts));
        whole = 0;
        for (int i = 0; i < BLOCKS; i++)
            whole += parts[i];
        assert_true(whole == sum / 4.0);
        OK(cuMemFree(in));
        OK(cuMemFree(out));
    }
}

static void histogram(void **state)
{
    (void)state;
    enum { COUNT = 30011 };
    static uint8_t data[COUNT];
    uint32_t right[256] = {0}, got[256];
    int n = COUNT;
    for (int i = 0; i < COUNT; i++)
        right[data[i] = (uint8_t)((unsigned)i * i / 300 + (unsigned)i)]++;
    CUdeviceptr in = device_copy(data, sizeof data), bins = device_copy(NULL, sizeof got);
    OK(launch("histogram", GRID(7, 1), GRID(192, 1), 0, (void *[]){&bins, &in, &n}));
    OK(cuMemcpyDtoH(got, bins, sizeof got));
    assert_memory_equal(got, right, sizeof got);
    OK(cuMemFree(in));
    OK(cuMemFree(bins));
}

static void matrix_product(void **state)
{
    (void)state;
    enum { N = 53 };
    static float a[N * N], b[N * N], c[N * N];
    int n = N;
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 17) - 8;
        b[i] = (float)(i % 23) - 11;
    }
    CUdeviceptr da = device_copy(a, sizeof a), db = device_copy(b, sizeof b), dc = device_copy(NULL, sizeof c);
    unsigned blocks = (N + 15) / 16;
    OK(launch("multiply", GRID(blocks, blocks), GRID(16, 16), 0, (void *[]){&dc, &da, &db, &n}));
    OK(cuMemcpyDtoH(c, dc, sizeof c));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i * N + k] * b[k * N + j];
            assert_true(c[i * N + j] == sum);
        }
    OK(cuMemFree(da));
    OK(cuMemFree(db));
    OK(cuMemFree(dc));
}

static float at(const float *cells, int width, int height, int x, int y)
{
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    return cells[y * width + x];
}

static void stencil(void **state)
{
    (void)state;
    enum { WIDTH = 75, HEIGHT = 41 };
    static float in[WIDTH * HEIGHT], out[WIDTH * HEIGHT];
    static const float weights[5] = {0.5f, 0.125f, 0.125f, 0.25f, -0.75f};
    int width = WIDTH, height = HEIGHT;
    CUdeviceptr constant;
    size_t size;
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        in[i] = (float)(i * 37 % 1009);
    OK(cuModuleGetGlobal(&constant, &size, module, "weights"));
    assert_int_equal(size, sizeof weights);
    OK(cuMemcpyHtoD(constant, weights, sizeof weights));
    CUdeviceptr from = device_copy(in, sizeof in), to = device_copy(NULL, sizeof out);
    OK(launch("stencil", GRID((WIDTH + 31) / 32, (HEIGHT + 3) / 4), GRID(32, 4), 34 * 6 * sizeof(float),
              (void *[]){&to, &from, &width, &height}));
    OK(cuMemcpyDtoH(out, to, sizeof out));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            float right = weights[0] * at(in, WIDTH, HEIGHT, x, y) + weights[1] * at(in, WIDTH, HEIGHT, x - 1, y) +
                          weights[2] * at(in, WIDTH, HEIGHT, x + 1, y) + weights[3] * at(in, WIDTH, HEIGHT, x, y - 1) +
                          weights[4] * at(in, WIDTH, HEIGHT, x, y + 1);
            assert_true(out[y * WIDTH + x] == right);
        }
    OK(cuMemFree(from));
    OK(cuMemFree(to));
}

struct vector {
    float x, y, z;
};
/* As kernels.cu has it. */
struct particles {
    CUdeviceptr position, velocity;
    _Alignas(16) float force[4];
    short count;
    double step;
    char fixed[3];
};

static void structures_as_parameters(void **state)
{
    (void)state;
    enum { COUNT = 70 };
    struct vector position[COUNT], velocity[COUNT], moved[COUNT];
    for (int i = 0; i < COUNT; i++) {
        position[i] = (struct vector){(float)i, 1, -(float)i};
        velocity[i] = (struct vector){1, (float)i, 2};
    }
    int steps = 3;
    struct particles all = {device_copy(position, sizeof position),
                            device_copy(velocity, sizeof velocity),
                            {1, 2, -4, 9},
                            67,
                            0.5,
                            {3, 64, 66}};
    OK(launch("move_particles", GRID(3, 1), GRID(32, 1), 0, (void *[]){&all, &steps}));
    OK(cuMemcpyDtoH(moved, all.position, sizeof moved));
    for (int i = 0; i < COUNT; i++) {
        struct vector v = velocity[i], p = position[i];
        for (int k = 0; k < steps && i < 67 && i != 3 && i != 64 && i != 66; k++) {
            v = (struct vector){v.x + 0.5f, v.y + 1, v.z - 2};
            p = (struct vector){p.x + v.x / 2, p.y + v.y / 2, p.z + v.z / 2};
        }
        assert_true(moved[i].x == p.x && moved[i].y == p.y && moved[i].z == p.z);
    }
    OK(cuMemFree(all.position));
    OK(cuMemFree(all.velocity));
}

static void virtual_calls(void **state)
{
    (void)state;
    float out[96];
    CUdeviceptr device = device_copy(NULL, sizeof out);
    OK(launch("virtual_calls", GRID(1, 1), GRID(96, 1), 0, (void *[]){&device}));
    OK(cuMemcpyDtoH(out, device, sizeof out));
    for (int i = 0; i < 96; i++)
        assert_true(out[i] == 2.0f * (float)(i * i) * (i % 3 ? 1 : 3));
    OK(cuMemFree(device));
}

static void lists_in_device_memory(void **state)
{
    (void)state;
    int sum = 0;
    CUdeviceptr device = device_copy(NULL, sizeof sum);
    OK(launch("push_nodes", GRID(5, 1), GRID(64, 1), 0, NULL));
    OK(launch("sum_nodes", GRID(1, 1), GRID(1, 1), 0, (void *[]){&device}));
    OK(cuMemcpyDtoH(&sum, device, sizeof sum));
    assert_int_equal(sum, 320 * 319 / 2);
    OK(cuMemFree(device));
}

/* Runs the kernel with a standard stream in a file, and gives back what it wrote. */
static void written_by(int stream, const char *name, unsigned threads, void **parameters, CUresult expected, char *text,
                       size_t room)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(NULL);
    int kept = dup(stream);
    dup2(fileno(file), stream);
    CUresult status = launch(name, GRID(1, 1), GRID(threads, 1), 0, parameters);
    fflush(NULL);
    dup2(kept, stream);
    close(kept);
    rewind(file);
    text[fread(text, 1, room - 1, file)] = 0;
    fclose(file);
    assert_int_equal(status, expected);
}

static void printing(void **state)
{
    (void)state;
    char text[256];
    int yes = 1;
    written_by(STDOUT_FILENO, "say", 40, (void *[]){&yes}, CUDA_SUCCESS, text, sizeof text);
    assert_string_equal(text, "thread 1 of 40 says yes, 1.50\n");
}

static void warp_functions(void **state)
{
    (void)state;
    uint32_t out[256];
    CUdeviceptr device = device_copy(NULL, sizeof out);
    OK(launch("warp_things", GRID(1, 1), GRID(32, 1), 0, (void *[]){&device}));
    OK(cuMemcpyDtoH(out, device, sizeof out));
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t same = 0, reversed = 0;
        for (uint32_t other = lane % 5; other < 32; other += 5)
            same |= 1u << other;
        for (uint32_t bit = 0; bit < 8; bit++)
            reversed |= (lane >> bit & 1) << (7 - bit);
        assert_int_equal(out[lane], same);
        assert_int_equal(out[32 + lane], 31 * 32 / 2 + 31);
        assert_int_equal(out[64 + lane], 0xf0f0f0f0u ^ 1u);
        assert_int_equal(out[96 + lane], 0x77553311u + (lane << 1 | 1));
        assert_int_equal(out[128 + lane], (lane ^ 1) + (uint32_t)__builtin_popcount(lane) +
                                              (lane ? (uint32_t)__builtin_clz(lane) : 32) +
                                              (uint32_t)__builtin_ffs((int)lane) + reversed);
        uint32_t by = lane + 16;
        uint64_t both = UINT64_C(9) << 32 | 5;
        assert_int_equal(out[160 + lane], 7);
        assert_int_equal(out[192 + lane], 64 + 2 * 31);
        assert_int_equal(out[224 + lane],
                         (by < 32 ? (uint32_t)(both << by >> 32) ^ (uint32_t)(both >> by) : 5 ^ 9) ^ 0x80808080u);
    }
    OK(cuMemFree(device));
}

/* Last: the context is gone after it. */
static void assertions(void **state)
{
    (void)state;
    char text[512];
    int good[32];
    for (int i = 0; i < 32; i++)
        good[i] = i != 20;
    CUdeviceptr device = device_copy(good, sizeof good);
    OK(launch("insist", GRID(1, 1), GRID(20, 1), 0, (void *[]){&device}));
    written_by(STDERR_FILENO, "insist", 32, (void *[]){&device}, CUDA_ERROR_ASSERT, text, sizeof text);
    assert_non_null(strstr(text, "kernels.cu"));
    assert_non_null(strstr(text, "x[threadIdx.x] > 0"));
    assert_non_null(strstr(text, "[20,0,0]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions),
        cmocka_unit_test(histogram),
        cmocka_unit_test(matrix_product),
        cmocka_unit_test(stencil),
        cmocka_unit_test(structures_as_parameters),
        cmocka_unit_test(virtual_calls),
        cmocka_unit_test(lists_in_device_memory),
        cmocka_unit_test(printing),
        cmocka_unit_test(warp_functions),
        cmocka_unit_test(assertions),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
