/* SPDX-License-Identifier: Apache-2.0 */
/* nvcc's command line: what each option (option_table.c) does to the request. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "option_table.h"
#include "ptx/arch.h"
#include "ptx/entries.h"
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
    return strcmp(value, a) == 0 || strcmp(value, b) == 0 || strcmp(value, c) == 0 ||
           complain("this value is not known to", word);
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

/* Warnings that NVIDIA's front end knows by a number and clang has as well. Other numbers are of diagnostics that are
 * not issued here. */
static void diagnostics(struct request *request, const char *spelling, const char *numbers)
{
    static const struct {
        const char *number, *names[2];
    } known[] = {
        {"177", {"unused-variable", "unused-function"}}, /* declared but never referenced */
        {"550", {"unused-but-set-variable"}},
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
    static const struct {
        const char *name, *spelling;
    } kinds[] = {{"--diag_suppress=", "-Wno-"}, {"--diag_warning=", "-W"}, {"--diag_error=", "-Werror="}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(option, kinds[i].name, strlen(kinds[i].name)) == 0)
            diagnostics(request, kinds[i].spelling, option + strlen(kinds[i].name));
    return strncmp(option, "--diag_", 7) == 0 || strcmp(option, "--display_error_number") == 0 ||
           complain("cannot honour the front end's option", option);
}

static bool packer(const char *option)
{
    return strcmp(option, "-compress-all") == 0 || strncmp(option, "-compress-mode", 14) == 0 ||
           strncmp(option, "--compress", 10) == 0 || complain("cannot honour the packer's option", option);
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
    case DEVICE_LINKER:
        return mr_ptx_assembler_option_is_idle(option) || strncmp(option, "-suppress-", 10) == 0 ||
               strncmp(option, "--suppress-", 11) == 0 || complain("cannot honour the device linker's option", option);
    default:
        if (strncmp(option, "-e=", 3) == 0 || strncmp(option, "--entry=", 8) == 0) {
            mr_ptx_entries_list(strchr(option, '=') + 1, &request->entries);
            return true;
        }
        request->tell_uses |= mr_ptx_assembler_option_is_verbose(option);
        return mr_ptx_assembler_option_is_idle(option) || complain("cannot honour the assembler's option", option);
    }
}

/* The next part of a comma list, which is left behind it; false at its end. As nvcc reads lists, double quotes hold a
 * part together and stay in it, and a backslash before a comma makes it one of the part. Empty parts are passed over.
 */
static bool next_part(const char **list, struct mr_text *part)
{
    const char *at = *list;
    bool quoted = false;
    mr_text_clear(part);
    at += strspn(at, ",");
    for (; *at && (quoted || *at != ','); at++) {
        quoted ^= *at == '"';
        at += !quoted && at[0] == '\\' && at[1] == ',';
        mr_text_add(part, at, 1);
    }
    *list = at;
    return part->length > 0;
}

/* The parts of a list, one by one: apart by commas or, as a shell would see them, by blanks. Quotes hold a part
 * together and are dropped, as a shell does. A backslash before a comma makes it one of the part. A list for the linker
 * within
 * (-Wl,a,b) is one part. */
static bool each_part(struct request *request, enum action action, const char *list)
{
    struct mr_text part = {.data = NULL};
    bool good = true;
    list += strspn(list, " ");
    do {
        bool within = action == HOST && strncmp(list, "-Wl,", 4) == 0;
        mr_text_clear(&part);
        char quote = 0;
        for (; *list && (quote || (*list != ' ' && (within || *list != ','))); list++) {
            if (quote ? *list == quote : *list == '"' || *list == '\'') {
                quote = (char)(quote ? 0 : *list);
                continue;
            }
            list += list[0] == '\\' && list[1] == ',';
            mr_text_add(&part, list, 1);
        }
        request->both.failed |= part.failed;
        good = one_part(request, action, mr_text_chars(&part));
        list += *list == ',';
        list += strspn(list, " ");
    } while (good && *list);
    mr_text_clear(&part);
    return good;
}

static void add_item(struct request *request, const char *word, size_t input)
{
    if (!mr_array_reserve((void **)&request->items, &request->item_room, request->item_count + 1,
                          sizeof *request->items)) {
        complain("out of memory", NULL);
        exit(1);
    }
    request->items[request->item_count++] = (struct link_item){word, input};
}

static const char *joined(const char *a, const char *b)
{
    struct mr_text text = {.data = NULL};
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

/* Of several phases the one that ends first counts, wherever it stands (nvcc does so too): "--ptx -dc" is PTX, of code
 * that would be linked later. */
static void set_phase(struct request *request, enum phase phase)
{
    static const unsigned char place[] = {
        [PHASE_VERSION] = 0,      [PHASE_HELP] = 0,    [PHASE_ARCHITECTURES] = 0, [PHASE_PREPROCESS] = 1,
        [PHASE_DEPENDENCIES] = 1, [PHASE_PTX] = 2,     [PHASE_CUBIN] = 3,         [PHASE_FATBIN] = 4,
        [PHASE_OBJECT] = 5,       [PHASE_ARCHIVE] = 6, [PHASE_DEVICE_LINK] = 6,   [PHASE_LINK] = 7};
    if (place[phase] <= place[request->phase])
        request->phase = phase;
}

/* Options without a value that set a field of the request. False: the option is another. */
static bool apply_flag(struct request *request, const struct option *option)
{
    switch (option->action) {
    case DEVICE_C:
    case DEVICE_W:
        set_phase(request, PHASE_OBJECT);
        request->relocatable = option->action == DEVICE_C;
        return true;
    case SET_DEPENDENCIES:
        request->write_dependencies = true;
        request->system_dependencies = option->detail;
        return true;
    case SET_KEEP:
        request->keep_folder = request->keep_folder ? request->keep_folder : ".";
        return true;
    case SET_PHONY:
        return request->dependency_phony = true;
    case SET_SHARED:
        return request->shared = true;
    case SET_CHECK:
        return request->check = true;
    case SET_FORWARD:
    case FORWARD_TO_LINKER:
    case FORWARD_ALL: /* seen before */
        return true;
    case VERBOSE:
        return request->verbose = true;
    case TELL_USES:
        return request->tell_uses = true;
    case EVERY_TARGET:
        return request->every_target = true;
    case DRY_RUN:
        return request->dry_run = true;
    case NO_DEVICE_LINK:
        return request->no_device_link = true;
    case RUN:
        return request->run = true;
    default:
        return false;
    }
}

/* Options that set a field of the request. */
static bool apply_setting(struct request *request, const struct option *option, const char *word, const char *value)
{
    switch (option->action) {
    case SET_PHASE:
        set_phase(request, (enum phase)option->detail);
        if (option->detail == PHASE_ARCHITECTURES)
            *(option->text ? &request->list_code : &request->list_architectures) = true;
        else
            request->system_dependencies |= option->text != NULL;
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
    case SET_DEPENDENCY_FILE:
        request->dependency_file = value;
        return true;
    case SET_DEPENDENCY_TARGET:
        request->dependency_target = value;
        return true;
    case ENTRIES:
        mr_ptx_entries_list(value, &request->entries);
        return true;
    case OPTIMISED_DEBUG:
        request->optimised_debug = true;
        return strcmp(value, "on") == 0 || complain("this value is not known to", word);
    case SET_ARCHIVER:
        request->archiver = value;
        return true;
    default:
        return apply_flag(request, option);
    }
}

static bool is_number(const char *value)
{
    size_t digits = strspn(value, "0123456789");
    return digits && !value[digits];
}

/* Whether `value` is one of the words. */
static bool is_word_of(const char *words, const char *value)
{
    size_t length = strlen(value);
    const char *at = length ? strstr(words, value) : NULL;
    return at && (at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]);
}

static bool apply_list(struct request *request, const struct option *option, const char *word, const char *value)
{
    struct mr_text part = {.data = NULL};
    bool any = false;
    for (; next_part(&value, &part); any = true)
        if (option->action == LINK_LIST)
            add_item(request, joined(option->text, mr_text_chars(&part)), 0);
        else if (option->action == RUN_ARGUMENTS)
            mr_words_add(&request->run_arguments, mr_text_chars(&part), "");
        else
            mr_words_add(&request->both, option->text, mr_text_chars(&part));
    request->both.failed |= part.failed;
    mr_text_clear(&part);
    return any || complain("there is no value after", word);
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
    case BOTH_LIST:
    case LINK_LIST:
    case RUN_ARGUMENTS:
        return apply_list(request, option, word, value);
    case BOTH_BOOLEAN:
        mr_words_add(&request->both, is_true(value) ? option->text : option->other, "");
        return is_boolean(value, word);
    case DEVICE:
        mr_words_add(&request->device, option->text, "");
        return true;
    case DEVICE_BOOLEAN:
        mr_words_add(&request->device, is_true(value) ? option->text : option->other, "");
        return is_boolean(value, word);
    case HOST_TEXT:
        mr_words_add(&request->host, option->text, "");
        return true;
    case PROFILE:
        mr_words_add(&request->host, "-pg", "");
        mr_words_add(&request->linking, "-pg", "");
        return true;
    case DEBUG_DEVICE:
        request->debug_device = true;
        mr_words_add(&request->both, "-D__CUDACC_DEBUG__", "");
        return true;
    case LEVEL:
        if (strlen(value) != 1 || *value < '0' || *value > '3')
            return complain("there is no optimisation level", value);
        mr_words_add(&request->host, "-O", value);
        return true;
    case ERRORS:
    case HOST:
    case LINKER:
    case ASSEMBLER:
    case FRONT:
    case PACKER:
    case DEVICE_LINKER:
        return each_part(request, option->action, value);
    case DIAGNOSTICS:
        diagnostics(request, option->text, value);
        return *value || complain("there is no value after", word);
    case NOTHING:
        return true;
    case NOTHING_VALUE:
        return *value || complain("there is no value after", word);
    case NOTHING_NUMBER:
        return is_number(value) || complain("expected a number in", word);
    case NOTHING_BOOLEAN:
        return is_boolean(value, word);
    case NOTHING_WORD:
        return is_word_of(option->text, value) || complain("this value is not known to", word);
    case REFUSE:
    case REFUSE_VALUE:
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
    static const struct {
        const char *ending;
        enum kind kind;
    } endings[] = {
        {".cu", KIND_CUDA}, {".c", KIND_C},      {".cc", KIND_CXX}, {".cpp", KIND_CXX},
        {".cxx", KIND_CXX}, {".c++", KIND_CXX},  {".C", KIND_CXX},  {".ptx", KIND_PTX},
        {".o", KIND_LINK},  {".obj", KIND_LINK}, {".a", KIND_LINK}, {".so", KIND_LINK},
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
    if (!mr_array_reserve((void **)&request->inputs, &request->input_room, request->input_count + 1,
                          sizeof *request->inputs))
        return complain("out of memory", NULL);
    request->inputs[request->input_count] = (struct input){path, KIND_LINK};
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
            input->kind = strcmp(request->language, "cu") == 0  ? KIND_CUDA
                          : strcmp(request->language, "c") == 0 ? KIND_C
                                                                : KIND_CXX;
        }
    }
    return true;
}

/* What NVIDIA's own compiler is given as it came. */
static void note_given(struct request *request, const struct option *option, const char *word, const char *next)
{
    switch (option->action) {
    case SET_PHASE:
    case DEVICE_C:
    case DEVICE_W:
    case SET_OUTPUT:
    case SET_OUTPUT_FOLDER:
    case SET_ARCH:
    case SET_CODE:
    case GENCODE:
    case SET_RUNTIME:
    case DRY_RUN:
    case RUN:
    case RUN_ARGUMENTS:
    case SET_KEEP:
    case SET_KEEP_FOLDER:
    case SET_LANGUAGE:
    case LINKER:
    case LINK_LIST:
    case SET_DEPENDENCIES:
    case SET_DEPENDENCY_FILE:
    case SET_DEPENDENCY_TARGET:
    case SET_PHONY:
    case SET_SHARED:
    case SET_CHECK:
    case SET_RDC:
    case VERBOSE:
    case EVERY_TARGET:
        break;
    default:
        mr_words_add(&request->given, word, "");
        if (next)
            mr_words_add(&request->given, next, "");
    }
}

static bool read_file_of_options(struct request *request, const char *path);

/* An option that nvcc doesn't know, for the program that it is meant for. */
static bool forward(struct request *request, const char *word)
{
    if (request->forward_unknown && (!request->forward_to_linker || !guard_is_for_link(word)))
        return guard_host(request, word);
    return request->forward_to_linker && guard_host_link(request, word);
}

static bool read_option(struct request *request, int argc, char **argv, int *at)
{
    const char *word = argv[*at], *value;
    const struct option *option = option_find(word, &value);
    if (!option)
        return forward(request, word) || complain("cannot honour the option", word);
    bool valued = option_takes_value(option->action), separate = false;
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
    value = value ? value : ""; /* of an option without one */
    if (value[0] == '@') /* clang's inner part would read it as an option file, even attached */
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
        if (!(words[i][0] == '-' && words[i][1] ? read_option(request, count, words, &i)
                                                : add_input(request, words[i])))
            return false;
    return true;
}

/* Words apart by blanks; quotes of both kinds hold them together, and a backslash takes the next character as it is. */
static void split(const char *text, struct mr_words *words)
{
    while (*(text += strspn(text, " \t\r\n"))) {
        struct mr_text word = {.data = NULL};
        for (char quote = '\0'; *text && (quote || !strchr(" \t\r\n", *text)); text++) {
            if (*text == quote || (!quote && (*text == '"' || *text == '\''))) {
                if (quote)
                    quote = '\0';
                else
                    quote = *text;
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
    struct mr_text text = {.data = NULL};
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
    for (int i = 1; i < argc; i++) { /* wherever they stand */
        bool all = strstr(argv[i], "-forward-unknown-opts");
        request->forward_unknown |= all || strstr(argv[i], "-forward-unknown-to-host-compiler");
        request->forward_to_linker |= all || strstr(argv[i], "-forward-unknown-to-host-linker");
    }
    if (!read_words(request, argc - 1, argv + 1))
        return false;
    return targets_end(request);
}
