/* SPDX-License-Identifier: Apache-2.0 */
/* What the reference programs for OpenCL share. */
#ifndef BENCH_OPENCL_H
#define BENCH_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static inline void opencl_require(cl_int status, const char *what)
{
    if (status != CL_SUCCESS) {
        fprintf(stderr, "OpenCL: %s gave %d\n", what, (int)status);
        exit(1);
    }
}

/* The first processor among the devices; without one, the program ends with 77: there is nothing to measure with. */
static inline cl_device_id opencl_processor(void)
{
    cl_platform_id platforms[8];
    cl_device_id device;
    cl_uint count = 0;
    clGetPlatformIDs(8, platforms, &count);
    for (cl_uint i = 0; i < count && i < 8; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL) == CL_SUCCESS)
            return device;
    exit(77);
}

static inline cl_context opencl_context(cl_device_id device)
{
    cl_int status;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    opencl_require(status, "clCreateContext");
    return context;
}

/* A program for that device; what its compiler said is printed if it fails. */
static inline cl_program opencl_build(cl_context context, cl_device_id device, const char *source, const char *options)
{
    cl_int status;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    opencl_require(status, "clCreateProgramWithSource");
    status = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (status == CL_BUILD_PROGRAM_FAILURE) {
        char text[4096] = "";
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof text, text, NULL);
        fprintf(stderr, "%s\n", text);
    }
    opencl_require(status, "clBuildProgram");
    return program;
}

static inline cl_kernel opencl_kernel(cl_program program, const char *name)
{
    cl_int status;
    cl_kernel kernel = clCreateKernel(program, name, &status);
    opencl_require(status, name);
    return kernel;
}

static inline cl_command_queue opencl_queue(cl_context context, cl_device_id device)
{
    cl_int status;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    opencl_require(status, "clCreateCommandQueue");
    return queue;
}

#endif
