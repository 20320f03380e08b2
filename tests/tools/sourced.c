/* SPDX-License-Identifier: Apache-2.0 */
/* What test_debuggers.py looks at where a module tells of its source: `sourced FILE` launches a kernel whose lines are
 * FILE's (.file, .loc), `sourced FILE fault` lets it store far behind its memory, and `sourced FILE ptx` takes FILE for
 * the module's text. Ends with 0 if that went as it must.
 */
#include <cuda.h>
#include <stdio.h>
#include <string.h>

static const char text[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry _ZN2ns8scale_upEPfif(.param .u64 _ZN2ns8scale_upEPfif_param_0,\n"
    ".param .u32 _ZN2ns8scale_upEPfif_param_1, .param .f32 _ZN2ns8scale_upEPfif_param_2)\n{\n"
    ".reg .u64 %%d<3>;\n.reg .u32 %%r<4>;\n.reg .f32 %%f<3>;\n"
    ".loc 1 3 0\nld.param.u64 %%d0, [_ZN2ns8scale_upEPfif_param_0];\n"
    "ld.param.u32 %%r1, [_ZN2ns8scale_upEPfif_param_1];\nld.param.f32 %%f0, "
    "[_ZN2ns8scale_upEPfif_param_2];\n"
    ".loc 1 5 13\nmov.u32 %%r0, %%tid.x;\nadd.u32 %%r0, %%r0, %%r1;\nmul.wide.u32 %%d1, %%r0, 4;\n"
    ".loc 1 6 9\nadd.u64 %%d0, %%d0, %%d1;\nld.global.f32 %%f1, [%%d0];\n"
    ".loc 1 0 9\nmul.f32 %%f1, %%f1, %%f0;\n"
    ".loc 1 7 9\nst.global.f32 [%%d0], %%f1;\n.loc 1 8 1\nret;\n}\n.file 1 \"%s\"\n";

static char module_text[1 << 22];

/* The module's text; false if there is none. */
static int make_text(const char *file, int is_ptx)
{
    if (!is_ptx)
        return snprintf(module_text, sizeof module_text, text, file) > 0;
    FILE *stream = fopen(file, "r");
    size_t length = stream ? fread(module_text, 1, sizeof module_text - 1, stream) : 0;
    if (stream)
        fclose(stream);
    return length > 0;
}

int main(int count, char **words)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    float values[64], factor = 3;
    int first = count > 2 && strcmp(words[2], "fault") == 0 ? 1 << 28 : 0;
    for (int i = 0; i < 64; i++)
        values[i] = (float)i;
    if (count < 2 || !make_text(words[1], count > 2 && !first))
        return 1;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context) || cuModuleLoadData(&module, module_text) ||
        cuModuleGetFunction(&function, module, "_ZN2ns8scale_upEPfif") || cuMemAlloc(&memory, sizeof values) ||
        cuMemcpyHtoD(memory, values, sizeof values))
        return 2;
    void *params[] = {&memory, &first, &factor};
    if (cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL))
        return 3;
    CUresult ended = cuCtxSynchronize();
    if (first)
        return ended == CUDA_ERROR_ILLEGAL_ADDRESS ? 0 : 4;
    if (ended || cuMemcpyDtoH(values, memory, sizeof values))
        return 5;
    return values[63] == 189 && cuModuleUnload(module) == CUDA_SUCCESS ? 0 : 6;
}
