/* SPDX-License-Identifier: Apache-2.0 */
/* What test_report.py calls, by ctypes with and without the interpreter's lock: the site, and its text. */
#include <stdio.h>

#include "libs/observer/modules.h"
#include "libs/observer/sites.h"

unsigned stack_here(void);
unsigned stack_here(void)
{
    unsigned site = obs_site_here(__builtin_return_address(0));
    __asm__ volatile(""); /* no tail call */
    return site;
}

/* Whether the innermost Python frames of two sites are of one file and function, each kept once. */
int names_shared(unsigned one, unsigned other);
int names_shared(unsigned one, unsigned other)
{
    const struct obs_frame *a, *b;
    size_t counts[2] = {obs_site_frames(one, &a), obs_site_frames(other, &b)};
    size_t i = 0, k = 0;
    while (i < counts[0] && !a[i].file)
        i++;
    while (k < counts[1] && !b[k].file)
        k++;
    return i < counts[0] && k < counts[1] && a[i].file == b[k].file && a[i].function == b[k].function;
}

/* "file:line function" a line, of native frames "native MODULE". Returns what snprintf would. */
int stack_text(unsigned site, char *out, size_t size);
int stack_text(unsigned site, char *out, size_t size)
{
    const struct obs_frame *frames;
    size_t count = obs_site_frames(site, &frames), used = 0;
    for (size_t i = 0; i < count && used < size; i++) {
        const struct obs_module *module = obs_module(frames[i].module);
        int length = frames[i].file ? snprintf(out + used, size - used, "%s:%u %s\n", frames[i].file, frames[i].line,
                                               frames[i].function)
                                    : snprintf(out + used, size - used, "native %s\n", module ? module->path : "?");
        used += (size_t)length;
    }
    return (int)used;
}
