/* SPDX-License-Identifier: Apache-2.0 */
/* From the files of results to the report's model. Each file is one process's; it holds modules, sites (stacks as
 * numbers) and findings that refer to them. */
#include "read.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "names.h"

enum { VERSION = 1 };

/* One process's file while it is read. */
struct source {
    const char *path;
    cJSON *root;
    const cJSON *modules, *sites;
    struct names_module **opened; /* by module */
    bool *tried;
    size_t module_count;
};

static const char *text_of(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static char *copy_of(const cJSON *object, const char *key)
{
    const char *text = text_of(object, key);
    return text ? strdup(text) : NULL;
}

static uint64_t number_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) && item->valuedouble > 0 ? (uint64_t)item->valuedouble : 0;
}

static bool truth_of(const cJSON *object, const char *key)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, key));
}

/* The module with this number, opened at its first use. Why one can't be opened is told once, since names are then
 * lacking. */
static struct names_module *open_module(struct source *source, size_t number, const cJSON *module)
{
    const char *path = text_of(module, "path"), *id = text_of(module, "build_id"), *why;
    if (!source->tried[number] && path && *path == '/') {
        source->opened[number] = names_open(path, id ? id : "", &why);
        if (!source->opened[number])
            fprintf(stderr, "millrace check: no names from %s: %s\n", path, why);
    }
    source->tried[number] = true;
    return source->opened[number];
}

static void free_frame(struct report_frame frame)
{
    free(frame.function);
    free(frame.file);
    free(frame.module);
}

/* Takes the frame over. It is left out when memory is short. */
static void add_frame(struct report_stack *stack, struct report_frame frame)
{
    struct report_frame *more = realloc(stack->frames, (stack->count + 1) * sizeof *more);
    if (!more) {
        free_frame(frame);
        return;
    }
    stack->frames = more;
    more[stack->count++] = frame;
}

/* What lies between Python code and a function that it calls through ctypes. */
static bool is_plumbing(const struct report_frame *frame)
{
    const char *name = frame->module ? strrchr(frame->module, '/') : NULL;
    return name && (strncmp(name, "/libffi.so", 10) == 0 || strncmp(name, "/_ctypes.", 9) == 0);
}

static void add_native(struct source *source, const cJSON *frame, struct report_stack *stack)
{
    size_t number = (size_t)number_of(frame, "module");
    const cJSON *module = cJSON_GetArrayItem(source->modules, (int)number);
    uint64_t offset = number_of(frame, "offset");
    struct name *names = NULL;
    size_t count = 0;
    if (!cJSON_HasObjectItem(frame, "module") || number >= source->module_count)
        module = NULL;
    struct names_module *opened = module ? open_module(source, number, module) : NULL;
    if (opened)
        count = names_find(opened, offset, &names);
    for (size_t i = 0; i < (count ? count : 1); i++) {
        struct report_frame out = {.module = module ? copy_of(module, "path") : NULL, .offset = offset};
        if (count) {
            out.function = names[i].function;
            out.file = names[i].file;
            names[i].function = names[i].file = NULL; /* handed over */
            out.line = names[i].line;
            out.column = names[i].column;
            out.past = names[i].past;
            out.inlined = names[i].inlined;
        }
        if (is_plumbing(&out))
            free_frame(out);
        else
            add_frame(stack, out);
    }
    names_free(names, count);
}

static bool is_stub(const char *name)
{
    return name && strncmp(name, "__device_stub__", 15) == 0;
}

static bool is_of_operators(const struct report_frame *frame)
{
    return !frame->module && frame->file && strstr(frame->file, "/millrace_torch/");
}

/* A function of PyTorch's own, or of what gives its operators their kernels here (docs/pytorch.md). */
static bool is_pytorch(const struct report_frame *frame)
{
    if (frame->module)
        return strstr(frame->module, "/torch/lib/lib");
    return is_of_operators(frame) || (frame->file && strstr(frame->file, "-packages/torch/"));
}

/* NVIDIA's compiler gives a kernel, `void set(int *)`, a function of that name on the host, which calls its stub,
 * `__device_stub__Z3setPi(int*)`. */
static bool is_kernel_of(const struct report_frame *frame, const struct report_frame *stub)
{
    if (!is_stub(stub->function) || !frame->function)
        return false;
    const char *symbol = stub->function + strlen("__device_stub_"); /* with one underscore left */
    char *mangled = report_format("%.*s", (int)strcspn(symbol, "("), symbol);
    char *name = mangled ? names_demangle(mangled) : NULL;
    bool same = name && strcmp(name, frame->function) == 0;
    free(mangled);
    free(name);
    return same;
}

static void cut_runtime(struct report_stack *stack)
{
    size_t inner = 0;
    while (inner < stack->count && (names_is_runtime(stack->frames[inner].function, stack->frames[inner].file) ||
                                    is_pytorch(&stack->frames[inner])))
        inner++;
    if (inner + 1 < stack->count && inner > 0 && is_kernel_of(&stack->frames[inner], &stack->frames[inner - 1]))
        inner++;
    if (inner == stack->count) /* as in a thread of PyTorch's */
        for (inner = 0; inner < stack->count && is_of_operators(&stack->frames[inner]);)
            inner++;
    if (inner == 0 || inner == stack->count)
        return;
    for (size_t i = 0; i < inner; i++) { /* to the end, where they are cut off */
        struct report_frame first = stack->frames[0];
        memmove(stack->frames, stack->frames + 1, (stack->count - 1) * sizeof first);
        stack->frames[stack->count - 1] = first;
    }
    report_cut_stack(stack, stack->count - inner);
}

/* Python code that runs tests. */
static bool is_runner(const struct report_frame *frame)
{
    static const char *const folders[] = {"/_pytest/", "/pluggy/", "/xdist/", "/execnet/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!frame->module && frame->file && strstr(frame->file, folders[i]))
            return true;
    return false;
}

/* Frames under main, or under a thread's first function, are the C library's, and those under a test are pytest's:
 * nobody looks for them. */
static void cut_start(struct report_stack *stack)
{
    size_t keep = stack->count;
    for (size_t i = 0; i < stack->count && keep == stack->count; i++)
        if (stack->frames[i].function && strcmp(stack->frames[i].function, "main") == 0)
            keep = i + 1;
    while (keep == stack->count && keep > 1) {
        const struct report_frame *last = &stack->frames[keep - 1];
        const char *name = last->module ? strrchr(last->module, '/') : NULL;
        if (!name || strncmp(name, "/libc.so", 8) != 0)
            break;
        report_cut_stack(stack, --keep);
    }
    while (keep > 1 && is_runner(&stack->frames[keep - 1]))
        keep--;
    report_cut_stack(stack, keep);
}

static struct report_stack stack_of(struct source *source, uint64_t site)
{
    struct report_stack stack = {0};
    const cJSON *frame, *frames = site ? cJSON_GetArrayItem(source->sites, (int)site - 1) : NULL;
    cJSON_ArrayForEach(frame, frames)
    {
        if (!text_of(frame, "file")) {
            add_native(source, frame, &stack);
            continue;
        }
        struct report_frame python = {.function = copy_of(frame, "function"),
                                      .file = copy_of(frame, "file"),
                                      .line = (unsigned)number_of(frame, "line")};
        add_frame(&stack, python);
    }
    cut_runtime(&stack);
    cut_start(&stack);
    return stack;
}

/* The place is in another kernel, which the one of the call has launched. */
static void note_launched(struct report_side *side)
{
    if (!side->within)
        return;
    char *note = report_format("in kernel '%s', which it has launched%s%s", side->within, side->note ? "; " : "",
                               side->note ? side->note : "");
    free(side->note);
    side->note = note;
}

static struct report_side side_of(struct source *source, const cJSON *from)
{
    struct report_side side = {
        .what = copy_of(from, "what"),
        .how = copy_of(from, "how"),
        .symbol = copy_of(from, "kernel"),
        .within_symbol = copy_of(from, "within"),
        .call = copy_of(from, "call"),
        .stream = copy_of(from, "stream"),
        .file = copy_of(from, "file"),
        .line = (unsigned)number_of(from, "line"),
        .ptx_line = (unsigned)number_of(from, "ptx_line"),
        .number = number_of(from, "number"),
        .work = number_of(from, "work"),
        .node = number_of(from, "node"),
        .thread = number_of(from, "thread"),
        .note = copy_of(from, "note"),
        .device = cJSON_HasObjectItem(from, "device") ? (int)number_of(from, "device") : -1,
        .stack = stack_of(source, number_of(from, "site")),
    };
    side.kernel = side.symbol ? names_demangle(side.symbol) : NULL;
    side.within = side.within_symbol ? names_demangle(side.within_symbol) : NULL;
    note_launched(&side);
    return side;
}

static struct report_allocation allocation_of(struct source *source, const cJSON *from)
{
    if (!cJSON_IsObject(from))
        return (struct report_allocation){0};
    return (struct report_allocation){
        .known = true,
        .first = number_of(from, "first"),
        .size = number_of(from, "size"),
        .call = copy_of(from, "call"),
        .freed_call = copy_of(from, "freed_call"),
        .stack = stack_of(source, number_of(from, "site")),
        .freed = stack_of(source, number_of(from, "freed_site")),
    };
}

static bool is_note(const cJSON *from)
{
    const cJSON *level = cJSON_GetObjectItemCaseSensitive(from, "level");
    return cJSON_IsString(level) && strcmp(level->valuestring, "note") == 0;
}

static bool read_finding(struct source *source, const cJSON *from, uint64_t process, struct report *report)
{
    struct report_finding finding = {
        .tool = copy_of(from, "tool"),
        .kind = copy_of(from, "kind"),
        .detail = copy_of(from, "detail"),
        .first = number_of(from, "first"),
        .bytes = number_of(from, "bytes"),
        .missing = copy_of(from, "missing"),
        .advice = copy_of(from, "advice"),
        .rough = truth_of(from, "rough"),
        .luck = truth_of(from, "luck"),
        .note = is_note(from),
        .times = number_of(from, "times"),
        .process = process,
        .allocation = allocation_of(source, cJSON_GetObjectItemCaseSensitive(from, "allocation")),
    };
    const cJSON *sides = cJSON_GetObjectItemCaseSensitive(from, "sides"), *side;
    finding.sides = calloc((size_t)cJSON_GetArraySize(sides) + 1, sizeof *finding.sides);
    cJSON_ArrayForEach(side, sides) if (finding.sides) finding.sides[finding.side_count++] = side_of(source, side);
    struct report_finding *more = realloc(report->findings, (report->finding_count + 1) * sizeof *more);
    if (more)
        report->findings = more;
    if (!more || !finding.sides || !finding.kind || !finding.tool || finding.side_count == 0) {
        report_free_finding(&finding);
        return false;
    }
    if (finding.times == 0)
        finding.times = 1;
    more[report->finding_count++] = finding;
    return true;
}

/* What the reader should know of how the process ended; NULL: nothing. To be freed. */
static char *note_of_end(const struct report_process *process)
{
    const char *end = process->end ? process->end : "",
               *slash = process->program ? strrchr(process->program, '/') : NULL;
    const char *program = slash ? slash + 1 : process->program ? process->program : "?";
    if (strcmp(end, "exit") == 0)
        return NULL;
    if (*end)
        return report_format("process %" PRIu64 " (%s) was ended by %s", process->pid, program, end);
    return report_format("process %" PRIu64
                         " (%s) still runs, or ended without a word (by _exit, exec or a kill): what it "
                         "found last may be missing",
                         process->pid, program);
}

static bool read_process(const cJSON *root, struct report *report)
{
    struct report_process process = {.pid = number_of(root, "pid"),
                                     .program = copy_of(root, "program"),
                                     .end = copy_of(root, "end"),
                                     .operations = number_of(root, "operations")};
    const cJSON *notes = cJSON_GetObjectItemCaseSensitive(root, "notes"), *note;
    process.notes = calloc((size_t)cJSON_GetArraySize(notes) + 2, sizeof *process.notes);
    char *of_end = note_of_end(&process);
    if (process.notes && of_end)
        process.notes[process.note_count++] = of_end;
    else
        free(of_end);
    cJSON_ArrayForEach(note, notes) if (process.notes && cJSON_IsString(note)) process.notes[process.note_count++] =
        strdup(note->valuestring);
    struct report_process *more = realloc(report->processes, (report->process_count + 1) * sizeof *more);
    if (!more)
        return false;
    report->processes = more;
    more[report->process_count++] = process;
    return true;
}

static bool bad_file(const char *path, const char *what)
{
    fprintf(stderr, "millrace check: %s: %s\n", path, what);
    return false;
}

static bool read_root(struct source *source, struct report *report)
{
    const char *kind = text_of(source->root, "format");
    if (!kind || strcmp(kind, "millrace-results") != 0)
        return bad_file(source->path, "this is no file of results");
    if (number_of(source->root, "version") != VERSION)
        return bad_file(source->path, "the results are of another version of Millrace");
    source->modules = cJSON_GetObjectItemCaseSensitive(source->root, "modules");
    source->sites = cJSON_GetObjectItemCaseSensitive(source->root, "sites");
    source->module_count = (size_t)cJSON_GetArraySize(source->modules);
    source->opened = calloc(source->module_count + 1, sizeof *source->opened);
    source->tried = calloc(source->module_count + 1, sizeof *source->tried);
    if (!source->opened || !source->tried || !read_process(source->root, report))
        return bad_file(source->path, "memory is short");
    const cJSON *finding;
    uint64_t pid = number_of(source->root, "pid");
    bool good = true;
    cJSON_ArrayForEach(finding, cJSON_GetObjectItemCaseSensitive(
                                    source->root, "findings")) if (!read_finding(source, finding, pid, report)) good =
        bad_file(source->path, "a finding lacks its tool, kind or sides");
    return good;
}

static char *whole_file(const char *path, size_t *size)
{
    struct stat status;
    FILE *file = fopen(path, "r");
    char *text = file && fstat(fileno(file), &status) == 0 ? malloc((size_t)status.st_size + 1) : NULL;
    *size = text ? fread(text, 1, (size_t)status.st_size, file) : 0;
    bool good = text && !ferror(file) && *size == (size_t)status.st_size;
    if (file)
        fclose(file);
    if (good) {
        text[*size] = 0;
        return text;
    }
    free(text);
    return NULL;
}

static bool read_file(struct report *report, const char *path)
{
    struct source source = {.path = path};
    size_t size;
    char *text = whole_file(path, &size);
    if (!text)
        return bad_file(path, strerror(errno));
    source.root = cJSON_ParseWithLength(text, size);
    bool good = source.root ? read_root(&source, report) : bad_file(path, "the file is cut short, or is no JSON");
    for (size_t i = 0; source.opened && i < source.module_count; i++)
        names_close(source.opened[i]);
    free(source.opened);
    free(source.tried);
    cJSON_Delete(source.root);
    free(text);
    return good;
}

static int is_result(const struct dirent *entry)
{
    static const char end[] = ".results.json";
    size_t length = strlen(entry->d_name);
    return length > sizeof end - 1 && strcmp(entry->d_name + length - (sizeof end - 1), end) == 0;
}

/* A folder of its own in the folder: tests that are reported one by one leave their results there. */
static int is_folder(const struct dirent *entry)
{
    return entry->d_type == DT_DIR && entry->d_name[0] != '.';
}

static char *path_in(const char *folder, const char *name)
{
    return report_format("%s/%s", folder, name);
}

/* Reads what is in the folder, then what is in its folders if it is the outer one. */
static bool read_folder(struct report *report, const char *folder, bool outer)
{
    bool good = true;
    for (int folders = 0; folders <= (int)outer; folders++) {
        struct dirent **entries;
        int count = scandir(folder, &entries, folders ? is_folder : is_result, versionsort);
        good = (count >= 0 || bad_file(folder, strerror(errno))) && good;
        for (int i = 0; i < count; i++) {
            char *path = path_in(folder, entries[i]->d_name);
            if (path)
                good = (folders ? read_folder(report, path, false) : read_file(report, path)) && good;
            free(path);
            free(entries[i]);
        }
        if (count >= 0)
            free(entries);
    }
    return good;
}

bool report_read(struct report *report, const char *folder)
{
    bool good = read_folder(report, folder, true);
    return report_finish(report) && good;
}
