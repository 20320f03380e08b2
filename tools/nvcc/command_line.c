/* SPDX-License-Identifier: Apache-2.0 */
/* nvcc's command line, word by word: options, which options.c carries out, files of options, and inputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "option_table.h"
#include "shim.h"

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
    request_add_item(request, NULL, request->input_count++);
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

static bool read_files_of_options(struct request *request, const char *list);

/* An option that nvcc doesn't know, for the program that it is meant for. */
static bool forward(struct request *request, const char *word)
{
    if (request->forward_unknown && (!request->forward_to_linker || !guard_is_for_link(word)))
        return guard_host(request, word);
    return request->forward_to_linker && guard_host_link(request, word);
}

/* Whether a word that looks like -m with its value (-m64) is an option of the host compiler's (-mavx2, -march=native).
 */
static bool is_of_host_machine(const struct option *option, const char *value)
{
    return option->action == SET_MACHINE && value && (*value < '0' || *value > '9');
}

static bool read_option(struct request *request, int argc, char **argv, int *at)
{
    const char *word = argv[*at], *value;
    const struct option *option = option_find(word, &value);
    if (!option || is_of_host_machine(option, value))
        return forward(request, word) || complain("cannot honour the option", word);
    bool valued = option_takes_value(option->action), separate = false;
    if (valued && !value) {
        if (*at + 1 >= argc)
            return complain("there is no value after", word);
        value = argv[++*at];
        separate = true;
    } else if (!valued && value) { /* --name=true, --name=false */
        if (!option_is_boolean(value, word) || !option_is_true(value))
            return option_is_true(value) || strcmp(value, "false") == 0;
        value = NULL;
    }
    value = value ? value : ""; /* of an option without one */
    if (value[0] == '@') /* clang's inner part would read it as an option file, even attached */
        return complain("option files are not read:", value);
    if (option->action == OPTIONS_FILE)
        return read_files_of_options(request, value);
    if (!option_apply(request, option, word, value))
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

/* The file's words are read by the same table. */
static bool read_file_of_options(struct request *request, const char *path)
{
    struct mr_text text = {.data = NULL};
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

/* One file, or several with commas between. They may not name a further file. */
static bool read_files_of_options(struct request *request, const char *list)
{
    struct mr_text path = {.data = NULL};
    if (request->in_options_file)
        return complain("an option file names another:", list);
    bool good = *list || complain("there is no file of options in", "--options-file");
    while (good && option_next_part(&list, &path))
        good = !path.failed && read_file_of_options(request, mr_text_chars(&path));
    mr_text_clear(&path);
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
