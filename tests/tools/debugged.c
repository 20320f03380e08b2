/* SPDX-License-Identifier: Apache-2.0 */
/* What test_debuggers.py looks at: a kernel that calls a function, launched once. Ends with 0 if that went well. */
#include <cuda.h>

static const char text[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".func (.param .b32 o) thrice(.param .b32 x)\n{\n.reg .b32 %r<2>;\nld.param.u32 %r1, [x];\nmul.lo.u32 %r1, %r1, 3;\nst.param.u32 [o], %r1;\nret;\n}\n"
    ".visible .entry seen(.param .u64 p)\n{\n.reg .u64 %d<3>;\n.reg .u32 %r<3>;\nld.param.u64 %d0, [p];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d1, %r0, 4;\n"
    "add.u64 %d0, %d0, %d1;\n{ .param .b32 a; .param .b32 b;\nst.param.b32 [a], %r0;\ncall (b), thrice, (a);\nld.param.b32 %r1, [b]; }\n"
    "st.global.u32 [%d0], %r1;\nret;\n}\n";

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    unsigned values[32] = {0};
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context) || cuModuleLoadData(&module, text) || cuModuleGetFunction(&function, module, "seen") ||
        cuMemAlloc(&memory, sizeof values))
        return 1;
    void *params[] = {&memory};
    if (cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL) ||
        cuMemcpyDtoH(values, memory, sizeof values))
        return 2;
    return values[31] == 93 && cuModuleUnload(module) == CUDA_SUCCESS ? 0 : 3;
}
