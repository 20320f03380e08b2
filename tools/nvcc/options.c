/* SPDX-License-Identifier: Apache-2.0 */
/* nvcc's options.
 *
 * The table maps each spelling to what becomes of it. An option with a value takes it as the next word, after '=', or (one-letter options) attached;
 * one without takes "=true" and "=false" too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ptx/arch.h"
#include "shim.h"

bool complain(const char *what, const char *word)
{
    fprintf(stderr, "nvcc (Millrace): error: %s%s%s%s\n", what, word ? " '" : "", word ? word : "", word ? "'" : "");
    return false;
}

int failed(const char *what, const char *word)
{
    complain(what, word);
    return 1;
}

enum action {
    SET_PHASE, SET_OUTPUT, SET_OUTPUT_FOLDER, SET_ARCH, SET_CODE, GENCODE, SET_LANGUAGE, SET_CCBIN, SET_KEEP, SET_KEEP_FOLDER, SET_RUNTIME, SET_RDC, SET_STREAM,
    SET_MACHINE, SET_DEPENDENCIES, SET_DEPENDENCY_FILE, SET_DEPENDENCY_TARGET, SET_PHONY, SET_SHARED, SET_FORWARD, DEVICE_C, DEVICE_W,
    BOTH,          /* clang's `text`, for both halves */
    BOTH_VALUE,    /* with the value attached */
    DEVICE, DEVICE_BOOLEAN,   /* for the device's half; `text` for true, `other` for false */
    HOST_TEXT,     /* for the host's half */
    DEBUG_DEVICE,
    LEVEL,         /* -O0 … -O3 */
    ERRORS,        /* kinds of warnings that are errors */
    HOST, LINKER, ASSEMBLER, FRONT, PACKER,   /* a comma list of another program's options */
    DIAGNOSTICS,   /* a comma list of numbers; `text` goes before clang's names for them */
    LINK_VALUE,    /* `text` with the value attached, in its place on the linker's command line */
    NOTHING,       /* without effect on code that the CPU runs; takes no value */
    NOTHING_VALUE, NOTHING_NUMBER, NOTHING_BOOLEAN,
    VERBOSE, DRY_RUN, TELL_USES, EVERY_TARGET,
    OPTIONS_FILE,  /* more words, of this same language */
    REFUSE,        /* `text` says why */
};

static const struct option {
    const char *name, *other_name;
    enum action action;
    int detail;
    const char *text, *other;
} options[] = {
    { "--version", "-V", SET_PHASE, PHASE_VERSION, NULL, NULL },
    { "--help", "-h", SET_PHASE, PHASE_HELP, NULL, NULL },
    { "--preprocess", "-E", SET_PHASE, PHASE_PREPROCESS, NULL, NULL },
    { "--ptx", "-ptx", SET_PHASE, PHASE_PTX, NULL, NULL },
    { "--cubin", "-cubin", SET_PHASE, PHASE_CUBIN, NULL, NULL },
    { "--fatbin", "-fatbin", SET_PHASE, PHASE_FATBIN, NULL, NULL },
    { "--compile", "-c", SET_PHASE, PHASE_OBJECT, NULL, NULL },
    { "--link", "-link", SET_PHASE, PHASE_LINK, NULL, NULL },
    { "--lib", "-lib", SET_PHASE, PHASE_ARCHIVE, NULL, NULL },
    { "--device-link", "-dlink", SET_PHASE, PHASE_DEVICE_LINK, NULL, NULL },
    { "--device-c", "-dc", DEVICE_C, 0, NULL, NULL },
    { "--device-w", "-dw", DEVICE_W, 0, NULL, NULL },
    { "--generate-dependencies", "-M", SET_PHASE, PHASE_DEPENDENCIES, "system", NULL },
    { "--generate-nonsystem-dependencies", "-MM", SET_PHASE, PHASE_DEPENDENCIES, NULL, NULL },
    { "--generate-dependencies-with-compile", "-MD", SET_DEPENDENCIES, 1, NULL, NULL },
    { "--generate-nonsystem-dependencies-with-compile", "-MMD", SET_DEPENDENCIES, 0, NULL, NULL },
    { "--dependency-output", "-MF", SET_DEPENDENCY_FILE, 0, NULL, NULL },
    { "--dependency-target-name", "-MT", SET_DEPENDENCY_TARGET, 0, NULL, NULL },
    { "--generate-dependency-targets", "-MP", SET_PHONY, 0, NULL, NULL },
    { "--output-file", "-o", SET_OUTPUT, 0, NULL, NULL },
    { "--output-directory", "-odir", SET_OUTPUT_FOLDER, 0, NULL, NULL },
    { "--gpu-architecture", "-arch", SET_ARCH, 0, NULL, NULL },
    { "--gpu-code", "-code", SET_CODE, 0, NULL, NULL },
    { "--generate-code", "-gencode", GENCODE, 0, NULL, NULL },
    { "--every-architecture", "-every-architecture", EVERY_TARGET, 0, NULL, NULL }, /* Millrace's own */
    { "--relocatable-device-code", "-rdc", SET_RDC, 0, NULL, NULL },
    { "--x", "-x", SET_LANGUAGE, 0, NULL, NULL },
    { "--compiler-bindir", "-ccbin", SET_CCBIN, 0, NULL, NULL },
    { "--keep", "-keep", SET_KEEP, 0, NULL, NULL },
    { "--save-temps", "-save-temps", SET_KEEP, 0, NULL, NULL },
    { "--keep-dir", "-keep-dir", SET_KEEP_FOLDER, 0, NULL, NULL },
    { "--cudart", "-cudart", SET_RUNTIME, 0, NULL, NULL },
    { "--shared", "-shared", SET_SHARED, 0, NULL, NULL },
    { "--default-stream", "-default-stream", SET_STREAM, 0, NULL, NULL },
    { "--machine", "-m", SET_MACHINE, 0, NULL, NULL },
    { "--m64", "-m64", NOTHING, 0, NULL, NULL },
    { "--include-path", "-I", BOTH_VALUE, 0, "-I", NULL },
    { "--system-include", "-isystem", BOTH_VALUE, 0, "-isystem", NULL },
    { "--define-macro", "-D", BOTH_VALUE, 0, "-D", NULL },
    { "--undefine-macro", "-U", BOTH_VALUE, 0, "-U", NULL },
    { "--pre-include", "-include", BOTH_VALUE, 0, "-include", NULL },
    { "--std", "-std", BOTH_VALUE, 0, "-std=", NULL },
    { "--optimize", "-O", LEVEL, 0, NULL, NULL },
    { "--disable-warnings", "-w", BOTH, 0, "-w", NULL },
    { "--Werror", "-Werror", ERRORS, 0, NULL, NULL },
    { "--Wreorder", "-Wreorder", BOTH, 0, "-Wreorder", NULL },
    { "--Wno-deprecated-declarations", "-Wno-deprecated-declarations", BOTH, 0, "-Wno-deprecated-declarations", NULL },
    { "--Wno-deprecated-gpu-targets", "-Wno-deprecated-gpu-targets", NOTHING, 0, NULL, NULL },
    { "--generate-line-info", "-lineinfo", DEVICE, 0, "-gline-directives-only", NULL },
    { "--device-debug", "-G", DEBUG_DEVICE, 0, NULL, NULL },
    { "--debug", "-g", HOST_TEXT, 0, "-g", NULL },
    { "--fmad", "-fmad", DEVICE_BOOLEAN, 0, "-ffp-contract=fast", "-ffp-contract=off" },
    { "--ftz", "-ftz", DEVICE_BOOLEAN, 0, "-fgpu-flush-denormals-to-zero", "-fno-gpu-flush-denormals-to-zero" },
    { "--prec-div", "-prec-div", NOTHING_BOOLEAN, 0, NULL, NULL },     /* divisions and roots are always exact */
    { "--prec-sqrt", "-prec-sqrt", NOTHING_BOOLEAN, 0, NULL, NULL },
    { "--use_fast_math", "-use_fast_math", DEVICE, 0, "-fgpu-flush-denormals-to-zero", NULL },
    { "--restrict", "-restrict", NOTHING, 0, NULL, NULL },
    { "--expt-relaxed-constexpr", "-expt-relaxed-constexpr", BOTH, 0, "-D__CUDACC_RELAXED_CONSTEXPR__=1", NULL }, /* what these three allow is allowed always */
    { "--expt-extended-lambda", "-expt-extended-lambda", BOTH, 0, "-D__CUDACC_EXTENDED_LAMBDA__=1", NULL },
    { "--extended-lambda", "-extended-lambda", BOTH, 0, "-D__CUDACC_EXTENDED_LAMBDA__=1", NULL },
    { "--maxrregcount", "-maxrregcount", NOTHING_NUMBER, 0, NULL, NULL },
    { "--threads", "-t", NOTHING_NUMBER, 0, NULL, NULL },
    { "--split-compile", "-split-compile", NOTHING_NUMBER, 0, NULL, NULL },
    { "--resource-usage", "-res-usage", TELL_USES, 0, NULL, NULL },
    { "--source-in-ptx", "-src-in-ptx", NOTHING, 0, NULL, NULL },
    { "--extra-device-vectorization", "-extra-device-vectorization", NOTHING, 0, NULL, NULL },
    { "--allow-unsupported-compiler", "-allow-unsupported-compiler", NOTHING, 0, NULL, NULL },
    { "--cudadevrt", "-cudadevrt", NOTHING_VALUE, 0, NULL, NULL },
    { "--diag-suppress", "-diag-suppress", DIAGNOSTICS, 0, "-Wno-", NULL },
    { "--diag-warn", "-diag-warn", DIAGNOSTICS, 0, "-W", NULL },
    { "--diag-error", "-diag-error", DIAGNOSTICS, 0, "-Werror=", NULL },
    { "--display-error-number", "-err-no", NOTHING, 0, NULL, NULL },
    { "--no-display-error-number", "-no-err-no", NOTHING, 0, NULL, NULL },
    { "--compiler-options", "-Xcompiler", HOST, 0, NULL, NULL },
    { "--linker-options", "-Xlinker", LINKER, 0, NULL, NULL },
    { "--ptxas-options", "-Xptxas", ASSEMBLER, 0, NULL, NULL },
    { "--cudafe", "-Xcudafe", FRONT, 0, NULL, NULL },
    { "--fatbin-options", "-Xfatbin", PACKER, 0, NULL, NULL },
    { "--forward-unknown-to-host-compiler", "-forward-unknown-to-host-compiler", SET_FORWARD, 0, NULL, NULL },
    { "--library-path", "-L", LINK_VALUE, 0, "-L", NULL },
    { "--library", "-l", LINK_VALUE, 0, "-l", NULL },
    { "--verbose", "-v", VERBOSE, 0, NULL, NULL },
    { "--dryrun", "-dryrun", DRY_RUN, 0, NULL, NULL },
    { "--options-file", "-optf", OPTIONS_FILE, 0, NULL, NULL },
    { "--dlink-time-opt", "-dlto", REFUSE, 0, "no LTO code is made here", NULL },
    { "--run", "-run", REFUSE, 0, "the program is not started; run it with 'millrace run'", NULL },
};

static bool takes_value(enum action action)
{
    switch (action) {
    case SET_OUTPUT: case SET_OUTPUT_FOLDER: case SET_ARCH: case SET_CODE: case GENCODE: case SET_LANGUAGE: case SET_CCBIN: case SET_KEEP_FOLDER: case SET_RUNTIME: case SET_RDC:
    case SET_STREAM: case SET_MACHINE: case SET_DEPENDENCY_FILE: case SET_DEPENDENCY_TARGET: case BOTH_VALUE: case DEVICE_BOOLEAN: case LEVEL:
    case ERRORS: case HOST: case LINKER: case ASSEMBLER: case FRONT: case PACKER: case DIAGNOSTICS: case LINK_VALUE: case NOTHING_VALUE: case NOTHING_NUMBER:
    case NOTHING_BOOLEAN: case OPTIONS_FILE:
        return true;
    default:
        return false;
    }
}

/* If `word` is `name`, `name=value` or (one letter) `nameVALUE`: true, with the value in *value or NULL. */
static bool spells(const char *word, const char *name, bool attached, const char **value)
{
    size_t length = strlen(name);
    *value = NULL;
    if (strncmp(word, name, length) != 0)
        return false;
    if (word[length] == '=')
        *value = word + length + 1;
    else if (word[length] != '\0' && length == 2 && attached)
        *value = word + length;
    else if (word[length] != '\0')
        return false;
    return true;
}

static const struct option *find_option(const char *word, const char **value)
{
    for (size_t pass = 0; pass < 2; pass++) /* a whole name before one letter with a value attached */
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            bool attached = pass == 1 && takes_value(options[i].action);
            if (spells(word, options[i].name, attached, value) || spells(word, options[i].other_name, attached, value))
                return &options[i];
        }
    return NULL;
}

static bool is_true(const char *value)
{
    return strcmp(value, "true") == 0;
}

static bool is_boolean(const char *value, const char *word)
{
    return is_true(value) || strcmp(value, "false") == 0 || complain("expected true or false in", word);
}

static bool one_of(const char *value, const char *a, const char *b, const char *c, const char *word)
{
    return strcmp(value, a) == 0 || strcmp(value, b) == 0 || strcmp(value, c) == 0 || complain("this value is not known to", word);
}

static bool errors(struct request *request, const char *kind)
{
    if (strcmp(kind, "all-warnings") == 0)
        mr_words_add(&request->both, "-Werror", "");
    else if (strcmp(kind, "reorder") == 0 || strcmp(kind, "deprecated-declarations") == 0)
        mr_words_add(&request->both, "-Werror=", kind);
    else if (strcmp(kind, "cross-execution-space-call") != 0) /* which is an error in any case */
        return complain("cannot make errors of warnings of the kind", kind);
    return true;
}

/* What NVIDIA's front end knows by a number, as far as clang warns of the same; other numbers are of diagnostics that are not issued here. */
static void diagnostics(struct request *request, const char *spelling, const char *numbers)
{
    static const struct { const char *number, *names[2]; } known[] = {
        { "177", { "unused-variable", "unused-function" } }, /* declared but never referenced */
        { "550", { "unused-but-set-variable" } },
    };
    for (size_t length; *numbers; numbers += length + (numbers[length] == ',')) {
        length = strcspn(numbers, ",");
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (length == strlen(known[i].number) && strncmp(numbers, known[i].number, length) == 0)
                for (size_t j = 0; j < 2 && known[i].names[j]; j++)
                    mr_words_add(&request->both, spelling, known[i].names[j]);
    }
}

static bool front(struct request *request, const char *option)
{
    static const struct { const char *name, *spelling; } kinds[] = {
        { "--diag_suppress=", "-Wno-" }, { "--diag_warning=", "-W" }, { "--diag_error=", "-Werror=" } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(option, kinds[i].name, strlen(kinds[i].name)) == 0)
            diagnostics(request, kinds[i].spelling, option + strlen(kinds[i].name));
    return strncmp(option, "--diag_", 7) == 0 || strcmp(option, "--display_error_number") == 0 ||
        complain("cannot honour the front end's option", option);
}

static bool packer(const char *option)
{
    return strcmp(option, "-compress-all") == 0 || strncmp(option, "-compress-mode", 14) == 0 || strncmp(option, "--compress", 10) == 0 ||
        complain("cannot honour the packer's option", option);
}

static bool one_part(struct request *request, enum action action, const char *option)
{
    switch (action) {
    case HOST:
        return guard_host(request, option);
    case LINKER:
        return guard_linker(request, option);
    case ERRORS:
        return errors(request, option);
    case FRONT:
        return front(request, option);
    case PACKER:
        return packer(option);
    default:
        request->tell_uses |= mr_ptx_assembler_option_is_verbose(option);
        return mr_ptx_assembler_option_is_idle(option) || complain("cannot honour the assembler's option", option);
    }
}

/* The parts of a list, one by one: apart by commas or, as a shell would see them, by blanks. A list for the linker within (-Wl,a,b) is one part. */
static bool each_part(struct request *request, enum action action, const char *list)
{
    char option[PATH_MAX];
    list += strspn(list, " ");
    do {
        bool within = action == HOST && strncmp(list, "-Wl,", 4) == 0;
        size_t length = strcspn(list, within ? " " : ", ");
        if (length >= sizeof option)
            return complain("this option is too long:", list);
        memcpy(option, list, length);
        option[length] = '\0';
        if (!one_part(request, action, option))
            return false;
        list += length;
        list += *list == ',';
        list += strspn(list, " ");
    } while (*list);
    return true;
}

static void add_item(struct request *request, const char *word, size_t input)
{
    if (!mr_array_reserve((void **)&request->items, &request->item_room, request->item_count + 1, sizeof *request->items)) {
        complain("out of memory", NULL);
        exit(1);
    }
    request->items[request->item_count++] = (struct link_item){ word, input };
}

static const char *joined(const char *a, const char *b)
{
    struct mr_text text = { .data = NULL };
    mr_text_put(&text, a);
    mr_text_put(&text, b);
    if (text.failed) {
        complain("out of memory", NULL);
        exit(1);
    }
    return text.data ? text.data : "";
}

static bool set_runtime(struct request *request, const char *value, const char *word)
{
    if (!one_of(value, "static", "shared", "none", word))
        return false;
    request->runtime = value;
    return true;
}

static bool set_stream(struct request *request, const char *value, const char *word)
{
    if (!one_of(value, "legacy", "per-thread", "null", word))
        return false;
    if (strcmp(value, "per-thread") == 0) {
        mr_words_add(&request->gpu, "-Xclang", "");
        mr_words_add(&request->gpu, "-fgpu-default-stream=per-thread", "");
        mr_words_add(&request->both, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1", "");
    }
    return true;
}

/* Of several phases the one that ends first counts, wherever it stands (nvcc does so too): "--ptx -dc" is PTX, of code that would be linked later. */
static void set_phase(struct request *request, enum phase phase)
{
    static const unsigned char place[] = { [PHASE_VERSION] = 0, [PHASE_HELP] = 0, [PHASE_PREPROCESS] = 1, [PHASE_DEPENDENCIES] = 1, [PHASE_PTX] = 2, [PHASE_CUBIN] = 3,
        [PHASE_FATBIN] = 4, [PHASE_OBJECT] = 5, [PHASE_ARCHIVE] = 6, [PHASE_DEVICE_LINK] = 6, [PHASE_LINK] = 7 };
    if (place[phase] <= place[request->phase])
        request->phase = phase;
}

/* Options that set a field of the request. */
static bool apply_setting(struct request *request, const struct option *option, const char *word, const char *value)
{
    switch (option->action) {
    case SET_PHASE:
        set_phase(request, (enum phase)option->detail);
        request->system_dependencies |= option->text != NULL;
        return true;
    case DEVICE_C: case DEVICE_W:
        set_phase(request, PHASE_OBJECT);
        request->relocatable = option->action == DEVICE_C;
        return true;
    case SET_OUTPUT:
        request->output = value;
        return true;
    case SET_OUTPUT_FOLDER:
        request->output_folder = value;
        return true;
    case SET_ARCH:
        return targets_arch(request, value);
    case SET_CODE:
        return targets_codes(request, value);
    case GENCODE:
        return targets_gencode(request, value);
    case SET_LANGUAGE:
        request->language = value;
        return one_of(value, "cu", "c++", "c", word);
    case SET_CCBIN:
        request->host_compiler = value;
        return true;
    case SET_KEEP:
        request->keep_folder = request->keep_folder ? request->keep_folder : ".";
        return true;
    case SET_KEEP_FOLDER:
        request->keep_folder = value;
        return true;
    case SET_RUNTIME:
        return set_runtime(request, value, word);
    case SET_RDC:
        request->relocatable = is_true(value);
        return is_boolean(value, word);
    case SET_STREAM:
        return set_stream(request, value, word);
    case SET_MACHINE:
        return strcmp(value, "64") == 0 || complain("there are only 64-bit programs, not", word);
    case SET_DEPENDENCIES:
        request->write_dependencies = true;
        request->system_dependencies = option->detail;
        return true;
    case SET_DEPENDENCY_FILE:
        request->dependency_file = value;
        return true;
    case SET_DEPENDENCY_TARGET:
        request->dependency_target = value;
        return true;
    case SET_PHONY:
        request->dependency_phony = true;
        return true;
    case SET_SHARED:
        request->shared = true;
        return true;
    case SET_FORWARD:
        request->forward_unknown = true;
        return true;
    case VERBOSE:
        request->verbose = true;
        return true;
    case TELL_USES:
        request->tell_uses = true;
        return true;
    case EVERY_TARGET:
        request->every_target = true;
        return true;
    case DRY_RUN:
        request->dry_run = true;
        return true;
    default:
        return false;
    }
}

static bool is_number(const char *value)
{
    size_t digits = strspn(value, "0123456789");
    return digits && !value[digits];
}

/* Options that become words of a command. */
static bool apply(struct request *request, const struct option *option, const char *word, const char *value)
{
    switch (option->action) {
    case BOTH:
        mr_words_add(&request->both, option->text, "");
        return true;
    case BOTH_VALUE:
        mr_words_add(&request->both, option->text, value);
        return *value || complain("there is no value after", word);
    case DEVICE:
        mr_words_add(&request->device, option->text, "");
        return true;
    case DEVICE_BOOLEAN:
        mr_words_add(&request->device, is_true(value) ? option->text : option->other, "");
        return is_boolean(value, word);
    case HOST_TEXT:
        mr_words_add(&request->host, option->text, "");
        return true;
    case DEBUG_DEVICE:
        mr_words_add(&request->device, "-O0", "");
        mr_words_add(&request->both, "-D__CUDACC_DEBUG__", "");
        return true;
    case LEVEL:
        if (strlen(value) != 1 || *value < '0' || *value > '3')
            return complain("there is no optimisation level", value);
        mr_words_add(&request->host, "-O", value);
        return true;
    case ERRORS: case HOST: case LINKER: case ASSEMBLER: case FRONT: case PACKER:
        return each_part(request, option->action, value);
    case DIAGNOSTICS:
        diagnostics(request, option->text, value);
        return *value || complain("there is no value after", word);
    case LINK_VALUE:
        add_item(request, joined(option->text, value), 0);
        return *value || complain("there is no value after", word);
    case NOTHING:
        return true;
    case NOTHING_VALUE:
        return *value || complain("there is no value after", word);
    case NOTHING_NUMBER:
        return is_number(value) || complain("expected a number in", word);
    case NOTHING_BOOLEAN:
        return is_boolean(value, word);
    case REFUSE:
        complain(option->text, NULL);
        return complain("cannot honour the option", word);
    default:
        return apply_setting(request, option, word, value);
    }
}

static bool ends(const char *text, const char *with)
{
    size_t length = strlen(text), part = strlen(with);
    return length >= part && strcmp(text + length - part, with) == 0;
}

static bool find_kind(const char *path, enum kind *kind)
{
    static const struct { const char *ending; enum kind kind; } endings[] = {
        { ".cu", KIND_CUDA }, { ".c", KIND_C }, { ".cc", KIND_CXX }, { ".cpp", KIND_CXX }, { ".cxx", KIND_CXX }, { ".c++", KIND_CXX },
        { ".C", KIND_CXX }, { ".ptx", KIND_PTX }, { ".o", KIND_LINK }, { ".obj", KIND_LINK }, { ".a", KIND_LINK }, { ".so", KIND_LINK },
    };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends(path, endings[i].ending)) {
            *kind = endings[i].kind;
            return true;
        }
    *kind = KIND_LINK;
    return strstr(path, ".so.") != NULL || complain("nothing can be made of a file with this ending:", path);
}

static bool add_input(struct request *request, const char *path)
{
    if (*path == '@')
        return complain("option files are not read:", path);
    if (!*path)
        return complain("an input has no name", NULL);
    if (!mr_array_reserve((void **)&request->inputs, &request->input_room, request->input_count + 1, sizeof *request->inputs))
        return complain("out of memory", NULL);
    request->inputs[request->input_count] = (struct input){ path, KIND_LINK };
    add_item(request, NULL, request->input_count++);
    return true;
}

bool request_find_kinds(struct request *request)
{
    for (size_t i = 0; i < request->input_count; i++) {
        struct input *input = &request->inputs[i];
        if (!request->language) {
            if (!find_kind(input->path, &input->kind))
                return false;
        } else {
            input->kind = strcmp(request->language, "cu") == 0 ? KIND_CUDA : strcmp(request->language, "c") == 0 ? KIND_C : KIND_CXX;
        }
    }
    return true;
}

/* What NVIDIA's own compiler is given as it came. */
static void note_given(struct request *request, const struct option *option, const char *word, const char *next)
{
    switch (option->action) {
    case SET_PHASE: case DEVICE_C: case DEVICE_W: case SET_OUTPUT: case SET_OUTPUT_FOLDER: case SET_ARCH: case SET_CODE: case GENCODE: case SET_RUNTIME: case DRY_RUN:
    case SET_KEEP: case SET_KEEP_FOLDER: case SET_LANGUAGE: case LINKER: case LINK_VALUE: case SET_DEPENDENCIES: case SET_DEPENDENCY_FILE:
    case SET_DEPENDENCY_TARGET: case SET_PHONY: case SET_SHARED: case SET_RDC: case VERBOSE: case EVERY_TARGET:
        break;
    default:
        mr_words_add(&request->given, word, "");
        if (next)
            mr_words_add(&request->given, next, "");
    }
}

static bool read_file_of_options(struct request *request, const char *path);

static bool read_option(struct request *request, int argc, char **argv, int *at)
{
    const char *word = argv[*at], *value;
    const struct option *option = find_option(word, &value);
    if (!option)
        return request->forward_unknown ? guard_host(request, word) : complain("cannot honour the option", word);
    bool valued = takes_value(option->action), separate = false;
    if (valued && !value) {
        if (*at + 1 >= argc)
            return complain("there is no value after", word);
        value = argv[++*at];
        separate = true;
    } else if (!valued && value) { /* --name=true, --name=false */
        if (!is_boolean(value, word) || !is_true(value))
            return is_true(value) || strcmp(value, "false") == 0;
        value = NULL;
    }
    if (value && value[0] == '@') /* clang's inner part would read it as an option file, even attached */
        return complain("option files are not read:", value);
    if (option->action == OPTIONS_FILE)
        return read_file_of_options(request, value);
    if (!apply(request, option, word, value))
        return false;
    note_given(request, option, word, separate ? value : NULL);
    return true;
}

static bool read_words(struct request *request, int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (!(words[i][0] == '-' && words[i][1] ? read_option(request, count, words, &i) : add_input(request, words[i])))
            return false;
    return true;
}

/* Words apart by blanks; quotes of both kinds hold them together, and a backslash takes the next character as it is. */
static void split(const char *text, struct mr_words *words)
{
    while (*(text += strspn(text, " \t\r\n"))) {
        struct mr_text word = { .data = NULL };
        for (char quote = '\0'; *text && (quote || !strchr(" \t\r\n", *text)); text++) {
            if (*text == quote || (!quote && (*text == '"' || *text == '\''))) {
                quote = quote ? '\0' : *text;
                continue;
            }
            if (*text == '\\' && text[1] && quote != '\'')
                text++;
            mr_text_add(&word, text, 1);
        }
        mr_words_add(words, mr_text_chars(&word), "");
        words->failed = words->failed || word.failed;
        mr_text_clear(&word);
    }
}

/* The file's words are read by the same table, and may not name a further file. */
static bool read_file_of_options(struct request *request, const char *path)
{
    struct mr_text text = { .data = NULL };
    if (request->in_options_file)
        return complain("an option file names another:", path);
    if (!file_read(path, &text))
        return false;
    struct options_file *file = mr_calloc(1, sizeof *file);
    if (!file)
        return complain("out of memory", NULL);
    file->next = request->options_files;
    request->options_files = file;
    split(mr_text_chars(&text), &file->words);
    mr_text_clear(&text);
    if (file->words.failed)
        return complain("out of memory", NULL);
    request->in_options_file = true;
    bool good = read_words(request, (int)file->words.count, file->words.items);
    request->in_options_file = false;
    return good;
}

bool request_parse(struct request *request, int argc, char **argv)
{
    request->runtime = "static";
    for (int i = 1; i < argc; i++)
        if (strstr(argv[i], "forward-unknown-to-host-compiler"))
            request->forward_unknown = true;
    if (!read_words(request, argc - 1, argv + 1))
        return false;
    return targets_end(request);
}
