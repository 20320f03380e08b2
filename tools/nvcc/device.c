/* SPDX-License-Identifier: Apache-2.0 */
/* The device half of a source.
 *
 * clang makes PTX of it, once for each architecture; the texts go into one fat binary (ptx/pack.h), which the driver
 * reads. What is called a cubin here is the PTX text itself: Millrace's driver looks at the first bytes of an image. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "compile/compile.h"
#include "ptx/arch.h"
#include "ptx/constants.h"
#include "ptx/entries.h"
#include "ptx/launches.h"
#include "ptx/pack.h"
#include "ptx/ptx.h"
#include "ptx/statics.h"
#include "shim.h"

#define ASSEMBLER_FAILED 255 /* the status of NVIDIA's, which its nvcc hands on */

static void add_path(struct mr_words *words, const char *spelling, const char *place, const char *rest)
{
    struct mr_text word = {.data = NULL};
    mr_text_format(&word, "%s%s%s", spelling, place, rest);
    mr_words_add(words, mr_text_chars(&word), "");
    words->failed = words->failed || word.failed;
    mr_text_clear(&word);
}

/* In relocatable code, what is local to a source gets a name that no other source has. */
static void add_unit_name(const char *source, struct mr_words *words)
{
    char full[PATH_MAX], name[24];
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *at = realpath(source, full) ? full : source; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
    snprintf(name, sizeof name, "%016llx", (unsigned long long)hash);
    mr_words_add(words, "-fuse-cuid=none",
                 ""); /* clang's own differs between the halves, and gives one that is told to the device's alone */
    mr_words_add(words, "-Xclang", "");
    mr_words_add(words, "-cuid=", name);
}

void add_unused_warnings(struct mr_words *words)
{
    static const char *const warnings[] = {"-Wunused-variable", "-Wunused-but-set-variable", "-Wunused-function"};
    for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++)
        mr_words_add(words, warnings[i], "");
}

const char *host_clang(void)
{
    const char *compiler = mr_setting_text(MR_SETTING_CC);
    return *compiler ? compiler : "clang-19";
}

void clang_words(const struct request *request, const struct places *places, const char *source, struct mr_words *words)
{
    static const char *const fixed[] = {
        "--no-default-config", "-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "-fdeclspec",
        "-std=c++17", "-Wno-unused-command-line-argument", "-Xclang",
        "-target-sdk-version=12.3" /* launches and registration as they are since CUDA 9.2 and 10.1 */,
        /* NVIDIA's C++ headers (CCCL) that a source brings along: they ask about functions with "...". */
        "-Xclang", "-fcuda-allow-variadic-functions", "-Wno-missing-template-arg-list-after-template-kw",
        "-Wno-pass-failed", "-D__NVCC__=1",
        /* What clang refuses and nvcc, with gcc behind it, only warns of. */
        "-Wno-error=return-mismatch", "-Wno-error=c++11-narrowing", "-Wno-error=register",
        "-Wno-error=reserved-user-defined-literal", "-Wno-error=enum-constexpr-conversion", "-D__CUDACC_VER_MAJOR__=13",
        "-D__CUDACC_VER_MINOR__=0", "-D__CUDACC_VER_BUILD__=0"};
    mr_words_add(words, host_clang(), "");
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        mr_words_add(words, fixed[i], "");
    add_path(words, "-include", places->device, "/millrace_device.h");
    add_path(words, "-I", places->device,
             "/before"); /* before the folders of the command line: it reads the headers of the same names there */
    add_path(words, "-isystem", places->device, "/include");
    add_path(words, "-isystem", places->include, "");
    if (request->serial_openmp)
        add_path(words, "-isystem", places->device, "/serial");
    /* As with nvcc, every source has the runtime's interface. A source that includes it by name finds the header of the
     * device, which is empty. Text that is only preprocessed may become the key of a cache, so it gets no more than it
     * needs. */
    if (request->phase != PHASE_PREPROCESS)
        add_path(words, "-include", places->include, "/cuda_runtime.h");
    words_add_all(words, &request->gpu);
    spelling_words(request, source, words);
    targets_macro(request, words);
    if (request->relocatable) {
        mr_words_add(words, "-fgpu-rdc", "");
        /* It would warn of dynamic shared memory in anonymous namespaces, whose size a launch brings. */
        mr_words_add(words, "-Wno-undefined-internal", "");
        mr_words_add(words, "-D__CUDACC_RDC__=1", "");
        add_unit_name(source, words);
    }
}

static void device_words(const struct request *request, const struct places *places, const char *source,
                         unsigned target, struct mr_words *words)
{
    clang_words(request, places, source, words);
    mr_words_add(words, "--cuda-device-only", "");
    mr_words_add(words, "-fno-builtin-printf", ""); /* millrace_device.h has one that no pass copies */
    if (isatty(STDERR_FILENO)) /* its messages go through a file */
        mr_words_add(words, "-fcolor-diagnostics", "");
    mr_words_add(words, "--cuda-feature=+ptx83", "");
    mr_ptx_arch_clang_words(target, targets_suffix(request, target), words);
    /* CCCL expects __float128 on architectures from 100 on, as nvcc has it. clang has none for devices. */
    mr_words_add(words, "-DCCCL_DISABLE_FLOAT128_SUPPORT", "");
    mr_words_add(words, MR_PTX_UNDEFINED_WORD, "");
    mr_words_add(words, "-O3", "");
    mr_words_add(words, "-ffp-contract=fast", "");
    if (phase_is_device(request->phase)) /* a program that loads the PTX may look for any variable; in a whole program
                                            clang sees which ones the host names */
        mr_words_add(words, "-fkeep-persistent-storage-variables", "");
    if (phase_is_device(request->phase) && target == request->targets[0])
        add_unused_warnings(words);
    words_add_all(words, &request->both);
    words_add_all(words, &request->device);
    cccl_words(request, words);
    mr_ptx_arch_flush_words(words);
    if (request->debug_device) { /* optimised with -dopt on */
        mr_words_add(words, request->optimised_debug ? MR_PTX_LINES_WORD : MR_PTX_VARIABLES_WORD, "");
        if (!request->optimised_debug)
            mr_words_add(words, "-O0", "");
    }
}

/* Variables in the PTX: those local to the source, which the host knows by a longer name or may look for by name, and
 * those that are declared to be elsewhere. And the target, if clang does not know it. */
static int mend_ptx(const struct request *request, unsigned target, const char *output)
{
    struct mr_text ptx = {.data = NULL}, tidied = {.data = NULL}, mended = {.data = NULL}, aimed = {.data = NULL};
    if (request->dry_run)
        return 0;
    bool good = file_read(output, &ptx);
    if (phase_is_device(request->phase))
        mr_ptx_tidy_statics(mr_text_chars(&ptx), &tidied);
    else
        mr_text_put(&tidied, mr_text_chars(&ptx));
    if (request->relocatable)
        mr_ptx_join_statics(mr_text_chars(&tidied), &mended);
    else
        mr_ptx_define_externs(mr_text_chars(&tidied), &mended);
    char suffix = targets_suffix(request, target);
    if (mr_ptx_arch_is_retargeted(target, suffix))
        mr_ptx_retarget(mr_text_chars(&mended), target, suffix, &aimed);
    else
        mr_text_put(&aimed, mr_text_chars(&mended));
    if (good && (tidied.failed || mended.failed || aimed.failed))
        good = complain("out of memory", NULL);
    good = good && (strcmp(mr_text_chars(&ptx), mr_text_chars(&aimed)) == 0 ||
                    file_write(request, output, mr_text_chars(&aimed), aimed.length));
    mr_text_clear(&aimed);
    mr_text_clear(&mended);
    mr_text_clear(&tidied);
    mr_text_clear(&ptx);
    return good ? 0 : 1;
}

/* Whether the output is standard output, whatever it is called. */
static bool is_standard(const char *output)
{
    return strcmp(output, "-") == 0 || strcmp(output, "/dev/stdout") == 0 || strcmp(output, "/dev/fd/1") == 0;
}

/* Whether what is written there can't be read back: standard output, a FIFO, a device. */
static bool is_one_way(const char *output)
{
    struct stat about;
    return is_standard(output) || (stat(output, &about) == 0 && !S_ISREG(about.st_mode));
}

static bool write_output(const struct request *request, const char *output, const struct mr_text *text)
{
    if (!is_standard(output) || request->dry_run)
        return file_write(request, output, mr_text_chars(text), text->length);
    return fwrite(mr_text_chars(text), 1, text->length, stdout) == text->length && fflush(stdout) == 0;
}

/* What went to a file goes where it was meant to go. */
static int show(const struct request *request, const char *path, const char *output)
{
    struct mr_text text = {.data = NULL};
    bool good = request->dry_run || (file_read(path, &text) && write_output(request, output, &text));
    mr_text_clear(&text);
    return good ? 0 : 1;
}

/* Where tables take more constant memory than there is: PTX with those in global memory, as nvcc has it
 * (ptx/constants.h). */
static int move_tables(const struct request *request, const struct mr_words *common, const char *source,
                       unsigned target, const char *output)
{
    struct mr_text ptx = {.data = NULL}, ir = {.data = NULL}, moved = {.data = NULL};
    struct mr_words names = {.items = NULL}, words = {.items = NULL};
    if (request->dry_run)
        return 0;
    int status = file_read(output, &ptx) ? 0 : 1;
    if (status == 0 && mr_ptx_constants_overflow(mr_text_chars(&ptx), &names)) {
        char *file = step_file(request, source, ".tables.ll");
        words_add_all(&words, common);
        const char *const last[] = {"-w", "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes",
                                    "-o", file, "--",         source};
        for (size_t i = 0; i < sizeof last / sizeof *last; i++)
            mr_words_add(&words, last[i], "");
        status = step_run(request, &words, NULL);
        if (status == 0 && !file_read(file, &ir))
            status = 1;
        mr_ir_move_constants(mr_text_chars(&ir), &names, &moved);
        if (status == 0 && (names.failed || moved.failed))
            status = failed("out of memory", NULL);
        if (status == 0 && !file_write(request, file, mr_text_chars(&moved), moved.length))
            status = 1;
        mr_words_clear(&words);
        mr_ir_compiler_words(host_clang(), target, &words);
        words_add_all(&words, &request->device);
        if (request->debug_device && !request->optimised_debug)
            mr_words_add(&words, "-O0", "");
        const char *const end[] = {"-S", "-o", output, "--", file};
        for (size_t i = 0; i < sizeof end / sizeof *end; i++)
            mr_words_add(&words, end[i], "");
        if (status == 0)
            status = step_run(request, &words, NULL);
        mr_free(file);
    }
    mr_words_clear(&words);
    mr_words_clear(&names);
    mr_text_clear(&moved);
    mr_text_clear(&ir);
    mr_text_clear(&ptx);
    return status;
}

/* Runs the compiler; what it says goes to `said`. */
static int run_and_listen(const struct request *request, const struct mr_words *words, const char *source,
                          struct mr_text *said)
{
    char *path = step_file(request, source, ".device.log");
    unlink(path);
    step_messages(path);
    int status = step_run(request, words, NULL);
    step_messages(NULL);
    mr_text_clear(said);
    if (access(path, R_OK) == 0)
        file_read(path, said);
    unlink(path);
    mr_free(path);
    return status;
}

/* What clang says of launches from kernels is told in our words. */
static void tell(const struct request *request, const struct mr_text *said)
{
    struct mr_text told = {.data = NULL};
    mr_launches_tell(mr_text_chars(said), request->relocatable, &told);
    fputs(told.failed ? mr_text_chars(said) : mr_text_chars(&told), stderr);
    mr_text_clear(&told);
}

static void add_last(struct mr_words *words, const char *depends, const char *output, const char *source)
{
    const char *const last[] = {"-S", "-MD", "-MF", depends, "-o", output, "--", source};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(words, last[i], "");
}

/* Compiles by the words in `common`, and where clang refuses that, as a source that is not told of clang, or as a text
 * in another spelling; then `common` is for that, and *text the file of that text. Of two refusals the first is told,
 * unless launches from kernels are among its reasons.
 */
static int compile(const struct request *request, struct mr_words *common, const char *source, const char *depends,
                   const char *output, char **text)
{
    struct mr_words words = {.items = NULL}, again = {.items = NULL}, places = {.items = NULL};
    struct mr_text said = {.data = NULL}, said_again = {.data = NULL};
    words_add_all(&words, common);
    add_last(&words, depends, output, source);
    int status = run_and_listen(request, &words, source, &said);
    if (status != 0 && again_without_name(mr_text_chars(&said), common)) {
        mr_words_clear(&words);
        words_add_all(&words, common);
        add_last(&words, depends, output, source);
        status = run_and_listen(request, &words, source, &said);
    }
    int second = status;
    if (status != 0 && !request->dry_run)
        *text = step_file(request, source, ".again.cu");
    for (const struct mr_text *last = &said;
         second != 0 && !request->dry_run &&
         again_text(request, common, source, mr_text_chars(last), &places, depends, *text, &again);
         last = &said_again) {
        mr_words_clear(&words);
        words_add_all(&words, &again);
        const char *const end[] = {"-S", "-o", output, "--", *text};
        for (size_t i = 0; i < sizeof end / sizeof *end; i++)
            mr_words_add(&words, end[i], "");
        second = run_and_listen(request, &words, source, &said_again);
    }
    bool launches = said_again.data && request->relocatable && mr_launches_has(mr_text_chars(&said));
    tell(request, status != 0 && (second == 0 || launches) ? &said_again : &said);
    if (second == 0 && status != 0) {
        mr_words_clear(common);
        words_add_all(common, &again);
    } else if (*text) {
        mr_free(*text);
        *text = NULL;
    }
    mr_text_clear(&said_again);
    mr_text_clear(&said);
    mr_words_clear(&places);
    mr_words_clear(&again);
    mr_words_clear(&words);
    return second;
}

int device_ptx(const struct request *request, const struct places *places, const char *source, unsigned target,
               const char *output)
{
    struct mr_words common = {.items = NULL};
    char *text = NULL;
    if (nvidia_chosen())
        return nvidia_compile(request, "-ptx", &target, 1, source, output);
    if (request->verbose || request->dry_run) /* build systems look for these words, which NVIDIA's steps have */
        fprintf(stderr, "#$ # PTX by -arch compute_%u\n", target);
    device_words(request, places, source, target, &common);
    char *depends = step_file(request, source, ".device.d"),
         *between = is_one_way(output) ? step_file(request, source, ".device.ptx") : NULL;
    const char *to = between ? between : output;
    int status = compile(request, &common, source, depends, to, &text);
    const char *compiled = text ? text : source;
    if (status != 0)
        cccl_explain(request, &common, source);
    if (status == 0)
        status = move_tables(request, &common, compiled, target, to);
    if (status == 0)
        status = managed_mark(request, places, &common, source, compiled, depends, to);
    if (status == 0)
        status = mend_ptx(request, target, to);
    unlink(depends); /* not one of those that --keep is for */
    if (status == 0 && between)
        status = show(request, between, output);
    mr_words_clear(&common);
    mr_free(text);
    mr_free(between);
    mr_free(depends);
    return status;
}

int device_preprocess(const struct request *request, const struct places *places, const struct input *input)
{
    struct mr_words words = {.items = NULL};
    if (nvidia_chosen())
        return nvidia_compile(request, "-E", request->targets, 1, input->path, request->output);
    device_words(request, places, input->path, request->targets[0], &words);
    mr_words_add(&words, "-E", "");
    if (request->plain_preprocess)
        mr_words_add(&words, "-P", "");
    if (request->output)
        mr_words_add(&words, "-o", "");
    if (request->output)
        mr_words_add(&words, request->output, "");
    mr_words_add(&words, "--", "");
    mr_words_add(&words, input->path, "");
    int status = step_run(request, &words, NULL);
    mr_words_clear(&words);
    return status;
}

/* Checks the text as the driver will when it loads it; the architecture that it states, or 0 after a message. Tells
 * what kernels use if the request wants that. */
static unsigned check_ptx(const struct request *request, const char *path, const struct mr_text *text)
{
    struct mr_program_options options = {.partial = request->relocatable};
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    unsigned target =
        mr_program_check(mr_text_chars(text), text->length, &options, &diag, request->tell_uses ? stderr : NULL);
    if (!target)
        fprintf(stderr, "nvcc (Millrace): error: the device code of %s would not load:\n%s", path,
                mr_ptx_diag_text(&diag));
    mr_ptx_diag_clear(&diag);
    return target;
}

/* Relocatable code is checked when it is linked, unless there is something to tell of it. */
static bool is_checked(const struct request *request)
{
    return !request->dry_run && (!request->relocatable || request->tell_uses);
}

/* The text with the kernels of -e alone in `kept`. They are for an assembler, so PTX alone may hold what it likes. */
static int keep_entries(const struct request *request, const struct mr_text *text, struct mr_text *kept)
{
    size_t wrong;
    struct mr_text said = {.data = NULL};
    enum mr_ptx_entries_result result = mr_ptx_keep_entries(mr_text_chars(text), &request->entries, kept, &wrong);
    if (kept->failed)
        return failed("out of memory", NULL);
    if (result == MR_PTX_ENTRIES_KEPT)
        return 0;
    mr_ptx_entries_explain(result, request->entries.items[wrong], &said);
    fputs(mr_text_chars(&said), stderr);
    mr_text_clear(&said);
    return ASSEMBLER_FAILED;
}

static int check_entries(const struct request *request, const struct mr_text *text)
{
    struct mr_text kept = {.data = NULL};
    int status =
        request->entries.count && request->assembles && !request->dry_run ? keep_entries(request, text, &kept) : 0;
    mr_text_clear(&kept);
    return status;
}

int device_cubin(const struct request *request, const struct places *places, const struct input *input,
                 const char *output)
{
    struct mr_text text = {.data = NULL}, kept = {.data = NULL};
    char *file = step_file(request, input->path, ".cubin.ptx");
    int status = device_ptx(request, places, input->path, request->targets[0], file);
    if (status == 0 && !request->dry_run && !file_read(file, &text))
        status = 1;
    if (status == 0 && is_checked(request) && !check_ptx(request, input->path, &text))
        status = 1;
    if (status == 0 && !request->dry_run && request->entries.count)
        status = keep_entries(request, &text, &kept);
    if (status == 0 && !write_output(request, output, kept.length ? &kept : &text))
        status = 1;
    mr_text_clear(&kept);
    mr_text_clear(&text);
    mr_free(file);
    return status;
}

/* The PTX of one architecture in `text`. */
static int one_text(const struct request *request, const struct places *places, const struct input *input,
                    unsigned target, struct mr_text *text)
{
    char ending[32] = ".ptx";
    if (request->target_count > 1)
        snprintf(ending, sizeof ending, ".compute_%u.ptx", target);
    char *path = step_file(request, input->path, ending);
    int status = device_ptx(request, places, input->path, target, path);
    if (status == 0 && !request->dry_run && !file_read(path, text))
        status = 1;
    if (status == 0 && is_checked(request) && !check_ptx(request, input->path, text))
        status = 1;
    if (status == 0)
        status = check_entries(request, text);
    mr_free(path);
    return status;
}

int device_pack(const struct request *request, const struct places *places, const struct input *input,
                const char *output)
{
    struct mr_text texts[TARGETS_MAX] = {{.data = NULL}};
    struct mr_ptx_pack_entry entries[TARGETS_MAX] = {{.name = NULL}};
    size_t count = 0, size = 0;
    int status = 0;
    if (input->kind == KIND_PTX) {
        unsigned target = file_read(input->path, &texts[0]) ? check_ptx(request, input->path, &texts[0]) : 0;
        status = target ? 0 : 1;
        entries[count++] = (struct mr_ptx_pack_entry){.capability = target};
    } else {
        for (; count < request->target_count && status == 0; count++) {
            status = one_text(request, places, input, request->targets[count], &texts[count]);
            entries[count] = (struct mr_ptx_pack_entry){.capability = request->targets[count]};
        }
    }
    for (size_t i = 0; i < count; i++) {
        entries[i].text = mr_text_chars(&texts[i]);
        entries[i].length = texts[i].length;
        entries[i].name = "millrace-ptx";
    }
    unsigned char *bytes = status == 0 ? mr_ptx_pack(entries, count, &size) : NULL;
    if (status == 0 && (!bytes || !file_write(request, output, bytes, size)))
        status = 1;
    mr_free(bytes);
    for (size_t i = 0; i < count; i++)
        mr_text_clear(&texts[i]);
    return status;
}
