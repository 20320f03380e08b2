/* SPDX-License-Identifier: Apache-2.0 */
#include "make.h"

#include <errno.h>
#include <string.h>

#include "model.h"
#include "observed.h"

static void tell_lost(const char *command, const struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->processes_count; i++)
        if (timeline->processes[i].lost)
            fprintf(stderr,
                    "millrace %s: process %llu had no room for its last %llu records, which are missing in the "
                    "timeline%s\n",
                    command, (unsigned long long)timeline->processes[i].pid,
                    (unsigned long long)timeline->processes[i].lost,
                    strcmp(command, "trace") == 0 ? "; --limit gives it more" : "");
}

static bool wants_page(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".html") == 0;
}

bool timeline_make(const char *command, const char *folder, const char *output, FILE *out, const struct report *report)
{
    struct timeline timeline = {0};
    bool good = timeline_read(&timeline, folder);
    size_t failed = report ? 0 : observed_count(folder, ".failed");
    if (failed) {
        fprintf(stderr, "millrace %s: %zu of the processes could not be observed; the log says why\n", command, failed);
        good = false;
    } else if (timeline.processes_count == 0) {
        fprintf(stderr, "millrace %s: no process has used CUDA through Millrace, so the timeline is empty\n", command);
    }
    tell_lost(command, &timeline);
    bool whole =
        timeline_link(&timeline) && timeline_sum(&timeline) && (!report || timeline_add_findings(&timeline, report));
    errno = 0;
    if (whole && wants_page(output))
        whole = timeline_write_page(out, &timeline);
    else if (whole)
        timeline_write_chrome(out, &timeline);
    if (whole) {
        if (fflush(out) != 0 || ferror(out))
            good = observed_cannot(command, "cannot write", output);
    } else {
        fprintf(stderr, "millrace %s: out of memory\n", command);
        good = false;
    }
    timeline_free(&timeline);
    return good;
}
