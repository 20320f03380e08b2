/* SPDX-License-Identifier: Apache-2.0 */
/* One compilation: the source is put together, the compiler runs (or the cache answers), and its output is taken apart.
 *
 * A name expression becomes a variable behind the source, initialised with the address of what is named. That
 * instantiates a template, and the assembly then has a line `… mr_nvrtc_name_0 = _Z1kIfEvPT_;`, from which the lowered
 * name is read before the line is dropped. The line marker
 * "__nv_name_map" names the place of an error in an expression. */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/beside.h"
#include "base/log.h"
#include "base/settings.h"
#include "libs/nvrtc/keep.h"
#include "libs/nvrtc/prepare.h"
#include "libs/nvrtc/program.h"
#include "libs/nvrtc/run.h"
#include "ptx/arch.h"
#include "ptx/launches.h"
#include "ptx/statics.h"

#define NAME_MARK "mr_nvrtc_name_"
#define STRINGIFY(x) #x
#define AS_TEXT(x) STRINGIFY(x)

void mr_program_reset(struct _nvrtcProgram *program)
{
    mr_text_clear(&program->ptx);
    mr_text_clear(&program->cubin);
    mr_text_clear(&program->link_time);
    mr_text_clear(&program->log);
    program->good = false;
    for (size_t i = 0; i < program->name_count; i++) {
        mr_free(program->names[i].lowered);
        program->names[i].lowered = NULL;
    }
}

bool mr_program_beside(const char *name, char out[PATH_MAX])
{
    char path[PATH_MAX];
    return mr_beside((void *)mr_program_beside, name, path) && realpath(path, out) != NULL;
}

/* The folder of the device headers: beside the folder of this library in a build, or beside the library where it is
 * installed. */
static bool find_device_folder(char out[PATH_MAX])
{
    bool found = mr_program_beside("../device/millrace_device.h", out) ||
                 mr_program_beside("millrace/device/millrace_device.h", out);
    if (found)
        *strrchr(out, '/') = '\0';
    return found;
}

static void add_marker(struct mr_text *text, const char *name)
{
    mr_text_put(text, "# 1 \"");
    for (const char *at = name; *at; at++)
        if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ')
            mr_text_format(text, "\\%03o", (unsigned char)*at);
        else
            mr_text_add(text, at, 1);
    mr_text_put(text, "\"\n");
}

static void compose(const struct _nvrtcProgram *program, const struct mr_options *options, struct mr_text *text)
{
    if (options->default_device)
        mr_text_put(
            text,
            "#pragma clang diagnostic ignored \"-Wpragma-clang-attribute\"\n#pragma clang force_cuda_host_device begin\n"
            "#pragma clang attribute push(__attribute__((device)), apply_to = variable(is_global))\n");
    add_marker(text, program->name);
    mr_text_put(text, program->source);
    mr_text_put(text, "\n");
    if (options->default_device)
        mr_text_put(text, "#pragma clang attribute pop\n#pragma clang force_cuda_host_device end\n");
    if (program->name_count)
        add_marker(text, "__nv_name_map");
    for (size_t i = 0; i < program->name_count; i++) {
        const char *expression = program->names[i].expression;
        expression += strspn(expression, " \t\n&");
        mr_text_format(text,
                       "extern \"C\" __attribute__((device, used)) const void *const volatile " NAME_MARK
                       "%zu = (const void *)&(",
                       i);
        for (; *expression; expression++)
            mr_text_add(text, *expression == '\n' || *expression == '\r' ? " " : expression, 1);
        mr_text_put(text, ");\n");
    }
}

/* NVIDIA's nvcc, which the shim can run, is no compiler for this library. MILLRACE_NVRTC names one. */
static const char *compiler_name(void)
{
    const char *compiler = mr_setting_text(MR_SETTING_CC), *slash = strrchr(compiler, '/');
    bool clang = *compiler && strcmp(slash ? slash + 1 : compiler, "nvcc") != 0;
    return clang ? compiler : "clang-19";
}

/* The folder of the program's name, if it is to be searched and is there. CuPy names a temporary folder that is gone by
 * then, a new one each time: in the words it would make each compilation one of a kind, for which no compiler waits. */
static bool source_folder(const struct _nvrtcProgram *program, const struct mr_options *options, struct mr_text *path)
{
    const char *slash = strrchr(program->name, '/');
    if (!slash || options->no_source_folder)
        return false;
    mr_text_put(path, *program->name == '@' ? "./" : "");
    mr_text_add(path, program->name, slash == program->name ? 1 : (size_t)(slash - program->name));
    if (path->failed || access(mr_text_chars(path), F_OK) == 0 || errno != ENOENT)
        return true;
    mr_text_clear(path);
    return false;
}

/* A program with Jitify inside hands along headers of the C++ library, written for kernels, as the log tells it that
 * they are missing. NVIDIA's library finds none on the host. Sources that are compiled here without Jitify may use the
 * host's, but the two do not go together. So a program with Jitify's first header finds those of device/alone only. */
static void add_system_words(const struct _nvrtcProgram *program, const char *device, struct mr_words *words)
{
    struct mr_text path = {.data = NULL};
    bool jitify = false;
    for (size_t i = 0; i < program->header_count; i++)
        jitify |= strcmp(program->headers[i].name, "jitify_preinclude.h") == 0;
    if (!jitify)
        return;
    mr_text_format(&path, "%s/alone", device);
    mr_words_add(words, "-nostdinc", "");
    mr_words_add(words, "-nostdinc++", "");
    mr_words_add(words, "-isystem", mr_text_chars(&path));
    words->failed = words->failed || path.failed;
    mr_text_clear(&path);
}

static void compiler_words(const struct _nvrtcProgram *program, const struct mr_options *options, const char *device,
                           struct mr_words *words)
{
    /* NOLINTBEGIN(bugprone-suspicious-missing-comma): words of several texts */
    static const char *const fixed[] = {
        "--no-default-config", "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib",
        "--cuda-path=/nonexistent", "--cuda-feature=+ptx83", "-fdeclspec", "-O3", "-ffp-contract=fast",
        "-fkeep-persistent-storage-variables", "-fno-crash-diagnostics", "-fno-show-column",
        "-fdiagnostics-format=msvc", "-fno-diagnostics-show-line-numbers", "-fno-color-diagnostics",
        "-Wno-error=return-mismatch", "-Wno-error=c++11-narrowing", "-Wno-error=enum-constexpr-conversion",
        "-Wno-c++14-extensions", "-Wno-c++17-extensions", "-Wunused-variable", "--system-header-prefix=cuda/",
        "--system-header-prefix=cub/", "--system-header-prefix=thrust/", "-D__CUDACC_RTC__=1",
        "-D__CUDACC_VER_MAJOR__=" AS_TEXT(MR_NVRTC_MAJOR), "-D__CUDACC_VER_MINOR__=" AS_TEXT(MR_NVRTC_MINOR),
        "-D__CUDACC_VER_BUILD__=0",
        /* What NVIDIA's C++ headers (CCCL) ask of a compiler that says it is clang. */
        "-DCUDA_VERSION=" AS_TEXT(MR_NVRTC_MAJOR) "0" AS_TEXT(MR_NVRTC_MINOR) "0",
        "-DCUDART_VERSION=" AS_TEXT(MR_NVRTC_MAJOR) "0" AS_TEXT(MR_NVRTC_MINOR) "0", "-DCCCL_DISABLE_NVFP8_SUPPORT=1",
        "-D__CORRECT_ISO_CPP_STRING_H_PROTO=1", "-Xclang", "-fcuda-allow-variadic-functions",
        "-fno-builtin-printf", /* millrace_device.h has one that no pass copies */
        /* Nobody unrolls loops whose count is not known: the driver compiles for another machine than the PTX's, and
         * this would double the time that compiling takes. */
        "-mllvm", "-unroll-runtime=false"};
    /* NOLINTEND(bugprone-suspicious-missing-comma) */
    mr_words_add(words, compiler_name(), "");
    if (program->header_count)
        mr_words_add(words, "-I", "in-memory");
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        mr_words_add(words, fixed[i], "");
    mr_words_add(words, "-std=", options->standard);
    mr_ptx_arch_clang_words(options->capability, options->suffix, words);
    mr_words_add(words, MR_PTX_UNDEFINED_WORD, "");
    add_system_words(program, device, words);
    struct mr_text path = {.data = NULL};
    mr_text_format(&path, "%s/millrace_device.h", device);
    mr_words_add(words, "-include", mr_text_chars(&path));
    words->failed = words->failed || path.failed;
    mr_text_clear(&path);
    /* Before the program's folders: a client may bring NVIDIA's cuda_fp16.h and the like, which are written for another
     * compiler's built-ins. */
    mr_text_format(&path, "%s/include", device);
    mr_words_add(words, "-I", mr_text_chars(&path));
    words->failed = words->failed || path.failed;
    mr_text_clear(&path);
    for (size_t i = 0; i < options->words.count; i++)
        mr_words_add(words, options->words.items[i], "");
    mr_ptx_arch_flush_words(words);
    if (source_folder(program, options, &path)) {
        mr_words_add(words, "-I", mr_text_chars(&path));
        words->failed = words->failed || path.failed;
        mr_text_clear(&path);
    }
}

/* A line of the compiler's as NVRTC words it, where programs read it: some (jitify) look for a header that was not
 * found, and then compile again. */
static void add_message(struct mr_text *log, const char *line, size_t whole)
{
    size_t place, length;
    const char *name = mr_prepare_missing_name(line, whole, &place, &length);
    if (!name) {
        mr_text_add(log, line, whole);
        return;
    }
    mr_text_add(log, line, place);
    mr_text_format(log, ": catastrophic error: cannot open source file \"%.*s\"\n", (int)length, name);
}

/* The compiler's messages as NVRTC's log: its closing count of errors is replaced by one that names the program. */
static void make_log(struct _nvrtcProgram *program, const struct mr_text *messages)
{
    unsigned errors = 0;
    for (const char *at = mr_text_chars(messages); *at;) {
        size_t length = strcspn(at, "\n"), whole = length + (at[length] == '\n');
        bool summary = length && strspn(at, "0123456789") && memmem(at, length, " generated when compiling for ", 30);
        if (memmem(at, length, ": error: ", 9) || memmem(at, length, ": fatal error: ", 15))
            errors++;
        if (!summary)
            add_message(&program->log, at, whole);
        at += whole;
    }
    if (errors)
        mr_text_format(&program->log, "\n%u error%s detected in the compilation of \"%s\".\n", errors,
                       errors == 1 ? "" : "s", program->name);
}

/* The symbol in `… = generic(symbol);` or `… = symbol;`. */
static char *lowered_name(const char *line, size_t length)
{
    const char *begin = memmem(line, length, "= ", 2), *end = line + length;
    if (!begin)
        return NULL;
    begin += 2;
    if (end - begin > 8 && strncmp(begin, "generic(", 8) == 0)
        begin += 8;
    size_t size = strcspn(begin, ");+");
    char *name = mr_alloc(size + 1);
    if (name) {
        memcpy(name, begin, size);
        name[size] = '\0';
    }
    return name;
}

bool mr_program_take_names(struct _nvrtcProgram *program, const struct mr_text *ptx)
{
    for (const char *at = mr_text_chars(ptx); *at;) {
        size_t length = strcspn(at, "\n"), whole = length + (at[length] == '\n');
        const char *mark = program->name_count ? memmem(at, length, NAME_MARK, strlen(NAME_MARK)) : NULL;
        size_t number = mark ? strtoul(mark + strlen(NAME_MARK), NULL, 10) : SIZE_MAX;
        if (number >= program->name_count) {
            mr_text_add(&program->ptx, at, whole);
        } else if (memmem(at, length, "= ", 2) && !program->names[number].lowered) {
            program->names[number].lowered = lowered_name(at, length);
            if (!program->names[number].lowered)
                return false;
        }
        at += whole;
    }
    return !program->ptx.failed;
}

static bool place_headers(struct mr_words *words, const char *search)
{
    struct mr_text word = {.data = NULL};
    mr_text_format(&word, "-I%s", search);
    if (word.failed)
        return false;
    mr_free(words->items[MR_HEADERS_AT]);
    words->items[MR_HEADERS_AT] = word.data;
    return true;
}

/* Runs the compiler: in a process that waits for this, or with precompiled headers, if that can be. A failure there is
 * tried again without: the headers may be damaged, and a waiting process words some messages in another way. If a
 * header is missing, nothing is tried again. Of precompiled headers clang tells debuggers less, so -G does without. */
static enum mr_run_status run_compiler(struct mr_run *run, struct mr_words *words, const char *device,
                                       const struct mr_folder *folder, bool keep)
{
    struct mr_words faster = {.items = NULL};
    char path[PATH_MAX];
    keep = keep && !mr_words_have(words, MR_PTX_VARIABLES_WORD, strlen(MR_PTX_VARIABLES_WORD));
    enum mr_run_status status = keep ? mr_prepare_run_waiting(run, words, device, folder) : MR_RUN_FAILED;
    if (status == MR_RUN_FAILED && mr_prepare_header_missing(&run->messages))
        return status;
    bool precompiled = keep && status == MR_RUN_FAILED && mr_prepare_precompiled(words, device, &faster, path);
    mr_prepare_last_words(words);
    mr_prepare_last_words(&faster);
    if (precompiled && !faster.failed) {
        run->words = faster.items;
        status = mr_run(run);
    }
    if (status == MR_RUN_FAILED && !mr_prepare_header_missing(&run->messages)) {
        mr_run_forget(run);
        run->words = words->items;
        run->reason = ENOMEM;
        status = words->failed ? MR_RUN_NOT_STARTED : mr_run(run);
        if (status == MR_RUN_DONE && precompiled)
            unlink(path);
    }
    mr_words_clear(&faster);
    return status;
}

/* Programs that look for headers themselves (jitify) compile hundreds of times to learn the names of those that are
 * missing, one at a time. So after a compilation that ended at a missing header, the next one anywhere in the process
 * begins with the preprocessor alone, which comes to the next such header in a fifth of the time. */
static enum mr_run_status look_and_run(struct mr_run *run, struct mr_words *words, const char *device,
                                       const struct mr_folder *folder, bool keep)
{
    static atomic_bool looking;
    enum mr_run_status status = MR_RUN_DONE;
    if (atomic_load_explicit(&looking, memory_order_relaxed)) {
        status = mr_prepare_run_preprocessor(run, words);
        if (status == MR_RUN_CANCELLED || (status == MR_RUN_FAILED && mr_prepare_header_missing(&run->messages)))
            return status;
        mr_run_forget(run);
    }
    status = run_compiler(run, words, device, folder, keep);
    atomic_store_explicit(&looking, status == MR_RUN_FAILED && mr_prepare_header_missing(&run->messages),
                          memory_order_relaxed);
    return status;
}

/* Whether another way of compiling may do. A missing header is missing in each. */
static bool is_refused(enum mr_run_status status, const struct mr_run *run)
{
    return status == MR_RUN_FAILED && !mr_prepare_header_missing(&run->messages);
}

/* What clang refused is compiled in other ways, one after the other. */
static enum mr_run_status mend(enum mr_run_status status, struct mr_run *run, struct mr_words *words,
                               struct mr_text *source, const char *device, const struct mr_options *options)
{
    const char *launches = options->relocatable ? device : NULL;
    const bool move_forward = !options->no_move_forward;
    if (is_refused(status, run))
        status = mr_again(run, words, source, launches, move_forward);
    if (!is_refused(status, run))
        return status;
    status = mr_again_with_late_templates(run, words);
    return is_refused(status, run) ? mr_again(run, words, source, launches, move_forward) : status;
}

/* clang kept every variable, for the host may look for it: takes out those that it cannot look for. Then names the
 * target that was asked for, if clang does not make code for it. */
static void tidy_output(struct mr_run *run, const struct mr_options *options)
{
    struct mr_text tidied = {.data = NULL}, aimed = {.data = NULL};
    mr_ptx_tidy_statics(mr_text_chars(&run->output), &tidied);
    mr_text_clear(&run->output);
    run->output = tidied;
    if (!mr_ptx_arch_is_retargeted(options->capability, options->suffix))
        return;
    mr_ptx_retarget(mr_text_chars(&tidied), options->capability, options->suffix, &aimed);
    mr_text_clear(&tidied);
    run->output = aimed;
}

/* Code that is linked with no other has its own of all that it declares. */
static void define_externs(struct mr_text *ptx)
{
    struct mr_text defined = {.data = NULL};
    mr_ptx_define_externs(mr_text_chars(ptx), &defined);
    mr_text_clear(ptx);
    *ptx = defined;
}

/* Compiles, or finds what the compiler said before. */
static enum mr_made produce(struct _nvrtcProgram *program, const struct mr_options *options, struct mr_run *run,
                            const char *device)
{
    struct mr_text source = {.data = NULL};
    struct mr_words words = {.items = NULL};
    struct mr_folder folder = {.root = ""};
    struct mr_cache_key key;
    struct timespec begun;
    enum mr_made made = MR_MADE_NO_MEMORY;
    clock_gettime(CLOCK_REALTIME_COARSE, &begun);
    compose(program, options, &source);
    compiler_words(program, options, device, &words);
    if (source.failed || words.failed)
        goto done;
    bool keep = mr_keep_key(program, &source, &words, device, &key);
    made = MR_MADE;
    if (keep && mr_keep_find(key, &run->output, &run->messages))
        goto done;
    made = MR_MADE_BAD_SOURCE;
    if (!mr_folder_make(&folder, program, &program->log))
        goto done;
    made = MR_MADE_NO_MEMORY;
    if (folder.search[0] && !place_headers(&words, folder.search))
        goto done;
    run->input = source.data;
    run->input_length = source.length;
    enum mr_run_status status = look_and_run(run, &words, device, &folder, keep);
    status = mend(status, run, &words, &source, device, options);
    if (status == MR_RUN_DONE)
        status = mr_tables_move(run, &words, options->capability);
    if (status == MR_RUN_DONE)
        status = mr_managed_mark(program, run, &words, device);
    if (status == MR_RUN_DONE)
        tidy_output(run, options);
    if (status == MR_RUN_NOT_STARTED) {
        mr_text_format(&program->log, "nvrtc: error: cannot start the compiler '%s': %s%s\n", words.items[0],
                       strerror(run->reason),
                       run->reason == ENOENT ? "; on Debian it is in the package clang-19 (apt-get install clang-19)"
                                             : "");
        mr_log(MR_LOG_ERROR, "nvrtcCompileProgram: cannot start the compiler '%s': %s%s", words.items[0],
               strerror(run->reason),
               run->reason == ENOENT ? "; on Debian it is in the package clang-19 (apt-get install clang-19)" : "");
    }
    made = status == MR_RUN_DONE        ? MR_MADE
           : status == MR_RUN_FAILED    ? MR_MADE_BAD_SOURCE
           : status == MR_RUN_CANCELLED ? MR_MADE_CANCELLED
           : run->reason == ENOMEM      ? MR_MADE_NO_MEMORY
                                        : MR_MADE_NO_COMPILER;
    if (keep && made == MR_MADE && !run->output.failed && !run->messages.failed)
        mr_keep_store(key, &run->output, &run->messages, &run->depends, folder.root, begun);
done:
    mr_folder_remove(&folder);
    mr_words_clear(&words);
    mr_text_clear(&source);
    return made;
}

/* Code for the linker is the PTX in its container; the program has neither PTX nor a cubin then. */
static void keep_for_linker(struct _nvrtcProgram *program, unsigned capability)
{
    mr_cubin_make(&program->link_time, &program->ptx, capability);
    mr_text_clear(&program->ptx);
}

enum mr_made mr_program_compile(struct _nvrtcProgram *program, int option_count, const char *const *words)
{
    struct mr_options options;
    struct mr_run run = {.cancel = program->cancel, .cancel_data = program->cancel_data};
    char device[PATH_MAX];
    enum mr_made made;
    mr_program_reset(program);
    if (mr_other_chosen())
        return mr_other_compile(program, option_count, words);
    if (!mr_options_read(&options, option_count, words, &program->log)) {
        made = options.words.failed || program->log.failed ? MR_MADE_NO_MEMORY : MR_MADE_BAD_OPTION;
        goto done;
    }
    program->compiled = true;
    if (!find_device_folder(device)) {
        mr_text_put(&program->log,
                    "nvrtc: error: millrace_device.h is not beside libnvrtc; build or install Millrace again\n");
        mr_log(MR_LOG_ERROR,
               "nvrtcCompileProgram: millrace_device.h is not beside libnvrtc; build or install Millrace again");
        made = MR_MADE_NO_COMPILER;
        goto done;
    }
    made = produce(program, &options, &run, device);
    struct mr_text told = {.data = NULL};
    mr_launches_tell(mr_text_chars(&run.messages), options.relocatable, &told);
    make_log(program, &told);
    run.messages.failed = run.messages.failed || told.failed;
    mr_text_clear(&told);
    if (made == MR_MADE && !options.relocatable)
        define_externs(&run.output);
    if (made == MR_MADE && !mr_program_take_names(program, &run.output))
        made = MR_MADE_NO_MEMORY;
    if (made == MR_MADE && options.real && !options.link_time)
        mr_cubin_make(&program->cubin, &program->ptx, options.capability);
    if (made == MR_MADE && options.real && options.tell_uses)
        mr_uses_tell(program);
    if (made == MR_MADE && options.link_time)
        keep_for_linker(program, options.capability);
    if (run.output.failed || run.messages.failed || program->log.failed || program->cubin.failed ||
        program->link_time.failed)
        made = MR_MADE_NO_MEMORY;
    if (made == MR_MADE)
        program->good = true;
    else {
        mr_text_clear(&program->ptx);
        mr_text_clear(&program->cubin);
        mr_text_clear(&program->link_time);
    }
done:
    mr_run_forget(&run);
    mr_options_clear(&options);
    return made;
}
