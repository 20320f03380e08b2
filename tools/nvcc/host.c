/* SPDX-License-Identifier: Apache-2.0 */
/* The host half of a source, and what has no device code: compiling and linking.
 *
 * clang compiles the host half of CUDA C++ itself, with the fat binary in the object and code that registers it with
 * the runtime library. C and C++ sources and the link are the host compiler's: clang, or what -ccbin names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "bodies.h"
#include "shim.h"

const char *host_program(const struct request *request)
{
    const char *compiler = mr_setting_text(MR_SETTING_CC);
    if (request->host_compiler)
        return request->host_compiler;
    return *compiler && !nvidia_chosen() ? compiler : "clang-19";
}

static bool is_clang(const char *program)
{
    const char *slash = strrchr(program, '/');
    return strncmp(slash ? slash + 1 : program, "clang", 5) == 0;
}

/* The host compiler's first words. A compiler for C compiles and links C++ as well when it is told the language;
 * libraries are added at the link. */
static void begin_host(const struct request *request, struct mr_words *words)
{
    const char *program = host_program(request);
    mr_words_add(words, program, "");
    if (is_clang(program))
        mr_words_add(words, "--no-default-config", "");
}

int host_answers(const struct request *request)
{
    struct mr_words words = {.items = NULL};
    begin_host(request, &words);
    words_add_all(&words, &request->questions);
    words_check(&words);
    int status = step_run(request, &words, NULL);
    mr_words_clear(&words);
    return status;
}

/* The file of dependencies and the target in it are named after the output, or after the source and its object,
 * whatever the phase makes, as with nvcc. */
static void add_dependency_words(const struct request *request, const struct input *input, const char *option,
                                 struct mr_words *words)
{
    const char *output = request->output, *slash = output ? strrchr(output, '/') : NULL;
    char *object = output_path(request, input->path, ".o"),
         *file = output ? output_name(output, ".d") : output_path(request, input->path, ".d");
    struct mr_text path = {.data = NULL};
    if (slash)
        mr_text_add(&path, output, (size_t)(slash + 1 - output));
    mr_text_put(&path, file);
    mr_words_add(words, option, "");
    mr_words_add(words, "-MF", "");
    mr_words_add(words, request->dependency_file ? request->dependency_file : mr_text_chars(&path), "");
    mr_words_add(words, "-MT", "");
    mr_words_add(words, request->dependency_target ? request->dependency_target : output ? output : object, "");
    if (request->dependency_phony)
        mr_words_add(words, "-MP", "");
    mr_text_clear(&path);
    mr_free(object);
    mr_free(file);
}

void host_check_words(const struct request *request, bool clang, struct mr_words *words)
{
    static const char *const by_clang[] = {"-fsanitize=kernel-address",
                                           "-mllvm",
                                           "-asan-instrumentation-with-call-threshold=0",
                                           "-mllvm",
                                           "-asan-stack=0",
                                           "-mllvm",
                                           "-asan-globals=0",
                                           "-mllvm", /* a known place of a variable is told of as others are */
                                           "-asan-opt-globals=0",
                                           "-mllvm", /* a store is told of beside a load of the same place */
                                           "-asan-opt-same-temp=0",
                                           "-mllvm",
                                           "-asan-kernel-mem-intrinsic-prefix=1"};
    static const char *const by_gcc[] = {"-fsanitize=kernel-address",
                                         "--param",
                                         "asan-instrumentation-with-call-threshold=0",
                                         "--param",
                                         "asan-stack=0",
                                         "--param",
                                         "asan-globals=0"};
    const char *const *list = clang ? by_clang : by_gcc;
    size_t count = clang ? sizeof by_clang / sizeof *by_clang : sizeof by_gcc / sizeof *by_gcc;
    for (size_t i = 0; i < count && request->check; i++)
        mr_words_add(words, list[i], "");
    if (request->check) /* which calls other functions of the C library than those that are seen */
        mr_words_add(words, "-U_FORTIFY_SOURCE", "");
}

/* Where the libraries are: the runtime library inside of a program looks there for the driver. */
static void add_libraries(const struct places *places, struct mr_words *words)
{
    struct mr_text word = {.data = NULL};
    mr_text_put(&word, "-DMILLRACE_LIBRARIES=\"");
    for (const char *at = places->libraries; *at; at++) {
        if (*at == '"' || *at == '\\')
            mr_text_put(&word, "\\");
        mr_text_add(&word, at, 1);
    }
    mr_text_put(&word, "\"");
    mr_words_add(words, mr_text_chars(&word), "");
    words->failed = words->failed || word.failed;
    mr_text_clear(&word);
}

static void host_half(const struct request *request, const struct places *places, const char *path,
                      struct mr_words *words)
{
    clang_words(request, places, path, words);
    mr_words_add(words, "--cuda-host-only", "");
    add_libraries(places, words);
    if (isatty(STDERR_FILENO)) /* its messages go through a file */
        mr_words_add(words, "-fcolor-diagnostics", "");
    add_unused_warnings(words);
    words_add_all(words, &request->both);
    words_add_all(words, &request->host);
    cccl_words(request, words);
    host_check_words(request, true, words);
}

static void plain_half(const struct request *request, const struct places *places, const struct input *input,
                       struct mr_words *words)
{
    struct mr_text path = {.data = NULL};
    begin_host(request, words);
    mr_words_add(words, "-x", "");
    mr_words_add(words, input->kind == KIND_C ? "c" : "c++", "");
    for (size_t i = 0; i < request->both.count; i++) /* a standard of C++ is not for C */
        if (input->kind != KIND_C || strncmp(request->both.items[i], "-std=c++", 8) != 0)
            mr_words_add(words, request->both.items[i], "");
    words_add_all(words, &request->host);
    host_check_words(request, is_clang(host_program(request)), words);
    bool parallel = request->serial_openmp && !is_clang(host_program(request));
    if (parallel)
        mr_words_add(words, "-fopenmp", "");
    else if (request->serial_openmp)
        mr_text_format(&path, "-isystem%s/serial", places->device);
    if (path.length)
        mr_words_add(words, mr_text_chars(&path), "");
    mr_text_clear(&path);
    mr_words_add(words, "-isystem", places->include);
    mr_text_format(&path, "-isystem%s/include", places->device);
    mr_words_add(words, mr_text_chars(&path), "");
    words->failed = words->failed || path.failed;
    mr_text_clear(&path);
}

/* The name of a source as a word that is no option. */
static void add_source(const struct input *input, struct mr_words *words)
{
    mr_words_add(words, *input->path == '-' ? "./" : "", input->path);
}

/* The host half of CUDA C++, in `path`: the source, or what it was made into. */
static int cuda_half(const struct request *request, const struct mr_words *words, const struct input *input,
                     const char *path, const char *output)
{
    struct mr_words run = {.items = NULL};
    if (managed_known(input->path))
        return managed_object(request, words, path, output);
    words_add_all(&run, words);
    const char *const last[] = {"-o", output, "--", path};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(&run, last[i], "");
    int status = step_run(request, &run, NULL);
    mr_words_clear(&run);
    return status;
}

/* How many errors a file of messages has; all the numbers that there are if it can't be read. */
static unsigned count_errors(const char *path)
{
    struct mr_text text = {.data = NULL};
    unsigned count = 0;
    if (access(path, R_OK) != 0 || !file_read(path, &text))
        return UINT_MAX;
    for (const char *at = mr_text_chars(&text); (at = strstr(at, "error: ")) != NULL; at++)
        count++;
    mr_text_clear(&text);
    return count;
}

static void show_messages(const char *path)
{
    struct mr_text text = {.data = NULL};
    if (access(path, R_OK) == 0 && file_read(path, &text))
        fputs(mr_text_chars(&text), stderr);
    mr_text_clear(&text);
}

/* Compiles, and what is said goes to a file. A source that doesn't take clang is compiled without clang's name; then
 * `words` has the words for that. */
static int named_half(const struct request *request, struct mr_words *words, const struct input *input,
                      const char *output, const char *log)
{
    struct mr_text said = {.data = NULL};
    unlink(log);
    step_messages(log);
    int status = cuda_half(request, words, input, input->path, output);
    if (status != 0 && access(log, R_OK) == 0 && file_read(log, &said) &&
        again_without_name(mr_text_chars(&said), words)) {
        unlink(log);
        step_messages(log);
        status = cuda_half(request, words, input, input->path, output);
    }
    mr_text_clear(&said);
    return status;
}

/* A host half that clang refuses is tried again without the bodies of device functions. Of two refusals the one with
 * fewer errors is shown. */
static int cuda_object(const struct request *request, struct mr_words *words, const struct input *input,
                       const char *output)
{
    struct mr_words again = {.items = NULL};
    char *first = step_file(request, input->path, ".host.log"), *second = step_file(request, input->path, ".again.log"),
         *text = step_file(request, input->path, ".again.cui");
    int status = named_half(request, words, input, output, first);
    bool both = false;
    unlink(second);
    if (status != 0) {
        step_messages(second);
        both = bodies_text(request, words, input->path, first, text, &again);
    }
    if (both) {
        step_messages(second);
        status = cuda_half(request, &again, input, text, output);
    }
    step_messages(NULL);
    show_messages(both && (status == 0 || count_errors(second) < count_errors(first)) ? second : first);
    unlink(first);
    unlink(second);
    mr_words_clear(&again);
    mr_free(first);
    mr_free(second);
    mr_free(text);
    return status;
}

int host_object(const struct request *request, const struct places *places, const struct input *input,
                const char *output)
{
    struct mr_words words = {.items = NULL};
    int status = 0;
    if (input->kind == KIND_CUDA && nvidia_chosen() && request->check)
        return failed("--check needs clang for the host's half, not NVIDIA's nvcc", input->path);
    if (input->kind == KIND_CUDA && nvidia_chosen())
        return nvidia_compile(request, request->relocatable ? "-dc" : "-c", request->targets, request->target_count,
                              input->path, output);
    if (input->kind == KIND_CUDA) {
        char *packed = step_file(request, input->path, ".fatbin");
        status = device_pack(request, places, input, packed);
        host_half(request, places, input->path, &words);
        const char *const embed[] = {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", packed};
        for (size_t i = 0; i < sizeof embed / sizeof *embed; i++)
            mr_words_add(&words, embed[i], "");
        mr_free(packed);
    } else {
        plain_half(request, places, input, &words);
    }
    if (request->write_dependencies)
        add_dependency_words(request, input, request->system_dependencies ? "-MD" : "-MMD", &words);
    mr_words_add(&words, "-c", "");
    if (input->kind == KIND_CUDA) {
        status = status == 0 ? cuda_object(request, &words, input, output) : status;
        mr_words_clear(&words);
        return status;
    }
    mr_words_add(&words, "-o", "");
    mr_words_add(&words, output, "");
    add_source(input, &words);
    if (status == 0)
        status = step_run(request, &words, NULL);
    mr_words_clear(&words);
    return status;
}

int host_dependencies_beside(const struct request *request, const struct places *places, const struct input *input)
{
    struct mr_words words = {.items = NULL};
    host_half(request, places, input->path, &words);
    add_dependency_words(request, input, request->system_dependencies ? "-M" : "-MM", &words);
    add_source(input, &words);
    int status = step_run(request, &words, NULL);
    mr_words_clear(&words);
    return status;
}

int host_dependencies(const struct request *request, const struct places *places, const struct input *input)
{
    struct mr_words words = {.items = NULL};
    if (input->kind == KIND_CUDA)
        host_half(request, places, input->path, &words);
    else
        plain_half(request, places, input, &words);
    mr_words_add(&words, request->system_dependencies ? "-M" : "-MM", "");
    const char *const values[][2] = {
        {"-MT", request->dependency_target}, {"-MF", request->dependency_file}, {"-o", request->output}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i][1]) {
            mr_words_add(&words, values[i][0], "");
            mr_words_add(&words, values[i][1], "");
        }
    if (request->dependency_phony)
        mr_words_add(&words, "-MP", "");
    add_source(input, &words);
    int status = step_run(request, &words, NULL);
    mr_words_clear(&words);
    return status;
}

static void add_runtime(const struct request *request, const struct places *places, struct mr_words *words)
{
    mr_words_add(words, "-Wl,--enable-new-dtags,-rpath,", places->libraries);
    if (strcmp(request->runtime, "none") == 0)
        return;
    if (strcmp(request->runtime, "shared") == 0) {
        mr_words_add(words, "-lcudart", "");
        return;
    }
    static const char *const with[] = {"-lcudart_static", "-ldl", "-lpthread", "-lrt"};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        mr_words_add(words, with[i], "");
}

/* What the calls are: libmillrace_host. */
static void add_check_library(const struct request *request, struct mr_words *words)
{
    if (!request->check)
        return;
    mr_words_add(words, "-lmillrace_host", "");
    mr_words_add(words, "-Wl,--export-dynamic-symbol=millrace_host", "");
    if (!is_clang(host_program(request)))
        mr_words_add(words, "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset", "");
#define WRAPPED(name) mr_words_add(words, "-Wl,--wrap=" #name, "");
#include "libs/host/wrapped.def"
#undef WRAPPED
}

/* clang's objects call libomp, which has the functions of GCC's libgomp, too: it stands before that, so that a program
 * has one of the two. It is left out where nothing calls it. */
static void add_libomp(struct mr_words *words)
{
    const char *libomp = guard_libomp();
    if (!libomp)
        return;
    mr_words_add(words, "-Wl,--push-state,--as-needed", "");
    mr_words_add(words, libomp, "");
    mr_words_add(words, "-Wl,--pop-state", "");
}

/* Whether a word of the link's items is an option: a library or a folder of libraries. Others are files. */
static bool is_library(const char *word)
{
    return word && *word == '-';
}

/* Whether the program is linked with more than the runtime library. */
static bool names_libraries(const struct request *request)
{
    bool names = request->check;
    for (size_t i = 0; i < request->item_count && !names; i++)
        names = is_library(request->items[i].word);
    return names || request->linking.count > 0 || request->linker.count > 0;
}

/* The files, or the libraries, of the command line. */
static void add_items(const struct request *request, char *const *objects, bool libraries, struct mr_words *words)
{
    for (size_t i = 0; i < request->item_count; i++) {
        const char *word = request->items[i].word;
        if (is_library(word) != libraries)
            continue;
        if (libraries && strcmp(word, "-lgomp") == 0)
            add_libomp(words);
        mr_words_add(words, word ? word : objects[request->items[i].input], "");
    }
}

/* As with nvcc, files come first, then what -Xlinker says, then libraries; an archive is looked at until it brings
 * nothing more, wherever it stands. */
int host_link(const struct request *request, const struct places *places, char *const *objects,
              const char *device_object)
{
    struct mr_words words = {.items = NULL};
    begin_host(request, &words);
    if (request->shared)
        mr_words_add(&words, "-shared", "");
    if (request->serial_openmp && !is_clang(host_program(request)))
        mr_words_add(&words, "-fopenmp", "");
    /* Before the folders of the command line, which may be another toolkit's. */
    mr_words_add(&words, "-L", places->root);
    mr_words_add(&words, "-L", places->runtime);
    if (names_libraries(request))
        mr_words_add(&words, "-L", places->libraries);
    words_add_all(&words, &request->linking);
    mr_words_add(&words, "-Wl,--start-group", "");
    add_items(request, objects, false, &words);
    words_add_all(&words, &request->linker);
    add_items(request, objects, true, &words);
    bool parallel = false;
    for (size_t i = 0; i < request->linking.count; i++)
        parallel |= strcmp(request->linking.items[i], "-fopenmp") == 0;
    if (parallel && !is_clang(host_program(request)))
        add_libomp(&words);
    if (device_object)
        mr_words_add(&words, device_object, "");
    add_runtime(request, places, &words);
    add_check_library(request, &words);
    mr_words_add(&words, "-Wl,--end-group", "");
    mr_words_add(&words, "-lstdc++", "");
    mr_words_add(&words, "-lm", "");
    mr_words_add(&words, "-o", "");
    mr_words_add(&words, request->output ? request->output : request->shared ? "a.so" : "a.out", "");
    int status = step_run(request, &words, NULL);
    mr_words_clear(&words);
    return status;
}

int host_archive(const struct request *request, char *const *objects)
{
    struct mr_words words = {.items = NULL};
    mr_words_add(&words, request->archiver ? request->archiver : "ar", "");
    mr_words_add(&words, "rcs", "");
    mr_words_add(&words, request->output ? request->output : "a.a", "");
    for (size_t i = 0; i < request->input_count; i++)
        mr_words_add(&words, objects[i], "");
    int status = step_run(request, &words, NULL);
    mr_words_clear(&words);
    return status;
}
