/* SPDX-License-Identifier: Apache-2.0 */
/* What to tell a user whose program loads PTX that is refused.
 *
 * All errors are in the log at level info, and in the program's own log if it has given one. Many programs give none
 * and show a bare status, so the first error is a warning, too, with what helps. Some programs try many things and go
 * on without those that fail, so each cause is told once: the words of the error without their place. */
#include <string.h>

#include "base/call.h"
#include "base/log.h"
#include "compile/program.h"
#include "ptx/ptx_diag.h"

#define CAUSES_MOST 8u /* that are told in a process */

enum news { NEWS_NONE, NEWS_MORE, NEWS_LAST };

/* Whether the cause is new, and whether it is the last one that is told. */
static enum news note(const char *cause, size_t length)
{
    static _Atomic uint64_t told[CAUSES_MOST];
    uint64_t hash = mr_cache_hash_of(cause, length).low | 1;
    for (unsigned i = 0; i < CAUSES_MOST; i++) {
        uint64_t other = 0;
        if (atomic_compare_exchange_strong(&told[i], &other, hash))
            return i + 1 < CAUSES_MOST ? NEWS_MORE : NEWS_LAST;
        if (other == hash)
            return NEWS_NONE;
    }
    return NEWS_NONE;
}

/* The first error's line, without the word; warnings and shown source may stand before it. */
static const char *first_error(const char *text)
{
    static const char word[] = "error: ";
    const char *at = text;
    while (at && strncmp(at, word, sizeof word - 1) != 0) {
        at = strchr(at, '\n');
        at += at != NULL;
    }
    return at ? at + sizeof word - 1 : "";
}

static const char *advice(const struct mr_ptx_diag *diag, const char *error, size_t length, int capability)
{
    if (diag->bad_version)
        return "; take an older compiler, or its option for an older version of PTX";
    if (memmem(error, length, "MILLRACE_", 9))
        return "";
    if (memmem(error, length, "defined nowhere", 15))
        return memmem(error, length, "GetParameterBuffer", 18) || memmem(error, length, "LaunchDevice", 12)
                   ? "; kernels that launch kernels are linked with libcudadevrt.a (nvcc -rdc=true, cuLinkAddFile)"
                   : "; link it with what defines it";
    if (diag->unsupported && capability > 80)
        return "; with MILLRACE_COMPUTE_CAPABILITY=8.0 the device is one that does not have it, and the program may do "
               "without";
    return "; if this is right PTX, Millrace lacks it: MILLRACE_DUMP=FOLDER keeps the text for a report";
}

void mr_program_tell_refused(const struct mr_ptx_diag *diag, int capability)
{
    const char *error = first_error(mr_ptx_diag_text(diag));
    size_t length = strcspn(error, "\n");
    const char *cause = diag->first_error_line ? strstr(error, ": ") : NULL;
    cause = cause && cause < error + length ? cause + 2 : error;
    enum news news = length == 0 ? NEWS_NONE : note(cause, length - (size_t)(cause - error));
    if (news == NEWS_NONE)
        return;
    mr_call_log(MR_LOG_WARN, "the PTX is refused: %.*s%s%s", (int)length, error,
                advice(diag, error, length, capability),
                news == NEWS_LAST ? "; further causes are at MILLRACE_LOG=info alone" : "");
}
