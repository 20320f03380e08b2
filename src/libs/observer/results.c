/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the results, by a writer of JSON that needs no memory of its own. */
#include "libs/observer/results.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libs/observer/finding.h"
#include "libs/observer/modules.h"
#include "libs/observer/sites.h"

static struct {
    int file, error; /* error: errno of the first write that failed */
    char path[PATH_MAX], part[PATH_MAX + 8];
    size_t used;
    char bytes[1 << 16];
} out;

static void flush(void)
{
    for (size_t done = 0; done < out.used && !out.error;) {
        ssize_t wrote = write(out.file, out.bytes + done, out.used - done);
        if (wrote > 0)
            done += (size_t)wrote;
        else if (wrote == 0 || errno != EINTR)
            out.error = wrote == 0 ? EIO : errno;
    }
    out.used = 0;
}

static void put(const char *text, size_t length)
{
    if (length > sizeof out.bytes - out.used)
        flush();
    memcpy(out.bytes + out.used, text, length); /* pieces are short */
    out.used += length;
}

__attribute__((format(printf, 1, 2))) static void print(const char *format, ...)
{
    char piece[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    put(piece, length < (int)sizeof piece ? (size_t)length : sizeof piece - 1);
}

/* Bytes from `text` on that are one character of UTF-8; 0: they are none. */
static size_t character(const unsigned char *text)
{
    size_t more = text[0] < 0x80                      ? 0
                  : text[0] >= 0xc2 && text[0] < 0xe0 ? 1
                  : (text[0] & 0xf0) == 0xe0          ? 2
                  : text[0] >= 0xf0 && text[0] < 0xf5 ? 3
                                                      : 4;
    for (size_t i = 1; i <= more; i++)
        if (more == 4 || (text[i] & 0xc0) != 0x80)
            return 0;
    return more + 1;
}

/* `"key": "text", `; nothing for NULL. What is no UTF-8 becomes question marks. */
static void put_text(const char *key, const char *text)
{
    if (!text)
        return;
    print("\"%s\": \"", key);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = character(at);
        if (length == 0)
            put("?", 1);
        else if (*at == '"' || *at == '\\')
            print("\\%c", *at);
        else if (*at < ' ')
            print("\\u%04x", *at);
        else
            put((const char *)at, length);
        at += length ? length : 1;
    }
    put("\", ", 3);
}

static void put_number(const char *key, uint64_t number)
{
    print("\"%s\": %" PRIu64 ", ", key, number);
}

static const char *what_of(enum mr_side_what what)
{
    static const char *const names[] = {
        [MR_SIDE_KERNEL] = "kernel",
        [MR_SIDE_COPY] = "copy",
        [MR_SIDE_FILL] = "fill",
        [MR_SIDE_HOST_FUNCTION] = "host function",
        [MR_SIDE_MEMORY_OP] = "memory operation",
        [MR_SIDE_GRAPH] = "graph node",
        [MR_SIDE_HOST] = "host",
        [MR_SIDE_ALLOCATION] = "allocation",
        [MR_SIDE_FREE] = "free",
        [MR_SIDE_OTHER] = "operation",
    };
    return names[what];
}

static const char *how_of(const struct mr_side *side)
{
    if (side->what == MR_SIDE_ALLOCATION)
        return "allocates";
    if (side->what == MR_SIDE_FREE)
        return "frees";
    bool atomic = side->how & MR_ACCESS_ATOMIC;
    if ((side->how & MR_ACCESS_READ) && (side->how & MR_ACCESS_WRITE))
        return atomic ? "changes (by an atomic operation)" : "reads and writes";
    if (side->how & MR_ACCESS_WRITE)
        return atomic ? "writes (by an atomic operation)" : "writes";
    return side->how & MR_ACCESS_READ ? atomic ? "reads (by an atomic operation)" : "reads" : NULL;
}

static const char *stream_of(const struct mr_side *side, char *room, size_t size)
{
    switch (side->stream_kind) {
    case MR_STREAM_NONE:
        return NULL;
    case MR_STREAM_LEGACY:
        return "the legacy default stream";
    case MR_STREAM_PER_THREAD:
        return "the thread's default stream";
    case MR_STREAM_MADE:
        snprintf(room, size, "stream %" PRIu64, side->stream);
        return room;
    default:
        snprintf(room, size, "stream %" PRIu64 " (non-blocking)", side->stream);
        return room;
    }
}

static void put_side(const struct mr_side *side, const struct mr_observed_driver *driver)
{
    char stream[64];
    struct mr_observed_place place;
    put("{", 1);
    put_text("what", what_of(side->what));
    put_text("how", how_of(side));
    put_text("kernel", side->kernel);
    put_text("call", side->call);
    put_text("stream", stream_of(side, stream, sizeof stream));
    if (side->place && driver && driver->place && driver->place(side->place, &place)) {
        put_text("file", place.file);
        put_number("line", place.line);
        put_number("ptx_line", place.ptx_line);
    }
    put_number("number", side->number);
    put_number("thread", side->thread);
    put_number("of_thread", side->of_thread);
    put_number("work", side->work);
    put_number("node", side->node);
    print("\"site\": %" PRIu32 "}", side->site);
}

static void put_finding(const struct mr_finding *finding, const struct mr_observed_driver *driver)
{
    bool of_mem = obs_finding_is_of_mem(finding->kind);
    const struct mr_finding_allocation *allocation = &finding->allocation;
    print("%s\n{", finding->number > 1 ? "," : "");
    put_text("tool", of_mem ? "mem" : "race");
    put_text("kind", obs_finding_kind_name(finding->kind));
    put_text("detail", finding->detail);
    put_number("number", finding->number);
    put_number("first", finding->first);
    put_number("bytes", of_mem ? finding->touched : finding->end - finding->first);
    put_number("times", finding->further + 1);
    print("\"luck\": %s, ", finding->luck ? "true" : "false");
    print("\"rough\": %s, ", (finding->earlier.how | finding->later.how) & MR_ACCESS_ROUGH ? "true" : "false");
    put_text("missing", finding->missing);
    put_text("advice", finding->advice);
    if (allocation->number) {
        print("\"allocation\": {");
        put_number("first", allocation->base);
        put_number("size", allocation->size);
        put_text("call", allocation->call);
        put_number("thread", allocation->thread);
        put_number("of_thread", allocation->of_thread);
        put_text("freed_call", allocation->free_call);
        put_number("freed_site", allocation->free_site);
        print("\"site\": %" PRIu32 "}, ", allocation->site);
    }
    print("\"sides\": [");
    put_side(&finding->later, driver);
    if (!of_mem || finding->earlier.call) {
        put(", ", 2);
        put_side(&finding->earlier, driver);
    }
    print("]}");
}

static void put_modules(void)
{
    for (uint32_t i = 0; i < obs_module_count(); i++) {
        const struct obs_module *module = obs_module(i);
        print("%s\n{", i ? "," : "");
        put_text("path", module->path);
        print("\"build_id\": \"");
        for (unsigned b = 0; b < module->build_id_size; b++)
            print("%02x", module->build_id[b]);
        print("\", \"bias\": %" PRIuPTR ", \"closed\": %s}", module->bias, module->closed ? "true" : "false");
    }
}

static void put_sites(void)
{
    for (uint32_t site = 1; site <= obs_site_count(); site++) {
        const struct obs_frame *frames = NULL;
        size_t count = obs_site_frames(site, &frames);
        print("%s\n[", site > 1 ? "," : "");
        for (size_t i = 0; i < count; i++) {
            print("%s{", i ? ", " : "");
            if (frames[i].file) {
                put_text("file", frames[i].file);
                put_text("function", frames[i].function);
                print("\"line\": %" PRIu32 "}", frames[i].line);
            } else {
                if (frames[i].module != OBS_NO_MODULE)
                    put_number("module", frames[i].module);
                print("\"offset\": %" PRIuPTR "}", frames[i].offset);
            }
        }
        print("]");
    }
}

static void put_notes(const struct mr_race_summary *seen)
{
    const char *between = "";
    print("\"notes\": [");
#define NOTE(count, text) \
    if (count) { \
        print("%s\"%" PRIu64 " " text "\"", between, (uint64_t)(count)); \
        between = ", "; \
    }
    NOTE(seen->coarse, "accesses were noted coarsely, and not compared byte by byte")
    NOTE(seen->forgotten, "accesses were forgotten, because memory for notes is bounded: races with them are not found")
    NOTE(seen->unknown, "accesses were to memory that no call had allocated, and were not looked at")
    NOTE(seen->rough, "accesses were noted coarsely, and mem has not looked at them")
#undef NOTE
    if (seen->short_of_memory)
        print("%s\"memory for notes ran out: what came later was not looked at\"", between);
    print("],\n");
}

static void put_process(const char *end, const struct mr_race_summary *seen)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    print("{\"format\": \"millrace-results\", \"version\": 1, ");
    put_number("pid", (uint64_t)getpid());
    put_text("program", program);
    put_text("end", end);
    put_number("calls", seen->calls);
    put_number("operations", seen->operations);
    put_number("accesses", seen->accesses);
}

/* Opens the part that is written first. The first time finds a name that no other process has: one that is gone and had
 * the same number (before exec, on another machine) may have left something. */
static bool open_part(const char *folder)
{
    static unsigned nth;
    int flags = nth ? O_TRUNC : O_EXCL, length;
    do {
        char more[16] = "";
        if (flags == O_EXCL && ++nth > 1000)
            return false; /* errno is EEXIST */
        if (nth > 1)
            snprintf(more, sizeof more, "-%u", nth);
        length = snprintf(out.path, sizeof out.path, "%s/%ld%s.results.json", folder, (long)getpid(), more);
        if (length < 0 || (size_t)length >= sizeof out.path) {
            errno = ENAMETOOLONG;
            return false;
        }
        snprintf(out.part, sizeof out.part, "%s.part", out.path);
        errno = EEXIST;
        out.file = flags == O_EXCL && access(out.path, F_OK) == 0
                       ? -1
                       : open(out.part, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
    } while (out.file < 0 && errno == EEXIST);
    return out.file >= 0;
}

bool obs_results_write(const char *folder, const char *end, const struct mr_observed_driver *driver)
{
    struct mr_race_summary seen = {0};
    out.error = 0;
    out.used = 0;
    if (!open_part(folder))
        return false;
    obs_race_summary(&seen);
    put_process(end, &seen);
    put_notes(&seen);
    print("\"findings\": [");
    for (size_t i = 0; i < obs_finding_count(); i++)
        put_finding(obs_finding(i), driver);
    print("],\n\"modules\": [");
    put_modules();
    print("],\n\"sites\": [");
    put_sites();
    print("]}\n");
    flush();
    if (close(out.file) != 0 && !out.error)
        out.error = errno;
    if (!out.error && rename(out.part, out.path) != 0)
        out.error = errno;
    if (out.error)
        unlink(out.part);
    errno = out.error;
    return out.error == 0;
}
