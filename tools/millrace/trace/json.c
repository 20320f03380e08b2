/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <inttypes.h>

#include "base/utf8.h"

void json_text(FILE *out, const char *text)
{
    putc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = mr_utf8_length(at);
        if (length == 0) {
            fputs("\\ufffd", out);
            at++;
        } else if (length > 1) {
            for (; length > 0; length--)
                putc(*at++, out);
        } else {
            if (*at == '"' || *at == '\\')
                fprintf(out, "\\%c", *at);
            else if (*at < 0x20 || *at == '<' || *at == 0x7f)
                fprintf(out, "\\u%04x", *at);
            else
                putc(*at, out);
            at++;
        }
    }
    putc('"', out);
}

void json_put_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, ",\"%s\":", key);
    json_text(out, text);
}

void json_put_time(FILE *out, const char *key, uint64_t time)
{
    fprintf(out, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, time / 1000, time % 1000);
}

const char *json_lane_kind(enum lane_kind kind)
{
    static const char *const kinds[] = {"ranges", "ranges", "host thread", "stream", "worker"};
    return kinds[kind];
}

uint64_t json_lane_number(const struct timeline_process *process, const struct timeline_lane *lane)
{
    return lane->kind == LANE_THREAD || lane->kind == LANE_PUSHED ? process->threads[lane->of].thread : lane->of;
}
