/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and descriptions of statuses and
 * numbers that are no status.
 */
#include "gold.h"

#include <stdio.h>
#include <string.h>

CASE(error, every_name_is_right)
{
    int known = 0, wrong = 0;
    for (int code = 0; code < 1100; code++) {
        const char *mine = gold_status_name((CUresult)code), *theirs = NULL;
        if (!mine)
            continue;
        known++;
        if (cuGetErrorName((CUresult)code, &theirs) != CUDA_SUCCESS || !theirs || strcmp(mine, theirs) != 0) {
            wrong++;
            say_int(code);
        }
    }
    say_value("known", known);
    say_value("wrong", wrong);
}

CASE(error, every_unknown_number_is_refused)
{
    int accepted = 0, set = 0;
    for (int code = 0; code < 1100; code++) {
        const char *text = "before";
        if (gold_status_name((CUresult)code))
            continue;
        accepted += cuGetErrorName((CUresult)code, &text) == CUDA_SUCCESS;
        set += text != NULL;
    }
    say_value("accepted", accepted);
    say_value("text_left", set);
}

CASE(error, every_status_has_a_description)
{
    int described = 0;
    for (int code = 0; code < 1100; code++) {
        const char *text = NULL;
        if (gold_status_name((CUresult)code) && cuGetErrorString((CUresult)code, &text) == CUDA_SUCCESS)
            described += text && text[0];
    }
    say_int(described);
}

CASE(error, name_unknown)
{
    const char *text = "before";
    say(cuGetErrorName((CUresult)12345, &text));
    say_text(text);
    text = "before";
    say(cuGetErrorString((CUresult)-1, &text));
    say_text(text);
}

CASE(error, name_null, .allow = "CUDA_ERROR_INVALID_VALUE", .why = "hardware's driver crashes")
{
    say(cuGetErrorName(CUDA_SUCCESS, NULL));
}

CASE(error, string_null, .allow = "CUDA_ERROR_INVALID_VALUE", .why = "hardware's driver crashes")
{
    say(cuGetErrorString(CUDA_SUCCESS, NULL));
}

CASE(error, text_is_stable)
{
    const char *one = NULL, *two = NULL;
    NEED(cuGetErrorName(CUDA_ERROR_NOT_READY, &one));
    NEED(cuGetErrorName(CUDA_ERROR_NOT_READY, &two));
    say_if("same", one == two);
    say_text(one);
}

#define DESCRIPTION(status) \
    const char *text = NULL; \
    say(cuGetErrorString(status, &text)); \
    say_text(text)

CASE(error, string_no_error)
{
    DESCRIPTION(CUDA_SUCCESS);
}

CASE(error, string_invalid_value)
{
    DESCRIPTION(CUDA_ERROR_INVALID_VALUE);
}

CASE(error, string_out_of_memory)
{
    DESCRIPTION(CUDA_ERROR_OUT_OF_MEMORY);
}

CASE(error, string_not_initialized)
{
    DESCRIPTION(CUDA_ERROR_NOT_INITIALIZED);
}

CASE(error, string_no_device)
{
    DESCRIPTION(CUDA_ERROR_NO_DEVICE);
}

CASE(error, string_invalid_context)
{
    DESCRIPTION(CUDA_ERROR_INVALID_CONTEXT);
}

CASE(error, string_invalid_ptx)
{
    DESCRIPTION(CUDA_ERROR_INVALID_PTX);
}

CASE(error, string_no_binary)
{
    DESCRIPTION(CUDA_ERROR_NO_BINARY_FOR_GPU);
}

CASE(error, string_invalid_handle)
{
    DESCRIPTION(CUDA_ERROR_INVALID_HANDLE);
}

CASE(error, string_not_found)
{
    DESCRIPTION(CUDA_ERROR_NOT_FOUND);
}

CASE(error, string_not_ready)
{
    DESCRIPTION(CUDA_ERROR_NOT_READY);
}

CASE(error, string_illegal_address)
{
    DESCRIPTION(CUDA_ERROR_ILLEGAL_ADDRESS);
}

CASE(error, string_launch_failed)
{
    DESCRIPTION(CUDA_ERROR_LAUNCH_FAILED);
}

CASE(error, string_context_is_destroyed)
{
    DESCRIPTION(CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CASE(error, string_not_supported)
{
    DESCRIPTION(CUDA_ERROR_NOT_SUPPORTED);
}

CASE(error, string_unknown)
{
    DESCRIPTION(CUDA_ERROR_UNKNOWN);
}
