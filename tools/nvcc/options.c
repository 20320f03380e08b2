/* SPDX-License-Identifier: Apache-2.0 */
/* nvcc's options, as far as a device-only compilation needs them.
 *
 * The table maps each spelling to what becomes of it. An option with a value takes it as the next word, after '=', or (one-letter
 * options) attached. Options for the host compiler are accepted only where they cannot change device code. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

void words_add(struct words *words, const char *word)
{
    if (words->count + 2 > words->room) {
        words->room = words->room ? words->room * 2 : 32;
        words->items = realloc(words->items, words->room * sizeof *words->items);
        if (!words->items) {
            fputs("nvcc (Millrace): out of memory\n", stderr);
            exit(1);
        }
    }
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

static char *joined(const char *a, const char *b)
{
    size_t size = strlen(a) + strlen(b) + 1;
    char *text = malloc(size);
    if (!text) {
        fputs("nvcc (Millrace): out of memory\n", stderr);
        exit(1);
    }
    snprintf(text, size, "%s%s", a, b);
    return text;
}

enum action {
    SET_PHASE,     /* detail: the phase */
    SET_OUTPUT,
    SET_ARCH,      /* sm_XY, compute_XY, native */
    SET_CODE,
    GENCODE,       /* arch=…,code=… */
    PASS,          /* clang's `text` as it stands */
    PASS_VALUE,    /* clang's `text` with the value attached */
    PASS_BOOLEAN,  /* value true: `text`; false: `other` */
    LEVEL,         /* -O0 … -O3 */
    HOST,          /* a word or comma list for the host compiler */
    ASSEMBLER,     /* for ptxas, which does not run here: -v and -O alone */
    NOTHING,       /* without effect on device code that the CPU runs; takes no value */
    NOTHING_VALUE,
    VERBOSE,
    DRY_RUN,
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
    { "--output-file", "-o", SET_OUTPUT, 0, NULL, NULL },
    { "--gpu-architecture", "-arch", SET_ARCH, 0, NULL, NULL },
    { "--gpu-code", "-code", SET_CODE, 0, NULL, NULL },
    { "--generate-code", "-gencode", GENCODE, 0, NULL, NULL },
    { "--include-path", "-I", PASS_VALUE, 0, "-I", NULL },
    { "--system-include", "-isystem", PASS_VALUE, 0, "-isystem", NULL },
    { "--define-macro", "-D", PASS_VALUE, 0, "-D", NULL },
    { "--undefine-macro", "-U", PASS_VALUE, 0, "-U", NULL },
    { "--pre-include", "-include", PASS_VALUE, 0, "-include", NULL },
    { "--std", "-std", PASS_VALUE, 0, "-std=", NULL },
    { "--optimize", "-O", LEVEL, 0, NULL, NULL },
    { "--disable-warnings", "-w", PASS, 0, "-w", NULL },
    { "--generate-line-info", "-lineinfo", PASS, 0, "-gline-directives-only", NULL },
    { "--device-debug", "-G", PASS, 0, "-O0", NULL },
    { "--debug", "-g", NOTHING, 0, NULL, NULL },
    { "--fmad", "-fmad", PASS_BOOLEAN, 0, "-ffp-contract=fast", "-ffp-contract=off" },
    { "--ftz", "-ftz", PASS_BOOLEAN, 0, "-fgpu-flush-denormals-to-zero", "-fno-gpu-flush-denormals-to-zero" },
    { "--prec-div", "-prec-div", NOTHING_VALUE, 0, NULL, NULL },
    { "--prec-sqrt", "-prec-sqrt", NOTHING_VALUE, 0, NULL, NULL },
    { "--use_fast_math", "-use_fast_math", PASS, 0, "-fgpu-flush-denormals-to-zero", NULL },
    { "--restrict", "-restrict", NOTHING, 0, NULL, NULL },
    { "--expt-relaxed-constexpr", "-expt-relaxed-constexpr", NOTHING, 0, NULL, NULL },
    { "--expt-extended-lambda", "-expt-extended-lambda", NOTHING, 0, NULL, NULL },
    { "--extended-lambda", "-extended-lambda", NOTHING, 0, NULL, NULL },
    { "--m64", "-m64", NOTHING, 0, NULL, NULL },
    { "--machine", "-m", NOTHING_VALUE, 0, NULL, NULL },
    { "--maxrregcount", "-maxrregcount", NOTHING_VALUE, 0, NULL, NULL },
    { "--compiler-bindir", "-ccbin", NOTHING_VALUE, 0, NULL, NULL },
    { "--default-stream", "-default-stream", NOTHING_VALUE, 0, NULL, NULL },
    { "--resource-usage", "-res-usage", NOTHING, 0, NULL, NULL },
    { "--compiler-options", "-Xcompiler", HOST, 0, NULL, NULL },
    { "--ptxas-options", "-Xptxas", ASSEMBLER, 0, NULL, NULL },
    { "--verbose", "-v", VERBOSE, 0, NULL, NULL },
    { "--dryrun", "-dryrun", DRY_RUN, 0, NULL, NULL },
};

static bool takes_value(enum action action)
{
    switch (action) {
    case SET_OUTPUT: case SET_ARCH: case SET_CODE: case GENCODE: case PASS_VALUE: case PASS_BOOLEAN: case LEVEL: case HOST:
    case ASSEMBLER: case NOTHING_VALUE:
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
    if (word[length] == '=' && attached)
        *value = word + length + 1;
    else if (word[length] != '\0' && length == 2 && attached)
        *value = word + length;
    else if (word[length] != '\0')
        return false;
    return true;
}

static const struct option *find_option(const char *word, const char **value)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        bool valued = takes_value(options[i].action);
        if (spells(word, options[i].name, valued, value) || spells(word, options[i].other_name, valued, value))
            return &options[i];
    }
    return NULL;
}

static bool complain(const char *what, const char *word)
{
    fprintf(stderr, "nvcc (Millrace): %s '%s'; this shim compiles one kernel source to PTX, --ptx or --cubin\n", what, word);
    return false;
}

/* sm_80, compute_80 or native; an `a` or `f` suffix names features that the CPU doesn't have. */
static bool set_capability(struct request *request, const char *value)
{
    const char *digits = strchr(value, '_');
    char *end;
    if (strcmp(value, "native") == 0)
        return true;
    long number = digits ? strtol(digits + 1, &end, 10) : 0;
    if (!digits || *end || number < 50 || number > 90 ||
        (strncmp(value, "sm_", 3) != 0 && strncmp(value, "compute_", 8) != 0))
        return complain("there is no code for the architecture", value);
    request->capability = (int)number;
    return true;
}

/* Host options: -P means no line markers; those that only concern the host's machine code have no object here. */
static bool host_option(struct request *request, const char *value)
{
    if (strcmp(value, "-P") == 0) {
        request->plain_preprocess = true;
        return true;
    }
    static const char *const harmless[] = { "-W", "-fPIC", "-fpic", "-O", "-g", "-march=", "-mtune=", "-fopenmp", "-pthread", "-fvisibility", "-fno-" };
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strncmp(value, harmless[i], strlen(harmless[i])) == 0)
            return true;
    return complain("cannot honour the host compiler's option", value);
}

/* The value of arch= in "arch=compute_80,code=sm_80". */
static bool gencode(struct request *request, const char *value)
{
    if (strncmp(value, "arch=", 5) != 0)
        return complain("cannot honour -gencode", value);
    char *arch = joined(value + 5, "");
    arch[strcspn(arch, ",")] = '\0';
    bool done = set_capability(request, arch);
    free(arch);
    return done;
}

static bool apply(struct request *request, const struct option *option, const char *word, const char *value)
{
    switch (option->action) {
    case SET_PHASE:
        request->phase = (enum phase)option->detail;
        return true;
    case SET_OUTPUT:
        request->output = value;
        return true;
    case SET_ARCH:
    case SET_CODE:
        return set_capability(request, value);
    case GENCODE:
        return gencode(request, value);
    case PASS:
        words_add(&request->clang, option->text);
        return true;
    case PASS_VALUE:
        if (option->text[1] == 'i') { /* -include, -isystem: value as the next word */
            words_add(&request->clang, option->text);
            words_add(&request->clang, value);
        } else {
            words_add(&request->clang, joined(option->text, value));
        }
        return true;
    case PASS_BOOLEAN:
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
            return complain("expected true or false in", word);
        words_add(&request->clang, strcmp(value, "true") == 0 ? option->text : option->other);
        return true;
    case LEVEL:
        if (strlen(value) != 1 || *value < '0' || *value > '3')
            return complain("there is no optimisation level", value);
        words_add(&request->clang, joined("-O", value));
        return true;
    case HOST:
        return host_option(request, value);
    case ASSEMBLER:
        return strcmp(value, "-v") == 0 || strncmp(value, "-O", 2) == 0 || complain("cannot honour the assembler's option", value);
    case VERBOSE:
        request->verbose = true;
        return true;
    case DRY_RUN:
        request->dry_run = true;
        return true;
    case NOTHING:
    case NOTHING_VALUE:
        return true;
    }
    return false;
}

bool request_parse(struct request *request, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value;
        if (word[0] != '-') {
            if (word[0] == '@')
                return complain("option files are not read:", word);
            if (request->source)
                return complain("one source at a time; there is a second one,", word);
            request->source = word;
            continue;
        }
        const struct option *option = find_option(word, &value);
        if (!option)
            return complain("cannot honour the option", word);
        if (takes_value(option->action) && !value) {
            if (i + 1 >= argc)
                return complain("there is no value after", word);
            value = argv[++i];
        }
        if (value && value[0] == '@') /* clang's inner part would read it as an option file, even attached */
            return complain("option files are not read:", value);
        if (!apply(request, option, word, value))
            return false;
    }
    return true;
}
