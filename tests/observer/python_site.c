/* SPDX-License-Identifier: Apache-2.0 */
/* What test_python_frames.py calls, by ctypes with and without the interpreter's lock: the site, and its text. */
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
