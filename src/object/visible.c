/* SPDX-License-Identifier: Apache-2.0 */
#include "object/visible.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

static int digit_of(char c)
{
    const char *digits = "0123456789abcdef", *found = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return found ? (int)(found - digits) : NONE;
}

/* As C's conversions read a number: white space before it and anything behind it don't count, and its upper bits are
 * lost. */
static int find_number(const char *text, int count)
{
    char *end;
    int number = (int)strtol(text, &end, 10);
    return end != text && number >= 0 && number < count ? number : NONE;
}

/* Whether the digits of `text`, up to the first character that is neither a digit nor a hyphen, begin the identifier.
 */
static bool begins(const char *text, const uint8_t uuid[16])
{
    for (int i = 0; i < 32; text++) {
        if (*text == '-')
            continue;
        int digit = digit_of(*text);
        if (digit == NONE)
            return i > 0;
        if (digit != (uuid[i / 2] >> (i % 2 ? 0 : 4) & 15))
            return false;
        i++;
    }
    return true;
}

/* The only device whose identifier begins so. */
static int find_identifier(const char *text, int count, const uint8_t (*uuids)[16])
{
    int found = NONE;
    for (int i = 0; i < count; i++)
        if (begins(text, uuids[i])) {
            if (found != NONE)
                return NONE;
            found = i;
        }
    return found;
}

static const char *behind_comma(const char *entry)
{
    const char *comma = strchr(entry, ',');
    return comma ? comma + 1 : NULL;
}

CUresult mr_visible_devices(const char *list, int count, const uint8_t (*uuids)[16], int *chosen, int *chosen_count)
{
    static const char prefix[] = "GPU-";
    bool by_identifier = strncmp(list, prefix, sizeof prefix - 1) == 0;
    *chosen_count = 0;
    for (const char *entry = list; entry; entry = behind_comma(entry)) {
        int number = NONE;
        if (!by_identifier)
            number = find_number(entry, count);
        else if (strncmp(entry, prefix, sizeof prefix - 1) == 0)
            number = find_identifier(entry + sizeof prefix - 1, count, uuids);
        if (number == NONE)
            break;
        for (int i = 0; i < *chosen_count; i++)
            if (chosen[i] == number)
                return CUDA_ERROR_INVALID_DEVICE;
        chosen[(*chosen_count)++] = number;
    }
    return *chosen_count ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}
