/* SPDX-License-Identifier: Apache-2.0 */
/* What each option of nvcc's (option_table.c) does to the request. */
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

bool option_is_true(const char *value)
{
    return strcmp(value, "true") == 0;
}

bool option_is_boolean(const char *value, const char *word)
{
    return option_is_true(value) || strcmp(value, "false") == 0 || complain("expected true or false in", word);
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
        return guard_linker(&request->linker, option);
    case ERRORS:
        return errors(request, option);
    case FRONT:
        return front(request, option);
    case PACKER:
        return packer(option);
    case DEVICE_LINKER:
        return mr_ptx_assembler_option_is_idle(option) || complain("cannot honour the device linker's option", option);
    default:
        if (strncmp(option, "-e=", 3) == 0 || strncmp(option, "--entry=", 8) == 0) {
            mr_ptx_entries_list(strchr(option, '=') + 1, &request->entries);
            return true;
        }
        request->tell_uses |= mr_ptx_assembler_option_is_verbose(option);
        return mr_ptx_assembler_option_is_idle(option) || complain("cannot honour the assembler's option", option);
    }
}

bool option_next_part(const char **list, struct mr_text *part)
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

void request_add_item(struct request *request, const char *word, size_t input)
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
        [PHASE_VERSION] = 0,      [PHASE_HELP] = 0,   [PHASE_ARCHITECTURES] = 0, [PHASE_PREPROCESS] = 1,
        [PHASE_DEPENDENCIES] = 1, [PHASE_PTX] = 2,    [PHASE_CUBIN] = 3,         [PHASE_FATBIN] = 4,
        [PHASE_LINK_TIME] = 4,    [PHASE_OBJECT] = 5, [PHASE_ARCHIVE] = 6,       [PHASE_DEVICE_LINK] = 6,
        [PHASE_LINK] = 7};
    request->device_links |= phase == PHASE_DEVICE_LINK;
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
    case SET_LINK_TIME:
        return request->link_time = true;
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
        request->relocatable = option_is_true(value);
        return option_is_boolean(value, word);
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
    for (; option_next_part(&value, &part); any = true)
        if (option->action == LINK_LIST)
            request_add_item(request, joined(option->text, mr_text_chars(&part)), 0);
        else if (option->action == RUN_ARGUMENTS)
            mr_words_add(&request->run_arguments, mr_text_chars(&part), "");
        else
            mr_words_add(&request->both, option->text, mr_text_chars(&part));
    request->both.failed |= part.failed;
    mr_text_clear(&part);
    return any || complain("there is no value after", word);
}

/* Options that become words of a command. */
bool option_apply(struct request *request, const struct option *option, const char *word, const char *value)
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
        mr_words_add(&request->both, option_is_true(value) ? option->text : option->other, "");
        return option_is_boolean(value, word);
    case DEVICE:
        mr_words_add(&request->device, option->text, "");
        return true;
    case DEVICE_BOOLEAN:
        mr_words_add(&request->device, option_is_true(value) ? option->text : option->other, "");
        return option_is_boolean(value, word);
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
        return option_is_boolean(value, word);
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
