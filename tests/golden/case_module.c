/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: loading PTX from memory and from files, PTX that is wrong, JIT
 * options and logs, and unloading.
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

CASE(module, load_failure_leaves_result,
     .allow = "CUDA_ERROR_INVALID_PTX untouched=*|CUDA_ERROR_INVALID_IMAGE untouched=*",
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
    load(
        ".version 5.0\n.target sm_52\n.address_size 64\n.visible .entry empty()\n{\n    nanosleep.u32 10;\n    ret;\n}\n");
}

CASE(module, ptx_version_that_never_was)
{
    load(".version 6.9\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n");
}

CASE(module, ptx_version_after_9_0)
{
    load(".version 9.1\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n");
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
    load(HEAD
         ".visible .entry empty()\n{\n    .reg .b32 %r<3>;\n    mov.u32 %r0, 99999999999999999999999;\n    ret;\n}\n");
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
}

CASE(module, load_directory,
     .allow = "CUDA_ERROR_FILE_NOT_FOUND|CUDA_ERROR_INVALID_IMAGE|CUDA_ERROR_INVALID_VALUE|CUDA_ERROR_OPERATING_SYSTEM",
     .why = "hardware says OUT_OF_MEMORY, which helps nobody")
{
    CUmodule module;
    say(cuModuleLoad(&module, "/tmp"));
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

#define STALE_MODULE \
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
