/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline as one page that needs nothing else. The page is page.html, built in; it carries the timeline as
 * packed.c writes it. */
#include <string.h>

#include "model.h"

extern const char trace_page[];

bool timeline_write_page(FILE *out, const struct timeline *timeline)
{
    static const char mark[] = ">@DATA@<";
    const char *at = strstr(trace_page, mark);
    fwrite(trace_page, 1, (size_t)(at - trace_page) + 1, out);
    bool good = timeline_write_packed(out, timeline);
    fputs(at + sizeof mark - 2, out);
    return good;
}
