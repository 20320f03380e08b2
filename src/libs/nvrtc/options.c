/* SPDX-License-Identifier: Apache-2.0 */
/* The table of NVRTC's options and what becomes of each.
 *
 * An option is spelled with one dash or two. Its value follows '=', or a blank in the same string, or is the next
 * string; for -D, -U and -I it may be attached. What only steers NVIDIA's own optimiser or diagnostics numbering is
 * accepted without effect, after a look at its value; what asks for an output that is not made here is refused with a
 * reason. */
#include "libs/nvrtc/options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "ptx/arch.h"

enum action {
    ARCH,
    STANDARD,
    PASS,          /* the compiler's `text`, and `other` if there is one */
    PASS_VALUE,    /* `text` with the value joined */
    PASS_BOOLEAN,  /* `text` for true, `other` for false */
    DEFAULT_DEVICE,
    NO_SOURCE_FOLDER,
    NOTHING,       /* no value, no effect */
    ASSEMBLER,     /* its options; -v is honoured */
    RELOCATABLE,
    RELOCATABLE_YES,
    RELOCATABLE_NO,
    LINK_TIME,     /* code for the linker alone */
    MOVE_FORWARD,
    NOTE_BOOLEAN,
    NOTE_SWITCH,
    NOTE_NUMBER,
    NOTE_VALUE,   /* the value is looked at, without effect */
    REFUSE,
    REFUSE_VALUE,                                 /* `text` says why */
};

static const char no_pch[] = "precompiled headers in files are not made or read here";
static const char no_times[] = "no file of compile times is written here";

static const struct option {
    const char *name, *short_name;
    enum action action;
    const char *text, *other;
} options_known[] = {
    {"gpu-architecture", "arch", ARCH, NULL, NULL},
    {"std", "std", STANDARD, NULL, NULL},
    {"define-macro", "D", PASS_VALUE, "-D", NULL},
    {"undefine-macro", "U", PASS_VALUE, "-U", NULL},
    {"include-path", "I", PASS_VALUE, "-I", NULL},
    {"pre-include", "include", PASS_VALUE, "-include", NULL},
    {"no-source-include", "no-source-include", NO_SOURCE_FOLDER, NULL, NULL},
    {"device-as-default-execution-space", "default-device", DEFAULT_DEVICE, NULL, NULL},
    {"device-debug", "G", PASS, "-O0", MR_PTX_VARIABLES_WORD},
    {"generate-line-info", "lineinfo", PASS, MR_PTX_LINES_WORD, NULL},
    {"disable-warnings", "w", PASS, "-w", NULL},
    {"fmad", "fmad", PASS_BOOLEAN, "-ffp-contract=fast", "-ffp-contract=off"},
    {"ftz", "ftz", PASS_BOOLEAN, "-fgpu-flush-denormals-to-zero", "-fno-gpu-flush-denormals-to-zero"},
    {"use_fast_math", "use_fast_math", PASS, MR_PTX_FAST_MATH_WORD, NULL},
    {"Wreorder", "Wreorder", PASS, "-Wreorder", NULL},
    {"prec-div", "prec-div", NOTE_BOOLEAN, NULL, NULL},     /* divisions and roots are always exact */
    {"prec-sqrt", "prec-sqrt", NOTE_BOOLEAN, NULL, NULL},
    {"relocatable-device-code", "rdc", RELOCATABLE, NULL, NULL},
    {"device-c", "dc", RELOCATABLE_YES, NULL, NULL},
    {"device-w", "dw", RELOCATABLE_NO, NULL, NULL},
    {"extensible-whole-program", "ewp", NOTHING, NULL, NULL},
    {"extra-device-vectorization", "extra-device-vectorization", NOTHING, NULL, NULL},
    {"restrict", "restrict", NOTHING, NULL, NULL},
    {"device-int128", "device-int128", NOTHING, NULL, NULL},
    {"device-stack-protector", "device-stack-protector", NOTE_BOOLEAN, NULL, NULL},
    {"modify-stack-limit", "modify-stack-limit", NOTE_BOOLEAN, NULL, NULL},
    {"builtin-move-forward", "builtin-move-forward", MOVE_FORWARD, NULL, NULL},
    {"builtin-initializer-list", "builtin-initializer-list", NOTE_BOOLEAN, NULL, NULL},
    {"dopt", "dopt", NOTE_SWITCH, NULL, NULL},
    {"maxrregcount", "maxrregcount", NOTE_NUMBER, NULL, NULL},
    {"split-compile", "split-compile", NOTE_NUMBER, NULL, NULL},
    {"jump-table-density", "jtd", NOTE_NUMBER, NULL, NULL},
    {"ptxas-options", "Xptxas", ASSEMBLER, NULL, NULL},
    {"Ofast-compile", "Ofc", NOTE_VALUE, NULL, NULL},
    {"optimization-info", "opt-info", NOTE_VALUE, NULL, NULL},
    {"diag-error", "diag-error", NOTE_VALUE, NULL,
     NULL},   /* numbers of NVIDIA's diagnostics, which are not issued here */
    {"diag-suppress", "diag-suppress", NOTE_VALUE, NULL, NULL},
    {"diag-warn", "diag-warn", NOTE_VALUE, NULL, NULL},
    {"frandom-seed", "frandom-seed", NOTE_VALUE, NULL, NULL},
    {"display-error-number", "err-no", NOTHING, NULL, NULL},
    {"no-display-error-number", "no-err-no", NOTHING, NULL, NULL},
    {"brief-diagnostics", "brief-diag", NOTE_BOOLEAN, NULL, NULL},
    {"expt-relaxed-constexpr", "expt-relaxed-constexpr", NOTHING, NULL, NULL},
    {"extended-lambda", "extended-lambda", NOTHING, NULL, NULL},
    {"expt-extended-lambda", "expt-extended-lambda", NOTHING, NULL, NULL},
    {"minimal", "minimal", NOTHING, NULL, NULL},
    {"no-cache", "no-cache", NOTHING, NULL, NULL},
    {"fdevice-syntax-only", "fdevice-syntax-only", REFUSE, "code is always generated here", NULL},
    {"pch", "pch", NOTHING, NULL, NULL},                    /* a wish for speed, not for a file */
    {"pch-verbose", "pch-verbose", NOTE_BOOLEAN, NULL, NULL},
    {"pch-messages", "pch-messages", NOTE_BOOLEAN, NULL, NULL},
    {"instantiate-templates-in-pch", "instantiate-templates-in-pch", NOTE_BOOLEAN, NULL, NULL},
    {"create-pch", "create-pch", REFUSE_VALUE, no_pch, NULL},
    {"use-pch", "use-pch", REFUSE_VALUE, no_pch, NULL},
    {"pch-dir", "pch-dir", REFUSE_VALUE, no_pch, NULL},
    {"dlink-time-opt", "dlto", LINK_TIME, NULL, NULL},
    {"gen-opt-lto", "gen-opt-lto", NOTHING, NULL, NULL},
    {"optix-ir", "optix-ir", REFUSE, "no OptiX intermediate code is made here, only PTX", NULL},
    {"device-float128", "device-float128", REFUSE, "there is no 128-bit floating point on this device", NULL},
    {"time", "time", REFUSE_VALUE, no_times, NULL},
    {"fdevice-time-trace", "fdevice-time-trace", REFUSE_VALUE, no_times, NULL},
};

/* Ends the reading: the reason goes into the program's log and into ours. */
static bool complain(struct mr_text *log, const char *what, const char *word, const char *why)
{
    mr_text_format(log, "nvrtc: error: %s%s%s%s\n", what, word, *why ? ": " : "", why);
    mr_log(MR_LOG_INFO, "nvrtcCompileProgram: %s%s%s%s", what, word, *why ? ": " : "", why);
    return false;
}

static bool takes_value(enum action action)
{
    switch (action) {
    case ARCH:
    case STANDARD:
    case PASS_VALUE:
    case PASS_BOOLEAN:
    case RELOCATABLE:
    case MOVE_FORWARD:
    case NOTE_BOOLEAN:
    case NOTE_SWITCH:
    case NOTE_NUMBER:
    case NOTE_VALUE:
    case ASSEMBLER:
    case REFUSE_VALUE:
        return true;
    default:
        return false;
    }
}

/* Whether `name` of `length` characters is this option; `value` is then what follows it in the same string, or NULL. */
static bool spells(const char *word, const char *name, bool valued, bool attached, const char **value)
{
    size_t length = strlen(name);
    *value = NULL;
    if (strncmp(word, name, length) != 0)
        return false;
    const char *rest = word + length;
    if (!*rest)
        return true;
    if (!valued)
        return false;
    if (*rest == '=' || isspace((unsigned char)*rest))
        rest++;
    else if (!attached)
        return false;
    while (isspace((unsigned char)*rest))
        rest++;
    *value = rest;
    return true;
}

static const struct option *find(const char *word, const char **value)
{
    if (word[0] != '-')
        return NULL;
    bool one_dash = word[1] != '-';
    word += one_dash ? 1 : 2;
    for (size_t i = 0; i < sizeof options_known / sizeof *options_known; i++) {
        const struct option *option = &options_known[i];
        bool valued = takes_value(option->action);
        if (spells(word, option->name, valued, false, value) ||
            spells(word, option->short_name, valued, one_dash && strlen(option->short_name) == 1, value))
            return option;
    }
    return NULL;
}

static bool read_arch(struct mr_options *options, const char *value, struct mr_text *log)
{
    static const char what[] = "invalid value for --gpu-architecture (-arch)";
    switch (mr_ptx_arch_read(value, &options->capability, &options->real)) {
    case MR_PTX_ARCH_GOOD:
    case MR_PTX_ARCH_SUFFIX:
        options->suffix = mr_ptx_arch_suffix(value);
        return true;
    default:
        return complain(log, what, "", "sm_50 to sm_121 and compute_50 to compute_121 are known here");
    }
}

static bool read_standard(struct mr_options *options, const char *value, struct mr_text *log)
{
    static const char *const known[] = {"c++11", "c++14", "c++17", "c++20"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(value, known[i]) == 0) {
            memcpy(options->standard, value, strlen(value) + 1);
            return true;
        }
    return complain(log, "invalid value for --std (-std)", "", "c++11, c++14, c++17 and c++20 are known here");
}

static bool is_number(const char *value)
{
    size_t digits = strspn(value, "0123456789");
    return digits && !value[digits];
}

static void add_path(struct mr_words *words, const char *spelling, const char *value)
{
    struct mr_text word = {.data = NULL};
    mr_text_format(&word, "%s%s", spelling, *value == '@' ? "./" : "");
    mr_words_add(words, mr_text_chars(&word), value);
    words->failed = words->failed || word.failed;
    mr_text_clear(&word);
}

/* Several are apart by commas or blanks. */
static bool read_assembler(struct mr_options *options, const char *value, struct mr_text *log)
{
    static const char between[] = ", \t";
    if (!value[strspn(value, between)])
        return complain(log, "there is no value after --", "ptxas-options", "");
    for (value += strspn(value, between); *value; value += strspn(value, between)) {
        size_t length = strcspn(value, between);
        struct mr_text word = {.data = NULL};
        mr_text_add(&word, value, length);
        bool good = mr_ptx_assembler_option_is_idle(mr_text_chars(&word));
        options->tell_uses |= mr_ptx_assembler_option_is_verbose(mr_text_chars(&word));
        options->words.failed |= word.failed;
        if (!good && !word.failed)
            complain(log, "cannot honour the option of --ptxas-options: ", mr_text_chars(&word),
                     "no assembler runs here");
        mr_text_clear(&word);
        if (!good)
            return false;
        value += length;
    }
    return true;
}

static bool apply(struct mr_options *options, const struct option *option, const char *value, struct mr_text *log)
{
    bool is_true = value && strcmp(value, "true") == 0, is_false = value && strcmp(value, "false") == 0;
    switch (option->action) {
    case ARCH:
        return read_arch(options, value, log);
    case STANDARD:
        return read_standard(options, value, log);
    case PASS:
        mr_words_add(&options->words, option->text, "");
        if (option->other)
            mr_words_add(&options->words, option->other, "");
        return true;
    case PASS_VALUE:
        if (!*value)
            return complain(log, "there is no value after --", option->name, "");
        /* The compiler's driver hands the value to its inner part as a word of its own, where '@' would begin a
         * response file. */
        if (*value == '@' && (option->text[1] == 'D' || option->text[1] == 'U'))
            return complain(log, "no macro begins with '@': ", value, "");
        add_path(&options->words, option->text, value);
        return true;
    case RELOCATABLE_YES:
    case RELOCATABLE_NO:
        options->relocatable = option->action == RELOCATABLE_YES;
        options->whole = !options->relocatable;
        return true;
    case LINK_TIME:
        return options->link_time = true;
    case PASS_BOOLEAN:
    case MOVE_FORWARD:
    case NOTE_BOOLEAN:
    case RELOCATABLE:
        if (!is_true && !is_false)
            return complain(log, "expected true or false after --", option->name, "");
        if (option->action == RELOCATABLE) {
            options->relocatable = is_true;
            options->whole = is_false;
        }
        if (option->action == MOVE_FORWARD && is_false) {
            options->no_move_forward = true;
            mr_words_add(&options->words, "-UMR_MOVE_FORWARD", ""); /* the words are the cache's key */
        }
        if (option->action == PASS_BOOLEAN)
            mr_words_add(&options->words, is_true ? option->text : option->other, "");
        return true;
    case NOTE_SWITCH:
        if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
            return complain(log, "expected on or off after --", option->name, "");
        return true;
    case NOTE_NUMBER:
        return is_number(value) || complain(log, "expected an integer value after --", option->name, "");
    case NOTE_VALUE:
        return *value || complain(log, "there is no value after --", option->name, "");
    case ASSEMBLER:
        return read_assembler(options, value, log);
    case DEFAULT_DEVICE:
        options->default_device = true;
        return true;
    case NO_SOURCE_FOLDER:
        options->no_source_folder = true;
        return true;
    case NOTHING:
        return true;
    case REFUSE:
    case REFUSE_VALUE:
        return complain(log, "cannot honour the option --", option->name, option->text);
    }
    return false;
}

/* One string without the blanks around it, and its value, which may be the next string. */
static bool read_one(struct mr_options *options, int count, const char *const *words, int *at, struct mr_text *log)
{
    struct mr_text word = {.data = NULL};
    const char *from = words[*at], *value = NULL;
    while (from && isspace((unsigned char)*from))
        from++;
    size_t length = from ? strlen(from) : 0;
    while (length && isspace((unsigned char)from[length - 1]))
        length--;
    mr_text_add(&word, from ? from : "", length);
    if (word.failed) {
        options->words.failed = true;
        return false;
    }
    bool good;
    const struct option *option = find(word.data, &value);
    if (!option)
        good =
            length ? complain(log, "unrecognized option ", word.data, "") : complain(log, "an option is empty", "", "");
    else if (takes_value(option->action) && !value && (*at + 1 >= count || !words[*at + 1]))
        good = complain(log, "there is no value after ", word.data, "");
    else {
        if (takes_value(option->action) && !value)
            value = words[++*at];
        good = apply(options, option, value, log);
    }
    if ((option && strcmp(option->short_name, "G") == 0) && good)
        mr_words_add(&options->words, "-D__CUDACC_DEBUG__", "");
    mr_text_clear(&word);
    return good;
}

bool mr_options_read(struct mr_options *options, int count, const char *const *words, struct mr_text *log)
{
    *options = (struct mr_options){.capability = 75, .standard = "c++17"};
    for (int i = 0; i < count; i++)
        if (!read_one(options, count, words, &i, log))
            return false;
    if (options->link_time && options->whole)
        return complain(log, "-dlto is not compatible with -rdc=false", "", "");
    options->relocatable |= options->link_time;
    if (options->relocatable)
        mr_words_add(&options->words, "-D__CUDACC_RDC__=1", "");
    return !options->words.failed;
}

void mr_options_clear(struct mr_options *options)
{
    mr_words_clear(&options->words);
}
