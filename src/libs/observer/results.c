/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the results as JSON. */
#include "libs/observer/results.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"
#include "libs/observer/finding.h"
#include "libs/observer/left.h"
#include "libs/observer/modules.h"
#include "libs/observer/sites.h"

/* `"key": "text", `; nothing for NULL. What is no UTF-8 becomes question marks. */
static void put_text(const char *key, const char *text)
{
    if (!text)
        return;
    obs_left_print("\"%s\": \"", key);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = mr_utf8_length(at);
        if (length == 0)
            obs_left_put("?", 1);
        else if (*at == '"' || *at == '\\')
            obs_left_print("\\%c", *at);
        else if (*at < ' ')
            obs_left_print("\\u%04x", *at);
        else
            obs_left_put((const char *)at, length);
        at += length ? length : 1;
    }
    obs_left_put("\", ", 3);
}

static void put_number(const char *key, uint64_t number)
{
    obs_left_print("\"%s\": %" PRIu64 ", ", key, number);
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
        [MR_SIDE_MESSAGE] = "message",
        [MR_SIDE_ALLOCATION] = "allocation",
        [MR_SIDE_FREE] = "free",
        [MR_SIDE_OTHER] = "operation",
    };
    return names[what];
}

static const char *how_of(const struct mr_side *side)
{
    if (side->what == MR_SIDE_ALLOCATION || side->how & OBS_ACCESS_ALLOCATES)
        return "allocates";
    if (side->what == MR_SIDE_FREE || side->how & OBS_ACCESS_FREES)
        return "frees";
    if (side->how & OBS_ACCESS_RUNS)
        return "runs";
    bool atomic = side->how & MR_ACCESS_ATOMIC;
    if (side->how & MR_ACCESS_MAY)
        return side->how & MR_ACCESS_WRITE ? "may read or write" : "may read";
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
    default:
        break;
    }
    const char *name = side->stream_name;
    snprintf(room, size, "stream %" PRIu64 "%s%.100s%s%s", side->stream, name ? " '" : "", name ? name : "",
             name ? "'" : "", side->stream_kind == MR_STREAM_MADE ? "" : " (non-blocking)");
    return room;
}

static void put_side(const struct mr_side *side, const struct mr_observed_driver *driver)
{
    char stream[256], note[256];
    struct mr_observed_place place;
    obs_left_put("{", 1);
    put_text("what", what_of(side->what));
    put_text("how", how_of(side));
    put_text("kernel", side->kernel);
    put_text("call", side->call);
    put_text("stream", stream_of(side, stream, sizeof stream));
    if (side->range) {
        snprintf(note, sizeof note, "in the range '%.200s'", side->range);
        put_text("note", note);
    }
    if (side->place && driver && driver->place && driver->place(side->place, &place)) {
        if (side->kernel && place.kernel && strcmp(side->kernel, place.kernel) != 0)
            put_text("within", place.kernel);
        put_text("file", place.file);
        put_number("line", place.line);
        put_number("ptx_line", place.ptx_line);
    }
    put_number("number", side->number);
    put_number("thread", side->thread);
    put_number("of_thread", side->of_thread);
    put_number("work", side->work);
    put_number("node", side->node);
    if (side->behind) {
        put_number("behind_thread", side->behind_thread);
        put_number("behind", side->behind);
    }
    obs_left_print("\"site\": %" PRIu32 "}", side->site);
}

static void put_allocation(const struct mr_finding_allocation *allocation)
{
    if (!allocation->number || allocation->kind == MR_ALLOCATION_CODE)
        return;
    obs_left_print("\"allocation\": {");
    put_number("first", allocation->base);
    put_number("size", allocation->size);
    put_text("call", allocation->call);
    put_number("thread", allocation->thread);
    put_number("of_thread", allocation->of_thread);
    put_text("freed_call", allocation->free_call);
    put_number("freed_site", allocation->free_site);
    obs_left_print("\"site\": %" PRIu32 "}, ", allocation->site);
}

/* Further pairs, for witnesses alone. */
static void put_pairs(const struct mr_finding *finding, const struct mr_observed_driver *driver)
{
    uint32_t count = __atomic_load_n(&finding->pair_count, __ATOMIC_ACQUIRE);
    if (!count)
        return;
    obs_left_print("\"pairs\": [");
    for (uint32_t i = 0; i < count; i++) {
        const struct mr_finding_pair *pair = &finding->pairs[i];
        obs_left_print("%s{", i ? ", " : "");
        put_number("first", pair->first);
        put_number("bytes", pair->end - pair->first);
        put_allocation(&pair->allocation);
        obs_left_print("\"sides\": [");
        put_side(&pair->later, driver);
        obs_left_put(", ", 2);
        put_side(&pair->earlier, driver);
        obs_left_print("]}");
    }
    obs_left_print("], ");
}

static void put_finding(const struct mr_finding *finding, const struct mr_observed_driver *driver)
{
    bool of_mem = obs_finding_is_of_mem(finding->kind);
    obs_left_print("%s\n{", finding->number > 1 ? "," : "");
    put_text("tool", obs_finding_tool_name(finding->kind));
    put_text("kind", obs_finding_kind_name(finding->kind));
    put_text("detail", finding->detail);
    put_number("number", finding->number);
    if (finding->allocation.kind != MR_ALLOCATION_CODE) {
        put_number("first", finding->first);
        put_number("bytes", of_mem ? finding->touched : finding->end - finding->first);
    }
    put_number("times", finding->further + 1);
    obs_left_print("\"level\": \"%s\", ", obs_finding_is_note(finding) ? "note" : "error");
    obs_left_print("\"luck\": %s, ", finding->luck ? "true" : "false");
    obs_left_print("\"rough\": %s, ", (finding->earlier.how | finding->later.how) & MR_ACCESS_ROUGH ? "true" : "false");
    put_text("missing", finding->missing);
    put_text("advice", finding->advice);
    put_allocation(&finding->allocation);
    put_pairs(finding, driver);
    obs_left_print("\"sides\": [");
    put_side(&finding->later, driver);
    if (!of_mem || finding->earlier.call) {
        obs_left_put(", ", 2);
        put_side(&finding->earlier, driver);
    }
    obs_left_print("]}");
}

static void put_modules(void)
{
    for (uint32_t i = 0; i < obs_module_count(); i++) {
        const struct obs_module *module = obs_module(i);
        obs_left_print("%s\n{", i ? "," : "");
        put_text("path", module->path);
        obs_left_print("\"build_id\": \"");
        for (unsigned b = 0; b < module->build_id_size; b++)
            obs_left_print("%02x", module->build_id[b]);
        obs_left_print("\", \"bias\": %" PRIuPTR ", \"closed\": %s}", module->bias, module->closed ? "true" : "false");
    }
}

static void put_sites(void)
{
    for (uint32_t site = 1; site <= obs_site_count(); site++) {
        const struct obs_frame *frames = NULL;
        size_t count = obs_site_frames(site, &frames);
        obs_left_print("%s\n[", site > 1 ? "," : "");
        for (size_t i = 0; i < count; i++) {
            obs_left_print("%s{", i ? ", " : "");
            if (frames[i].file) {
                put_text("file", frames[i].file);
                put_text("function", frames[i].function);
                obs_left_print("\"line\": %" PRIu32 "}", frames[i].line);
            } else {
                if (frames[i].module != OBS_NO_MODULE)
                    put_number("module", frames[i].module);
                obs_left_print("\"offset\": %" PRIuPTR "}", frames[i].offset);
            }
        }
        obs_left_print("]");
    }
}

static void put_notes(const struct mr_race_summary *seen)
{
    const char *between = "";
    obs_left_print("\"notes\": [");
#define NOTE(count, text) \
    if (count) { \
        obs_left_print("%s\"%" PRIu64 " " text "\"", between, (uint64_t)(count)); \
        between = ", "; \
    }
    NOTE(seen->coarse, "accesses were noted coarsely, and not compared byte by byte")
    NOTE(seen->forgotten, "accesses were forgotten, because memory for notes is bounded: races with them are not found")
    NOTE(seen->unseen, "works of libraries of mathematics were not looked at: what they touch is not known")
    NOTE(seen->unknown, "accesses were to memory that no call had allocated, and were not looked at")
    NOTE(seen->touches,
         "touches of memory by the host's code were seen: of each page the first one since work was queued")
    NOTE(seen->rough, "accesses were noted coarsely, and mem and init have not looked at them")
    NOTE(seen->libraries, "works of libraries may have written any memory: what was there then counts as written")
#undef NOTE
    if (seen->host_unseen) {
        obs_left_print(
            "%s\"what the program's own code reads and writes in pinned and managed memory was not looked at: "
            "'millrace cc --check' does that, or, without --gpu, --host-touch\"",
            between);
        between = ", ";
    }
    if (seen->shared) {
        obs_left_print("%s\"memory is shared with other processes, so init has not looked at what came later\"",
                       between);
        between = ", ";
    }
    if (seen->short_of_memory)
        obs_left_print("%s\"memory for notes ran out: what came later was not looked at\"", between);
    obs_left_print("],\n");
}

static void put_process(const char *end, const struct mr_race_summary *seen)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    obs_left_print("{\"format\": \"millrace-results\", \"version\": 1, ");
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
    bool fresh = nth == 0, open;
    do {
        char path[PATH_MAX], more[16] = "";
        if (fresh && ++nth > 1000)
            return false; /* errno is EEXIST */
        if (nth > 1)
            snprintf(more, sizeof more, "-%u", nth);
        int length = snprintf(path, sizeof path, "%s/%ld%s.results.json", folder, (long)getpid(), more);
        if (length < 0 || (size_t)length >= sizeof path) {
            errno = ENAMETOOLONG;
            return false;
        }
        open = obs_left_open(path, fresh);
    } while (!open && fresh && errno == EEXIST);
    return open;
}

/* ---- where there is no room for the file ---- */

/* Adds to a text that ends with 0. */
__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, size - used, format, values);
    va_end(values);
}

/* The innermost places of a call, as tools that name addresses take them. */
static void add_site(char *text, size_t size, uint32_t site)
{
    enum { MOST = 4 };
    const struct obs_frame *frames = NULL;
    size_t count = site ? obs_site_frames(site, &frames) : 0;
    for (size_t i = 0; i < count && i < MOST; i++) {
        const struct obs_module *module = frames[i].file ? NULL : obs_module(frames[i].module);
        const char *name = module ? strrchr(module->path, '/') : NULL;
        const char *between = i ? ", " : " at ";
        if (frames[i].file)
            add(text, size, "%s%s:%" PRIu32, between, frames[i].file, frames[i].line);
        else if (module)
            add(text, size, "%s%s+0x%" PRIxPTR, between, name ? name + 1 : module->path, frames[i].offset);
    }
}

static void add_side(char *text, size_t size, const struct mr_side *side)
{
    char room[256];
    const char *how = how_of(side), *stream = stream_of(side, room, sizeof room);
    add(text, size, "%s", what_of(side->what));
    if (side->kernel)
        add(text, size, " '%.300s'", side->kernel);
    add(text, size, "%s%s%s%s", how ? " " : "", how ? how : "", stream ? " in " : "", stream ? stream : "");
    if (side->call)
        add(text, size, " (%s, call %" PRIu64 ")", side->call, side->number);
    add_site(text, size, side->site);
}

/* A line in the log for each finding that could not be left, once: the log may lead to where there is room. */
static void tell_findings(void)
{
    static size_t told;
    for (size_t count = obs_finding_count(); told < count; told++) {
        char text[1900] = "";
        const struct mr_finding *finding = obs_finding(told);
        if (finding->luck)
            continue;
        add_side(text, sizeof text, &finding->later);
        if (finding->earlier.call || !obs_finding_is_of_mem(finding->kind)) {
            add(text, sizeof text, "; ");
            add_side(text, sizeof text, &finding->earlier);
        }
        if (finding->detail)
            add(text, sizeof text, "; %s", finding->detail);
        if (finding->missing)
            add(text, sizeof text, "; missing: %s", finding->missing);
        mr_log(obs_finding_is_note(finding) ? MR_LOG_WARN : MR_LOG_ERROR,
               "%s, which could not be left for the report: %s", obs_finding_kind_name(finding->kind), text);
    }
}

static bool write_file(const char *folder, const char *end, const struct mr_observed_driver *driver)
{
    struct mr_race_summary seen = {0};
    if (!open_part(folder))
        return false;
    obs_race_summary(&seen);
    put_process(end, &seen);
    put_notes(&seen);
    obs_left_print("\"findings\": [");
    for (size_t i = 0; i < obs_finding_count(); i++)
        put_finding(obs_finding(i), driver);
    obs_left_print("],\n\"modules\": [");
    put_modules();
    obs_left_print("],\n\"sites\": [");
    put_sites();
    obs_left_print("]}\n");
    return obs_left_close();
}

bool obs_results_write(const char *folder, const char *end, const struct mr_observed_driver *driver)
{
    bool good = write_file(folder, end, driver);
    int error = errno;
    if (!good)
        tell_findings();
    errno = error;
    return good;
}
