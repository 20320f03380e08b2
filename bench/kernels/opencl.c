/* SPDX-License-Identifier: Apache-2.0 */
/* Launches the kernels of kernels.cl on PoCL, with the grids and blocks of cuda.c, and times them alike: from the
 * launch to the end of clFinish, best of some rounds, fewer where one takes a good part of a second. The first launch
 * compiles for its work-group's size and doesn't count. Exits with 77 where there is no OpenCL CPU device. */
#include "../bench_opencl.h"
#include "kernels.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

extern const char bench_opencl_kernels[];

static cl_device_id device;
static cl_context context;
static cl_program program;
static cl_command_queue queue;
static size_t grid[2], block[2];

struct argument {
    size_t size;
    const void *value;
};
#define ARGUMENT(variable) {sizeof(variable), &(variable)}
#define MEASURE(name, repeats, ...) \
    measure(name, repeats, (struct argument[]){__VA_ARGS__}, \
            sizeof((struct argument[]){__VA_ARGS__}) / sizeof(struct argument))

static void shape(size_t groups_x, size_t groups_y, size_t block_x, size_t block_y)
{
    grid[0] = groups_x * block_x;
    grid[1] = groups_y * block_y;
    block[0] = block_x;
    block[1] = block_y;
}

static double measure(const char *name, int repeats, const struct argument *arguments, size_t count)
{
    cl_kernel kernel = opencl_kernel(program, name);
    double best = 1e9;
    for (size_t i = 0; i < count; i++)
        opencl_require(clSetKernelArg(kernel, (cl_uint)i, arguments[i].size, arguments[i].value), "clSetKernelArg");
    for (int round = -1; round < repeats; round++) {
        double begin = kernels_seconds();
        opencl_require(clEnqueueNDRangeKernel(queue, kernel, block[1] == 1 ? 1 : 2, NULL, grid, block, 0, NULL, NULL),
                       "clEnqueueNDRangeKernel");
        opencl_require(clFinish(queue), "clFinish");
        double took = (kernels_seconds() - begin) * 1e3;
        if (round >= 0 && took < best)
            best = took;
    }
    clReleaseKernel(kernel);
    return best;
}

static cl_mem upload(void *from, size_t bytes)
{
    cl_int status;
    cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, from, &status);
    opencl_require(status, "clCreateBuffer");
    return to;
}

static void download(void *to, cl_mem from, size_t bytes)
{
    opencl_require(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, bytes, to, 0, NULL, NULL), "clEnqueueReadBuffer");
}

static cl_mem floats(size_t count, uint32_t seed)
{
    float *values = malloc(count * sizeof *values);
    kernels_fill(values, count, seed);
    cl_mem made = upload(values, count * sizeof *values);
    free(values);
    return made;
}

static double sum_of(cl_mem from, size_t count)
{
    float *values = malloc(count * sizeof *values);
    download(values, from, count * sizeof *values);
    double sum = kernels_sum(values, count);
    free(values);
    return sum;
}

static void vectors(void)
{
    cl_int n = VECTOR_LENGTH;
    cl_float k = 0.5f;
    cl_mem a = floats((size_t)n, 1), b = floats((size_t)n, 2), c = floats((size_t)n, 3);
    shape((size_t)n / 256, 1, 256, 1);
    double took = MEASURE("vector_add", 10, ARGUMENT(a), ARGUMENT(b), ARGUMENT(c), ARGUMENT(n));
    kernels_print("vector_add", took, sum_of(c, (size_t)n));
    shape(1024, 1, 256, 1);
    took = MEASURE("saxpy", 9, ARGUMENT(k), ARGUMENT(a), ARGUMENT(b), ARGUMENT(n));
    kernels_print("saxpy", took, sum_of(b, (size_t)n));
    took = MEASURE("reduce", 10, ARGUMENT(a), ARGUMENT(c), ARGUMENT(n));
    kernels_print("reduce", took, sum_of(c, 1024));
    shape((size_t)n / 256, 1, 256, 1);
    took = MEASURE("scan", 5, ARGUMENT(a), ARGUMENT(c), ARGUMENT(n));
    kernels_print("scan", took, sum_of(c, (size_t)n));
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseMemObject(c);
}

static void planes(void)
{
    cl_int side = STENCIL_SIDE;
    size_t count = (size_t)side * (size_t)side;
    cl_mem in = floats(count, 4), out = floats(count, 4);
    shape((size_t)side / 32, (size_t)side / 8, 32, 8);
    double took = MEASURE("stencil", 10, ARGUMENT(in), ARGUMENT(out), ARGUMENT(side));
    kernels_print("stencil", took, sum_of(out, count));
    shape((size_t)side / 16, (size_t)side / 16, 16, 16);
    took = MEASURE("transpose", 10, ARGUMENT(in), ARGUMENT(out), ARGUMENT(side));
    kernels_print("transpose", took, sum_of(out, count / 2));
    clReleaseMemObject(in);
    clReleaseMemObject(out);
}

static void matrix(void)
{
    cl_int n = MATRIX_SIDE;
    size_t count = (size_t)n * (size_t)n;
    cl_mem a = floats(count, 5), b = floats(count, 6), c = floats(count, 7);
    shape((size_t)n / 16, (size_t)n / 16, 16, 16);
    double took = MEASURE("matrix", 2, ARGUMENT(a), ARGUMENT(b), ARGUMENT(c), ARGUMENT(n));
    kernels_print("matrix", took, sum_of(c, count));
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseMemObject(c);
}

static void bodies(void)
{
    cl_int n = BODIES;
    cl_mem at = floats(4 * (size_t)n, 8), pull = floats(4 * (size_t)n, 0);
    shape((size_t)n / 128, 1, 128, 1);
    double took = MEASURE("bodies", 2, ARGUMENT(at), ARGUMENT(pull), ARGUMENT(n));
    kernels_print("bodies", took, sum_of(pull, 4 * (size_t)n));
    clReleaseMemObject(at);
    clReleaseMemObject(pull);
}

static void fractal(void)
{
    cl_int side = FRACTAL_SIDE, rounds = FRACTAL_ROUNDS;
    size_t count = (size_t)side * (size_t)side;
    cl_mem out = floats(count, 0);
    shape((size_t)side / 16, (size_t)side / 16, 16, 16);
    double took = MEASURE("fractal", 3, ARGUMENT(out), ARGUMENT(side), ARGUMENT(rounds));
    kernels_print("fractal", took, sum_of(out, count));
    clReleaseMemObject(out);
}

static void options(void)
{
    cl_int n = OPTIONS;
    cl_mem price = floats((size_t)n, 9), strike = floats((size_t)n, 10), years = floats((size_t)n, 11),
           call = floats((size_t)n, 0), put = floats((size_t)n, 0);
    shape((size_t)n / 128, 1, 128, 1);
    double took = MEASURE("options", 3, ARGUMENT(price), ARGUMENT(strike), ARGUMENT(years), ARGUMENT(call),
                          ARGUMENT(put), ARGUMENT(n));
    kernels_print("options", took, sum_of(call, (size_t)n) + sum_of(put, (size_t)n));
    clReleaseMemObject(price);
    clReleaseMemObject(strike);
    clReleaseMemObject(years);
    clReleaseMemObject(call);
    clReleaseMemObject(put);
}

static void histogram(void)
{
    cl_int n = VECTOR_LENGTH, repeats = 10;
    uint8_t *bytes = malloc((size_t)n);
    cl_uint bins[BINS] = {0};
    kernels_fill_bytes(bytes, (size_t)n, 12);
    cl_mem in = upload(bytes, (size_t)n), out = upload(bins, sizeof bins);
    shape(64, 1, BINS, 1);
    double took = MEASURE("histogram", repeats, ARGUMENT(in), ARGUMENT(out), ARGUMENT(n)), sum = 0;
    download(bins, out, sizeof bins);
    for (int k = 0; k < BINS; k++)
        sum += (double)bins[k] / (repeats + 1) * (k + 1);
    kernels_print("histogram", took, sum);
    free(bytes);
    clReleaseMemObject(in);
    clReleaseMemObject(out);
}

int main(void)
{
    device = opencl_processor();
    context = opencl_context(device);
    queue = opencl_queue(context, device);
    program = opencl_build(context, device, bench_opencl_kernels, "-D BINS=" TEXT(BINS));
    vectors();
    planes();
    matrix();
    bodies();
    fractal();
    options();
    histogram();
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
