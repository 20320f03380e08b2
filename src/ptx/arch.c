/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx/arch.h"

#include <stdlib.h>
#include <string.h>

static const int known[] = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};
static const int newer[] = {100, 101, 103, 110, 120, 121};
#define COUNT(list) (sizeof(list) / sizeof *(list))

const int *mr_ptx_arch_all(size_t *count)
{
    *count = COUNT(known);
    return known;
}

static bool has(const int *list, size_t count, long number)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == number)
            return true;
    return false;
}

enum mr_ptx_arch mr_ptx_arch_read(const char *text, unsigned *capability, bool *real)
{
    bool is_real = strncmp(text, "sm_", 3) == 0;
    const char *digits = text + (is_real ? 3 : 8);
    if ((!is_real && strncmp(text, "compute_", 8) != 0) || *digits < '1' || *digits > '9')
        return MR_PTX_ARCH_MALFORMED;
    char *end;
    long number = strtol(digits, &end, 10);
    if (*end && strcmp(end, "a") != 0 && strcmp(end, "f") != 0)
        return MR_PTX_ARCH_MALFORMED;
    if (has(newer, COUNT(newer), number))
        return MR_PTX_ARCH_TOO_NEW;
    if (number < known[0])
        return MR_PTX_ARCH_TOO_OLD;
    if (!has(known, COUNT(known), number))
        return MR_PTX_ARCH_NONE;
    if (*end)
        return MR_PTX_ARCH_SUFFIX;
    *capability = (unsigned)number;
    *real = is_real;
    return MR_PTX_ARCH_GOOD;
}

bool mr_ptx_assembler_option_is_idle(const char *option)
{
    static const char *const begins[] = {
        "-v", "--verbose", "-O", "--opt-level", "-w", "--disable-warnings", "--warn-", "-warn-", "-dlcm", "-dscm",
        "--def-load-cache", "--def-store-cache", "-maxrregcount", "--maxrregcount", "--fmad", "-fmad", "-lineinfo",
        "--generate-line-info", "-g", "--allow-expensive-optimizations", "-allow-expensive-optimizations"};
    for (size_t i = 0; i < COUNT(begins); i++)
        if (strncmp(option, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

bool mr_ptx_assembler_option_is_verbose(const char *option)
{
    return strcmp(option, "-v") == 0 || strcmp(option, "--verbose") == 0 || strcmp(option, "-verbose") == 0;
}
