/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: loading PTX from memory and from files, JIT options and logs,
 * functions, globals, function attributes, unloading, and hostile input.
 */
#include "gold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"
#define EMPTY HEAD ".visible .entry empty()\n{\n    ret;\n}\n"

static void load(const char *ptx)
{
    CUmodule module = NULL;
    CUresult status = cuModuleLoadData(&module, ptx);
    say(status);
    if (status == CUDA_SUCCESS)
        NEED(cuModuleUnload(module));
}

/* ---- load ---- */

CASE(module, load_and_unload)
{
    load(EMPTY);
}

CASE(module, load_without_entry)
{
    load(HEAD);
    load(HEAD ".visible .global .u32 only;\n");
}

CASE(module, load_null)
{
    CUmodule module;
    say(cuModuleLoadData(NULL, EMPTY));
    say(cuModuleLoadData(&module, NULL));
}

CASE(module, load_without_context, .alone = true)
{
    CUmodule module;
    NEED(cuCtxSetCurrent(NULL));
    say(cuModuleLoadData(&module, EMPTY));
}

CASE(module, load_failure_leaves_result, .allow = "CUDA_ERROR_INVALID_PTX untouched=*|CUDA_ERROR_INVALID_IMAGE untouched=*",
     .why = "an output after a failure is nobody's promise")
{
    CUmodule module = (CUmodule)(uintptr_t)0x77;
    say(cuModuleLoadData(&module, HEAD "nonsense\n"));
    say_if("untouched", module == (CUmodule)(uintptr_t)0x77);
}

CASE(module, load_twice_is_two)
{
    CUmodule one = gold_load(gold_ptx), two = gold_load(gold_ptx);
    CUdeviceptr a, b;
    size_t size;
    say_if("differ", one != two);
    NEED(cuModuleGetGlobal(&a, &size, one, "counter"));
    NEED(cuModuleGetGlobal(&b, &size, two, "counter"));
    say_if("globals_differ", a != b);
    CUfunction function;
    NEED(cuModuleGetFunction(&function, one, "increase"));
    NEED(gold_launch(function, 1, NULL, NULL));
    say_int(gold_word(a));
    say_int(gold_word(b));
}

CASE(module, newline_styles)
{
    load(".version 7.0\r\n.target sm_75\r\n.address_size 64\r\n.visible .entry empty()\r\n{\r\n    ret;\r\n}\r\n");
    load(".version 7.0 .target sm_75 .address_size 64 .visible .entry empty() { ret; }");
    load("\n\n   // a comment first\n/* and\n another */" EMPTY);
}

/* ---- what is not PTX ---- */

/* The loader reads as far as it likes, so input stands before plenty of zeroes. */
static void load_bytes(const void *bytes, size_t size)
{
    char *room = calloc(1, 65536 + size);
    if (!room)
        gold_stop("calloc");
    memcpy(room, bytes, size);
    CUmodule module = NULL;
    say(cuModuleLoadData(&module, room));
    free(room);
}

#define NOT_AN_IMAGE                                                                               \
    .alone = true, .allow = "CUDA_ERROR_INVALID_IMAGE|CUDA_ERROR_INVALID_PTX|CUDA_ERROR_NO_BINARY_FOR_GPU", \
    .why = "which of the three documented refusals is given depends on how far the loader reads"

CASE(module, empty_text, NOT_AN_IMAGE)
{
    load_bytes("", 1);
}

CASE(module, plain_text, NOT_AN_IMAGE)
{
    load_bytes("hello", 6);
}

CASE(module, binary_noise, NOT_AN_IMAGE)
{
    load_bytes("\x01\x02\x03\x04\xff\xfe\xfd\xfc", 8);
}

CASE(module, elf_magic_only, NOT_AN_IMAGE)
{
    load_bytes("\177ELF", 4);
}

CASE(module, elf_header_hostile, NOT_AN_IMAGE)
{
    unsigned char header[64];
    memset(header, 0xff, sizeof header);
    memcpy(header, "\177ELF\2\1\1", 7);
    load_bytes(header, sizeof header);
}

CASE(module, fatbin_magic_only, NOT_AN_IMAGE)
{
    load_bytes("\x50\xed\x55\xba", 4);
}

CASE(module, fatbin_empty, NOT_AN_IMAGE)
{
    static const unsigned char header[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
    load_bytes(header, sizeof header);
}

CASE(module, fatbin_hostile_size, NOT_AN_IMAGE)
{
    static const unsigned char header[80] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 64, 0, 0, 0, 0, 0, 0, 0,
                                             1,    0,    1,    1,    64, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f};
    load_bytes(header, sizeof header);
}

CASE(module, fatbin_wrapper_null, NOT_AN_IMAGE)
{
    static const struct {
        int magic, version;
        const void *data;
        void *unused;
    } wrapper = {0x466243b1, 1, NULL, NULL};
    load_bytes(&wrapper, sizeof wrapper);
}

/* A container with one plain PTX image, as the public tools write it. */
static size_t make_fatbin(unsigned char *room, const char *ptx, unsigned capability)
{
    size_t size = strlen(ptx) + 1, padded = (size + 7) & ~(size_t)7;
    memset(room, 0, 80 + padded);
    *(uint32_t *)(void *)room = 0xba55ed50;
    *(uint16_t *)(void *)(room + 4) = 1;
    *(uint16_t *)(void *)(room + 6) = 16;
    *(uint64_t *)(void *)(room + 8) = 64 + padded;
    unsigned char *entry = room + 16;
    *(uint16_t *)(void *)entry = 1;              /* PTX */
    *(uint16_t *)(void *)(entry + 2) = 0x101;    /* version */
    *(uint32_t *)(void *)(entry + 4) = 64;       /* this header */
    *(uint64_t *)(void *)(entry + 8) = padded;   /* the image, padded */
    *(uint16_t *)(void *)(entry + 24) = 0;       /* minor */
    *(uint16_t *)(void *)(entry + 26) = 7;       /* major */
    *(uint32_t *)(void *)(entry + 28) = capability;
    *(uint64_t *)(void *)(entry + 40) = 0x11;    /* 64 bits, Linux */
    memcpy(entry + 64, ptx, size);
    return 80 + padded;
}

CASE(module, fatbin_with_ptx)
{
    static unsigned char room[4096];
    make_fatbin(room, EMPTY, 75);
    CUmodule module;
    CUfunction function;
    say(cuModuleLoadFatBinary(&module, room));
    say(cuModuleGetFunction(&function, module, "empty"));
    say(gold_launch(function, 1, NULL, NULL));
    say(cuCtxSynchronize());
    say(cuModuleUnload(module));
    say(cuModuleLoadData(&module, room));
}

CASE(module, fatbin_wrapped)
{
    static unsigned char room[4096];
    make_fatbin(room, EMPTY, 75);
    struct {
        int magic, version;
        const void *data;
        void *unused;
    } wrapper = {0x466243b1, 1, room, NULL};
    CUmodule module;
    CUfunction function;
    say(cuModuleLoadFatBinary(&module, &wrapper));
    say(cuModuleGetFunction(&function, module, "empty"));
}

CASE(module, fatbin_newer_than_device)
{
    static unsigned char room[4096];
    make_fatbin(room, EMPTY, 999);
    CUmodule module;
    say(cuModuleLoadFatBinary(&module, room));
}

CASE(module, fatbin_null)
{
    CUmodule module;
    say(cuModuleLoadFatBinary(&module, NULL));
    say(cuModuleLoadFatBinary(NULL, EMPTY));
}

/* ---- PTX that is wrong ---- */

CASE(module, ptx_no_version)
{
    load(".target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n");
}

CASE(module, ptx_no_target)
{
    load(".version 7.0\n.address_size 64\n.visible .entry empty() { ret; }\n");
}

CASE(module, ptx_version_from_the_future)
{
    load(".version 99.0\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n");
}

CASE(module, ptx_version_garbage)
{
    load(".version banana\n.target sm_75\n.address_size 64\n");
}

CASE(module, ptx_target_unknown)
{
    load(".version 7.0\n.target sm_9999\n.address_size 64\n.visible .entry empty() { ret; }\n");
}

CASE(module, ptx_target_newer_than_version)
{
    load(".version 6.0\n.target sm_80\n.address_size 64\n.visible .entry empty() { ret; }\n");
}

CASE(module, ptx_old_target)
{
    load(".version 6.0\n.target sm_52\n.address_size 64\n.visible .entry empty() { ret; }\n");
    load(".version 4.3\n.target sm_30\n.address_size 64\n.visible .entry empty() { ret; }\n");
}

CASE(module, ptx_truncated)
{
    load(HEAD ".visible .entry empty()\n{\n    ret;\n");
}

CASE(module, ptx_truncated_in_instruction)
{
    load(HEAD ".visible .entry empty()\n{\n    .reg .b32 %r<4>;\n    add.u32 %r1, %r2");
}

CASE(module, ptx_unknown_instruction)
{
    load(HEAD ".visible .entry empty()\n{\n    frobnicate.u32 %r1;\n    ret;\n}\n");
}

CASE(module, ptx_unknown_register)
{
    load(HEAD ".visible .entry empty()\n{\n    add.u32 %r1, %r2, %r3;\n    ret;\n}\n");
}

CASE(module, ptx_type_mismatch)
{
    load(HEAD ".visible .entry empty()\n{\n    .reg .f32 %f<2>;\n    .reg .b64 %d<2>;\n    add.f32 %f0, %f1, %d0;\n"
              "    ret;\n}\n");
}

CASE(module, ptx_missing_operand)
{
    load(HEAD ".visible .entry empty()\n{\n    .reg .b32 %r<3>;\n    add.u32 %r0, %r1;\n    ret;\n}\n");
}

CASE(module, ptx_unknown_label)
{
    load(HEAD ".visible .entry empty()\n{\n    bra nowhere;\n}\n");
}

CASE(module, ptx_unknown_modifier)
{
    load(HEAD ".visible .entry empty()\n{\n    .reg .b32 %r<3>;\n    add.banana.u32 %r0, %r1, %r2;\n    ret;\n}\n");
}

CASE(module, ptx_duplicate_label)
{
    load(HEAD ".visible .entry empty()\n{\nhere:\nhere:\n    ret;\n}\n");
}

CASE(module, ptx_duplicate_function)
{
    load(EMPTY ".visible .entry empty()\n{\n    ret;\n}\n");
}

CASE(module, ptx_undefined_extern)
{
    load(HEAD ".extern .func missing();\n.visible .entry empty()\n{\n    call missing;\n    ret;\n}\n");
}

CASE(module, ptx_needs_newer_version)
{
    load(".version 5.0\n.target sm_52\n.address_size 64\n.visible .entry empty()\n{\n    nanosleep.u32 10;\n    ret;\n}\n");
}

CASE(module, ptx_32_bit)
{
    load(".version 7.0\n.target sm_75\n.address_size 32\n.visible .entry empty() { ret; }\n");
}

CASE(module, ptx_huge_shared)
{
    load(HEAD ".visible .entry empty()\n{\n    .shared .b8 much[1000000];\n    ret;\n}\n");
}

CASE(module, ptx_immediate_out_of_range)
{
    load(HEAD ".visible .entry empty()\n{\n    .reg .b32 %r<3>;\n    mov.u32 %r0, 99999999999999999999999;\n    ret;\n}\n");
}

CASE(module, ptx_deep_braces, .alone = true)
{
    enum { DEPTH = 200 };
    char *text = malloc(2 * DEPTH + 256);
    if (!text)
        gold_stop("malloc");
    strcpy(text, HEAD ".visible .entry empty()\n{\n");
    for (int i = 0; i < DEPTH; i++)
        strcat(text, "{");
    for (int i = 0; i < DEPTH; i++)
        strcat(text, "}");
    strcat(text, "    ret;\n}\n");
    load(text);
    free(text);
}

/* ---- JIT options ---- */

CASE(module, options_none)
{
    CUmodule module;
    say(cuModuleLoadDataEx(&module, EMPTY, 0, NULL, NULL));
}

CASE(module, options_info_log)
{
    char log[512];
    memset(log, 'x', sizeof log);
    CUjit_option names[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUmodule module;
    say(cuModuleLoadDataEx(&module, EMPTY, 2, names, values));
    say_if("ended", memchr(log, '\0', sizeof log) != NULL);
    say_if("size_is_length", (uintptr_t)values[1] == strlen(log) || (uintptr_t)values[1] == strlen(log) + 1);
}

CASE(module, options_error_log)
{
    char log[4096];
    memset(log, 'x', sizeof log);
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUmodule module;
    say(cuModuleLoadDataEx(&module, HEAD ".visible .entry empty()\n{\n    frobnicate.u32 %r1;\n}\n", 2, names, values));
    say_if("ended", memchr(log, '\0', sizeof log) != NULL);
    say_if("names_the_line", strstr(log, "6") != NULL);
    say_if("size_fits", (uintptr_t)values[1] > 0 && (uintptr_t)values[1] <= sizeof log);
    say_if("size_is_length", (uintptr_t)values[1] == strlen(log) || (uintptr_t)values[1] == strlen(log) + 1);
}

CASE(module, options_error_log_tiny)
{
    char log[16];
    memset(log, 'x', sizeof log);
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)8};
    CUmodule module;
    say(cuModuleLoadDataEx(&module, HEAD "nonsense\n", 2, names, values));
    say_if("ended_within", memchr(log, '\0', 8) != NULL);
    say_if("kept_to_size", log[8] == 'x' && log[15] == 'x');
}

CASE(module, options_common)
{
    CUjit_option names[] = {CU_JIT_MAX_REGISTERS, CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_TARGET_FROM_CUCONTEXT,
                            CU_JIT_GENERATE_LINE_INFO, CU_JIT_LOG_VERBOSE};
    void *values[] = {(void *)(uintptr_t)32, (void *)(uintptr_t)2, NULL, (void *)(uintptr_t)1, (void *)(uintptr_t)1};
    CUmodule module;
    for (unsigned i = 0; i < 5; i++)
        say(cuModuleLoadDataEx(&module, EMPTY, 1, &names[i], &values[i]));
    say(cuModuleLoadDataEx(&module, EMPTY, 5, names, values));
}

CASE(module, options_wall_time)
{
    CUjit_option names[] = {CU_JIT_WALL_TIME};
    void *values[] = {NULL};
    CUmodule module;
    say(cuModuleLoadDataEx(&module, EMPTY, 1, names, values));
}

CASE(module, options_bad)
{
    CUjit_option unknown[] = {(CUjit_option)999}, level[] = {CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {NULL}, *nine[] = {(void *)(uintptr_t)9};
    CUmodule module;
    say(cuModuleLoadDataEx(&module, EMPTY, 1, unknown, values));
    say(cuModuleLoadDataEx(&module, EMPTY, 1, level, nine));
    say(cuModuleLoadDataEx(&module, EMPTY, 1, NULL, values));
    say(cuModuleLoadDataEx(&module, EMPTY, 1, level, NULL));
}

/* ---- files ---- */

CASE(module, load_file)
{
    char path[] = "/tmp/goldenXXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, EMPTY, sizeof EMPTY - 1) != (ssize_t)sizeof EMPTY - 1)
        gold_stop("mkstemp");
    close(fd);
    CUmodule module;
    CUfunction function;
    CUresult status = cuModuleLoad(&module, path);
    unlink(path);
    say(status);
    say(cuModuleGetFunction(&function, module, "empty"));
}

CASE(module, load_file_bad)
{
    CUmodule module;
    say(cuModuleLoad(&module, "/nowhere/nothing.ptx"));
    say(cuModuleLoad(&module, ""));
    say(cuModuleLoad(&module, NULL));
    say(cuModuleLoad(NULL, "/nowhere/nothing.ptx"));
    say(cuModuleLoad(&module, "/tmp"));
}

/* ---- functions and globals ---- */

CASE(module, get_function)
{
    CUfunction one = NULL, two = NULL;
    say(cuModuleGetFunction(&one, gold_module(), "empty"));
    say(cuModuleGetFunction(&two, gold_module(), "empty"));
    say_if("same", one == two);
}

CASE(module, get_function_bad)
{
    CUfunction function;
    say(cuModuleGetFunction(&function, gold_module(), "missing"));
    say(cuModuleGetFunction(&function, gold_module(), "counter"));
    say(cuModuleGetFunction(&function, gold_module(), ""));
    say(cuModuleGetFunction(&function, gold_module(), NULL));
    say(cuModuleGetFunction(NULL, gold_module(), "empty"));
    say(cuModuleGetFunction(&function, NULL, "empty"));
}

CASE(module, get_global)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    CUmodule module = gold_load(gold_ptx);
    say(cuModuleGetGlobal(&address, &size, module, "counter"));
    say_int((long long)size);
    say_int(gold_word(address));
    say(cuModuleGetGlobal(&address, &size, module, "table"));
    say_int((long long)size);
    say_int(gold_word(address + 60));
    say(cuModuleGetGlobal(&address, &size, module, "constants"));
    say_int((long long)size);
    say_int(gold_word(address + 8));
}

CASE(module, get_global_partial_results)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    say(cuModuleGetGlobal(NULL, &size, gold_module(), "table"));
    say_int((long long)size);
    say(cuModuleGetGlobal(&address, NULL, gold_module(), "table"));
    say_if("found", address != 0);
    say(cuModuleGetGlobal(NULL, NULL, gold_module(), "table"));
}

CASE(module, get_global_bad)
{
    CUdeviceptr address;
    size_t size;
    say(cuModuleGetGlobal(&address, &size, gold_module(), "missing"));
    say(cuModuleGetGlobal(&address, &size, gold_module(), "empty"));
    say(cuModuleGetGlobal(&address, &size, gold_module(), NULL));
    say(cuModuleGetGlobal(&address, &size, NULL, "counter"));
}

CASE(module, get_global_hidden)
{
    CUdeviceptr address;
    size_t size;
    say(cuModuleGetGlobal(&address, &size, gold_module(), "hidden"));
}

CASE(module, global_is_written)
{
    CUdeviceptr address;
    size_t size;
    CUmodule module = gold_load(gold_ptx);
    CUfunction function;
    NEED(cuModuleGetGlobal(&address, &size, module, "counter"));
    NEED(cuModuleGetFunction(&function, module, "increase"));
    unsigned start = 100;
    say(cuMemcpyHtoD(address, &start, 4));
    say(gold_launch(function, 64, NULL, NULL));
    say_int(gold_word(address));
}

CASE(module, function_list)
{
    CUmodule module = gold_load(HEAD ".visible .entry a() { ret; }\n.visible .entry b() { ret; }\n");
    unsigned count = 99;
    CUfunction functions[4] = {NULL};
    say(cuModuleGetFunctionCount(&count, module));
    say_int(count);
    say(cuModuleEnumerateFunctions(functions, 2, module));
    say_if("both", functions[0] && functions[1] && functions[0] != functions[1]);
    say(cuModuleGetFunctionCount(NULL, module));
    say(cuModuleEnumerateFunctions(NULL, 2, module));
    say(cuModuleEnumerateFunctions(functions, 0, module));
}

CASE(module, function_name_and_module)
{
    const char *name = NULL;
    CUmodule module = NULL;
    CUfunction function = gold_function("store");
    say(cuFuncGetName(&name, function));
    say_text(name);
    say(cuFuncGetModule(&module, function));
    say_if("same", module == gold_module());
    say(cuFuncGetName(NULL, function));
    say(cuFuncGetModule(NULL, function));
}

CASE(module, function_parameters)
{
    CUfunction function = gold_function("params");
    for (size_t i = 0; i < 6; i++) {
        size_t offset = 99, size = 99;
        CUresult status = cuFuncGetParamInfo(function, i, &offset, &size);
        say(status);
        if (status != CUDA_SUCCESS)
            break;
        say_int((long long)offset);
        say_int((long long)size);
    }
}

CASE(module, function_parameters_partial)
{
    CUfunction function = gold_function("params");
    size_t offset = 0;
    say(cuFuncGetParamInfo(function, 1, &offset, NULL));
    say_int((long long)offset);
    say(cuFuncGetParamInfo(function, 1, NULL, &offset));
    say(cuFuncGetParamInfo(gold_function("empty"), 0, &offset, &offset));
}

CASE(module, function_loaded)
{
    CUfunctionLoadingState state = (CUfunctionLoadingState)9;
    CUfunction function = gold_function("store");
    say(cuFuncLoad(function));
    say(cuFuncIsLoaded(&state, function));
    say_int(state);
    say(cuFuncIsLoaded(NULL, function));
}

CASE(module, loading_mode)
{
    CUmoduleLoadingMode mode = (CUmoduleLoadingMode)9;
    say(cuModuleGetLoadingMode(&mode));
    say_int(mode);
    say(cuModuleGetLoadingMode(NULL));
}

/* ---- function attributes ---- */

static void attribute(CUfunction function, CUfunction_attribute which)
{
    int value = -99;
    say(cuFuncGetAttribute(&value, which, function));
    say_int(value);
}

CASE(module, attribute_threads)
{
    attribute(gold_function("empty"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    attribute(gold_function("bounded"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    attribute(gold_function("exactly32"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

CASE(module, attribute_shared)
{
    attribute(gold_function("bounded"), CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    attribute(gold_function("empty"), CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    attribute(gold_function("rotate"), CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
}

CASE(module, attribute_constant_and_local)
{
    attribute(gold_function("empty"), CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
    attribute(gold_function("empty"), CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
}

CASE(module, attribute_versions)
{
    int value = 0;
    CUfunction function = gold_function("empty");
    say(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, function));
    say_int(value);
    say(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, function));
    int major = 0, minor = 0;
    NEED(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, gold_device()));
    NEED(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, gold_device()));
    say_if("of_device", value == 10 * major + minor);
    say(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    say_if("registers", value >= 0 && value <= 255);
}

CASE(module, attribute_dynamic_shared)
{
    CUfunction function = gold_function("store");
    attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 50000));
    attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30));
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1));
    attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
}

CASE(module, attribute_carveout)
{
    CUfunction function = gold_function("add");
    attribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    attribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101));
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -2));
}

CASE(module, attribute_read_only)
{
    CUfunction function = gold_function("add");
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 10));
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 10));
    say(cuFuncSetAttribute(function, (CUfunction_attribute)99, 10));
}

CASE(module, attribute_bad)
{
    int value;
    say(cuFuncGetAttribute(&value, (CUfunction_attribute)99, gold_function("add")));
    say(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, gold_function("add")));
    say(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL));
}

CASE(module, cache_config)
{
    CUfunction function = gold_function("add");
    say(cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_L1));
    say(cuFuncSetCacheConfig(function, (CUfunc_cache)99));
    say(cuFuncSetCacheConfig(NULL, CU_FUNC_CACHE_PREFER_L1));
}

/* ---- unload ---- */

CASE(module, unload_null)
{
    say(cuModuleUnload(NULL));
}

CASE(module, unload_while_running)
{
    CUmodule module = gold_load(gold_ptx);
    CUfunction function;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 4;
    void *params[] = {&word, &value};
    NEED(cuModuleGetFunction(&function, module, "store"));
    NEED(gold_launch(function, 1, stream, params));
    say(cuModuleUnload(module));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

#define STALE_MODULE                                                                               \
    .alone = true, .allow = "CUDA_ERROR_INVALID_HANDLE|CUDA_ERROR_INVALID_CONTEXT|CUDA_ERROR_CONTEXT_IS_DESTROYED", \
    .why = "undefined on hardware: it may crash or take the handle for a live one"

CASE(module, unload_twice, STALE_MODULE)
{
    CUmodule module = gold_load(EMPTY);
    NEED(cuModuleUnload(module));
    say(cuModuleUnload(module));
}

CASE(module, get_function_of_unloaded, STALE_MODULE)
{
    CUmodule module = gold_load(EMPTY);
    CUfunction function;
    NEED(cuModuleUnload(module));
    say(cuModuleGetFunction(&function, module, "empty"));
}

CASE(module, get_function_of_foreign, STALE_MODULE)
{
    CUfunction function;
    say(cuModuleGetFunction(&function, gold_foreign(), "empty"));
}

CASE(module, unload_foreign, STALE_MODULE)
{
    say(cuModuleUnload(gold_foreign()));
}

CASE(module, unload_after_context_destroyed, STALE_MODULE)
{
    CUcontext other = gold_context_new();
    CUmodule module = gold_load(EMPTY);
    NEED(cuCtxDestroy(other));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuModuleUnload(module));
}

CASE(module, unload_from_other_context, .alone = true)
{
    CUmodule module = gold_load(EMPTY);
    CUfunction function;
    gold_context_new();
    say(cuModuleGetFunction(&function, module, "empty"));
    say(cuModuleUnload(module));
}
