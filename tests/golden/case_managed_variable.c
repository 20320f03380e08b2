/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables in managed memory: of a module and of a library, in one context
 * and in several, and on two devices.
 */
#include "gold.h"

static const char text[] = ".version 7.0\n"
                           ".target sm_75\n"
                           ".address_size 64\n"
                           ".visible .global .attribute(.managed) .align 8 .u32 word = 11;\n"
                           ".visible .global .align 8 .u32 plain = 12;\n"
                           ".visible .entry increase()\n"
                           "{\n"
                           "    .reg .b32 %r<2>;\n"
                           "    .reg .b64 %rd<2>;\n"
                           "    mov.u64 %rd1, word;\n"
                           "    atom.global.add.u32 %r1, [%rd1], 1;\n"
                           "    ret;\n"
                           "}\n";

static unsigned at(CUdeviceptr address)
{
    return *(volatile unsigned *)(uintptr_t)address;
}

static CUlibrary library_of_text(void)
{
    CUlibrary library;
    NEED(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static void run(CUlibrary library)
{
    CUkernel kernel;
    NEED(cuLibraryGetKernel(&kernel, library, "increase"));
    NEED(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    NEED(cuCtxSynchronize());
}

CASE(managed_variable, of_module, .alone = true)
{
    CUmodule module = gold_load(text);
    CUfunction function;
    CUdeviceptr address = 0;
    size_t size = 0;
    int managed = 0, mostly = 99;
    say(cuModuleGetGlobal(&address, &size, module, "word"));
    say_int((long long)size);
    say_int(at(address));
    NEED(cuModuleGetFunction(&function, module, "increase"));
    NEED(gold_launch(function, 1, NULL, NULL));
    NEED(cuCtxSynchronize());
    say_int(at(address));
    say(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    say_int(managed & 0xff);
    say(cuMemRangeGetAttribute(&mostly, sizeof mostly, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 4));
    say_int(mostly);
    say(cuMemFree(address));
}

CASE(managed_variable, of_module_in_two_contexts, .alone = true)
{
    CUmodule one = gold_load(text);
    CUdeviceptr first = 0, second = 0;
    NEED(cuModuleGetGlobal(&first, NULL, one, "word"));
    *(volatile unsigned *)(uintptr_t)first = 50;
    gold_context_new();
    CUmodule two = gold_load(text);
    say(cuModuleGetGlobal(&second, NULL, two, "word"));
    say_if("same", first == second);
    say_int(at(second));
}

CASE(managed_variable, of_library, .alone = true)
{
    CUlibrary library = library_of_text();
    CUdeviceptr address = 0, global = 0;
    size_t size = 0;
    say(cuLibraryGetManaged(&address, &size, library, "word"));
    say_int((long long)size);
    say_int(at(address));
    run(library);
    say_int(at(address));
    say(cuLibraryGetGlobal(&global, NULL, library, "word"));
    say_if("same", global == address);
    say(cuLibraryGetManaged(&address, &size, library, "plain"));
}

CASE(managed_variable, of_library_in_two_contexts, .alone = true)
{
    CUlibrary library = library_of_text();
    CUdeviceptr first = 0, second = 0, first_plain = 0, second_plain = 0;
    NEED(cuLibraryGetManaged(&first, NULL, library, "word"));
    NEED(cuLibraryGetGlobal(&first_plain, NULL, library, "plain"));
    run(library);
    gold_context_new();
    say(cuLibraryGetManaged(&second, NULL, library, "word"));
    say(cuLibraryGetGlobal(&second_plain, NULL, library, "plain"));
    say_if("managed_same", first == second);
    say_if("plain_same", first_plain == second_plain);
    say_int(at(second));
    run(library);
    say_int(at(first));
}

CASE(managed_variable, of_library_after_its_first_context, .alone = true)
{
    CUlibrary library = library_of_text();
    CUdeviceptr first = 0, second = 0;
    CUcontext other = gold_context_new();
    NEED(cuLibraryGetManaged(&first, NULL, library, "word"));
    run(library);
    NEED(cuCtxDestroy(other));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuLibraryGetManaged(&second, NULL, library, "word"));
    say_if("same", first == second);
    say_int(at(second));
    run(library);
    say_int(at(second));
}

CASE(managed_variable, of_library_without_context, .alone = true)
{
    CUlibrary library = library_of_text();
    CUdeviceptr address = 0;
    NEED(cuCtxSetCurrent(NULL));
    say(cuLibraryGetManaged(&address, NULL, library, "word"));
    say_if("set", address != 0);
    if (address)
        say_int(at(address));
}

CASE(multi, managed_variable_on_two_devices, .alone = true, .devices = 2)
{
    CUlibrary library = library_of_text();
    CUdeviceptr first = 0, second = 0;
    CUcontext other;
    NEED(cuLibraryGetManaged(&first, NULL, library, "word"));
    run(library);
    NEED(cuCtxCreate(&other, NULL, 0, 1));
    say(cuLibraryGetManaged(&second, NULL, library, "word"));
    say_if("same", first == second);
    say_int(at(second));
    run(library);
    say_int(at(first));
}
