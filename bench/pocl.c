/* SPDX-License-Identifier: Apache-2.0 */
/* The same work on PoCL, the OpenCL implementation for CPUs: cost of the calls that have an OpenCL counterpart, and the
 * seed's demonstration with a queue per array. Prints nothing and exits with 77 where there is no OpenCL CPU device. */
#include <string.h>

#include "bench_opencl.h"
#include "bench_plain.h"

static const char source[] = "__kernel void empty() {}\n"
                             "__kernel void double_and_halve(__global float *array, int length)\n"
                             "{\n"
                             "    for (int i = get_local_id(0); i < length; i += get_local_size(0))\n"
                             "        for (int round = 0; round < 50; round++) {\n"
                             "            array[i] *= 2.0f;\n"
                             "            array[i] /= 2.0f;\n"
                             "        }\n"
                             "}\n";

static cl_context context;
static cl_device_id device;
static cl_kernel empty, work;

static void launch(cl_command_queue queue, cl_kernel kernel, size_t threads, cl_uint waits, const cl_event *wait,
                   cl_event *event)
{
    opencl_require(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &threads, &threads, waits, wait, event),
                   "clEnqueueNDRangeKernel");
}

static void calls(void)
{
    enum { ROUNDS = 2000 };
    cl_command_queue a = opencl_queue(context, device), b = opencl_queue(context, device);
    launch(a, empty, 32, 0, NULL, NULL);
    clFinish(a);
    double begin = plain_seconds();
    for (int i = 0; i < ROUNDS; i++) {
        cl_event event;
        opencl_require(clEnqueueMarkerWithWaitList(a, 0, NULL, &event), "clEnqueueMarkerWithWaitList");
        clWaitForEvents(1, &event);
        clReleaseEvent(event);
    }
    printf("record_synchronize %.1f\n", (plain_seconds() - begin) * 1e9 / ROUNDS);
    begin = plain_seconds();
    for (int i = 0; i < ROUNDS; i++) {
        launch(a, empty, 32, 0, NULL, NULL);
        clFinish(a);
    }
    printf("launch_synchronize %.1f\n", (plain_seconds() - begin) * 1e9 / ROUNDS);
    begin = plain_seconds();
    for (int i = 0; i < ROUNDS; i++) {
        cl_event event;
        launch(a, empty, 32, 0, NULL, &event);
        clFlush(a);
        launch(b, empty, 32, 1, &event, NULL);
        clFinish(b);
        clReleaseEvent(event);
    }
    printf("launch_record_wait_launch_synchronize %.1f\n", (plain_seconds() - begin) * 1e9 / ROUNDS);
    clReleaseCommandQueue(a);
    clReleaseCommandQueue(b);
}

static void demo(int arrays, int length)
{
    size_t bytes = (size_t)length * sizeof(float);
    float **in = malloc((size_t)arrays * sizeof *in), **out = malloc((size_t)arrays * sizeof *out);
    cl_mem *memory = malloc((size_t)arrays * sizeof *memory);
    cl_command_queue *queues = malloc((size_t)arrays * sizeof *queues);
    double best = 1e9;
    for (int k = 0; k < arrays; k++) {
        cl_int status;
        in[k] = malloc(bytes);
        out[k] = malloc(bytes);
        for (int i = 0; i < length; i++)
            in[k][i] = (float)(i * 7 + k) / 1024.0f;
        memset(out[k], 0, bytes);
        memory[k] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
        opencl_require(status, "clCreateBuffer");
        queues[k] = opencl_queue(context, device);
    }
    for (int repeat = 0; repeat < 2; repeat++) {
        double begin = plain_seconds();
        for (int k = 0; k < arrays; k++)
            opencl_require(clEnqueueWriteBuffer(queues[k], memory[k], CL_FALSE, 0, bytes, in[k], 0, NULL, NULL),
                           "clEnqueueWriteBuffer");
        for (int k = 0; k < arrays; k++) {
            opencl_require(clSetKernelArg(work, 0, sizeof memory[k], &memory[k]), "clSetKernelArg");
            opencl_require(clSetKernelArg(work, 1, sizeof length, &length), "clSetKernelArg");
            launch(queues[k], work, 64, 0, NULL, NULL);
        }
        for (int k = 0; k < arrays; k++)
            opencl_require(clEnqueueReadBuffer(queues[k], memory[k], CL_FALSE, 0, bytes, out[k], 0, NULL, NULL),
                           "clEnqueueReadBuffer");
        for (int k = 0; k < arrays; k++)
            clFinish(queues[k]);
        double seconds = plain_seconds() - begin;
        if (seconds < best)
            best = seconds;
    }
    for (int k = 0; k < arrays; k++)
        if (memcmp(in[k], out[k], bytes) != 0)
            exit(1);
    printf("demo_pocl_seconds %.4f\n", best);
}

int main(int argc, char **argv)
{
    device = opencl_processor();
    context = opencl_context(device);
    cl_program program = opencl_build(context, device, source, "");
    empty = opencl_kernel(program, "empty");
    work = opencl_kernel(program, "double_and_halve");
    calls();
    demo(argc > 1 ? atoi(argv[1]) : 200, argc > 2 ? atoi(argv[2]) : 1 << 20);
    return 0;
}
