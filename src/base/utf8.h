/* SPDX-License-Identifier: Apache-2.0 */
/* Characters of UTF-8, for writers of texts that come from elsewhere. */
#ifndef MR_BASE_UTF8_H
#define MR_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the one character at `text`, which NUL ends; 0: no character of UTF-8 begins there. */
static inline size_t mr_utf8_length(const unsigned char *text)
{
    size_t more = text[0] < 0x80                      ? 0
                  : text[0] >= 0xc2 && text[0] < 0xe0 ? 1
                  : (text[0] & 0xf0) == 0xe0          ? 2
                  : text[0] >= 0xf0 && text[0] < 0xf5 ? 3
                                                      : 4;
    if (more == 4)
        return 0;
    for (size_t i = 1; i <= more; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return more + 1;
}

#endif
