/* SPDX-License-Identifier: Apache-2.0 */
/* Two ways of telling perf what generated code is.
 *
 * map: /tmp/perf-PID.map, a line of text for each function, which `perf report` reads by itself: names only.
 *
 * jitdump: jit-PID.dump in the folder that MILLRACE_DUMP or MILLRACE_DUMP_DIR names or else in the working directory,
 * which `perf inject --jit` turns into objects with names, code and lines. perf learns of the file by an executable
 * mapping of it, and compares its times with those of samples, hence `perf record -k mono`. (Linux,
 * tools/perf/Documentation: jit-interface.txt, jitdump-specification.txt.) */
#include "compile/perf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/alloc.h"
#include "base/settings.h"
#include "compile/dump.h"
#include "base/thread.h"
#include "compile/codegen.h"
#include "compile/lines.h"

#define DUMP_MAGIC 0x4a695444u
enum { RECORD_LOAD = 0, RECORD_LINES = 2 };

struct file_header {
    uint32_t magic, version, size, machine, unused, pid;
    uint64_t time, flags;
};
struct record_header {
    uint32_t kind, size;
    uint64_t time;
};
struct load_record {
    struct record_header head;
    uint32_t pid, tid;
    uint64_t vma, address, bytes, index;
};
struct lines_record {
    struct record_header head;
    uint64_t address, count;
};
struct line_entry {
    uint64_t address;
    uint32_t line, discriminator;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static FILE *file;        /* NULL: nobody wants to know */
static bool dumps;        /* it is a jitdump */
static char folder[4096]; /* of the PTX, with a slash behind it, or empty */
static uint64_t written;  /* functions */
static mr_lock lock = MR_LOCK_INIT(PERF);      /* held while something is written */

static bool begin_dump(void)
{
#if defined(__x86_64__)
    unsigned machine = EM_X86_64;
#else
    unsigned machine = EM_AARCH64;
#endif
    struct file_header header = {DUMP_MAGIC, 1, sizeof header, machine, 0, (uint32_t)getpid(), mr_clock_ns(), 0};
    return mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) !=
               MAP_FAILED &&
           fwrite(&header, sizeof header, 1, file) == 1 && fflush(file) == 0;
}

static void begin(void)
{
    const char *way = mr_setting_text(MR_SETTING_PERF);
    struct mr_dump dump = mr_dump_settings();
    char path[4096 + 64], real[4096];
    if (!*way || strcmp(way, "off") == 0)
        return;
    dumps = strcmp(way, "jitdump") == 0;
    if (!dumps && strcmp(way, "map") != 0) {
        return; /* mr_settings_check has said so */
    }
    if (dump.stages && realpath(dump.folder, real))
        snprintf(folder, sizeof folder, "%.4000s/", real);
    if (dumps)
        snprintf(path, sizeof path, "%sjit-%d.dump", folder, (int)getpid());
    else
        snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    struct stat facts;
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    errno = descriptor < 0 ? errno : EINVAL; /* a FIFO would take some lines and then wait for a reader */
    file = descriptor >= 0 && fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) ? fdopen(descriptor, "w") : NULL;
    if (file && (!dumps || begin_dump()))
        return;
    mr_log(MR_LOG_WARN, "cannot write '%s' for perf: %s", path, strerror(errno));
    if (file)
        fclose(file);
    else if (descriptor >= 0)
        close(descriptor);
    file = NULL;
}

struct note {
    const struct mr_loaded *loaded;
    const char *kernel, *source;
    uint64_t from, end;          /* the function at hand */
    uint64_t count, names;       /* its lines, and the bytes of their files' names */
    bool store;                  /* they are written, not counted */
};

/* The kernel's own source where the module tells of it, else the PTX in the folder that it is dumped to. */
static void note_line(void *data, const struct mr_line_row *row)
{
    struct note *note = data;
    if (row->end || row->line == 0 || !row->file || row->address < note->from || row->address >= note->end)
        return;
    const char *before = strcmp(row->file, note->source) == 0 ? folder : row->folder ? row->folder : "";
    const char *between = *before && before != folder ? "/" : "";
    note->count++;
    note->names += strlen(before) + strlen(between) + strlen(row->file) + 1;
    if (!note->store)
        return;
    struct line_entry entry = {row->address, row->line, row->line == row->ptx_line ? 0 : row->ptx_line};
    fwrite(&entry, sizeof entry, 1, file);
    fputs(before, file);
    fputs(between, file);
    fwrite(row->file, strlen(row->file) + 1, 1, file);
}

static void dump_lines(struct note *note, uint64_t time)
{
    note->count = note->names = 0;
    note->store = false;
    mr_lines_each(note->loaded->object, note->loaded->object_size, note_line, note);
    size_t bytes = sizeof(struct lines_record) + note->count * sizeof(struct line_entry) + note->names;
    if (note->count == 0 || bytes > UINT32_MAX)
        return;
    struct lines_record record = {{RECORD_LINES, (uint32_t)bytes, time}, note->from, note->count};
    fwrite(&record, sizeof record, 1, file);
    note->store = true;
    mr_lines_each(note->loaded->object, note->loaded->object_size, note_line, note);
}

static void note_function(void *data, const char *symbol, uint64_t address, uint64_t bytes)
{
    struct note *note = data;
    uint64_t start = (uintptr_t)note->loaded->map, end = start + note->loaded->bytes;
    const char *name = strcmp(symbol, MR_KERNEL_SYMBOL) == 0 ? note->kernel : symbol;
    if (address < start || address >= end || bytes > end - address || strlen(name) > 65535)
        return;
    if (!dumps) {
        fprintf(file, "%llx %llx %s\n", (unsigned long long)address, (unsigned long long)bytes, name);
        return;
    }
    uint64_t time = mr_clock_ns();
    note->from = address;
    note->end = address + bytes;
    dump_lines(note, time);
    struct load_record record = {{RECORD_LOAD, (uint32_t)(sizeof record + strlen(name) + 1 + bytes), time},
                                 (uint32_t)getpid(),
                                 (uint32_t)syscall(SYS_gettid),
                                 address,
                                 address,
                                 bytes,
                                 written++};
    fwrite(&record, sizeof record, 1, file);
    fwrite(name, strlen(name) + 1, 1, file);
    fwrite((const void *)(uintptr_t)address, bytes, 1, file);
}

void mr_perf_note(const struct mr_loaded *loaded, const char *kernel, const char *source)
{
    pthread_once(&once, begin);
    if (!file)
        return;
    struct note note = {.loaded = loaded, .kernel = kernel, .source = source};
    mr_lock_take(&lock);
    mr_lines_functions(loaded->object, loaded->object_size, note_function, &note);
    if (fflush(file) != 0)
        mr_log(MR_LOG_WARN, "writing for perf failed: %s", strerror(errno));
    mr_lock_drop(&lock);
}
