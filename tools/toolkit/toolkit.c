/* SPDX-License-Identifier: Apache-2.0 */
/* Options, messages and files of the programs that answer to the names of a toolkit's. */
#include "toolkit.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

bool toolkit_complain(const char *what, const char *name)
{
    fprintf(stderr, "%s (Millrace): error: %s %s\n", toolkit_program, what, name);
    return false;
}

static bool complain_of_file(const char *what, const char *path)
{
    fprintf(stderr, "%s (Millrace): error: cannot %s %s: %s\n", toolkit_program, what, path, strerror(errno));
    return false;
}

bool toolkit_read(const char *path, struct mr_text *text)
{
    if (!mr_text_read(text, path))
        return complain_of_file("read", path);
    return !text->failed || toolkit_complain("out of memory reading", path);
}

bool toolkit_write(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return complain_of_file("write", path);
    bool good = fwrite(data, 1, size, file) == size;
    good = fclose(file) == 0 && good;
    return good || complain_of_file("write", path);
}

int toolkit_end(int status, int failed)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    complain_of_file("write", "to standard output");
    return failed;
}

/* Is the word so long the name? */
static bool is_name(const char *name, const char *word, size_t length)
{
    return strlen(name) == length && strncmp(name, word, length) == 0;
}

/* The option, and where its value begins if that is in the same word, else NULL. */
static const struct toolkit_option *find_option(const char *word, const struct toolkit_option *options, size_t count,
                                                const char **value)
{
    const char *text = word + 1 + (word[1] == '-');
    size_t length = strcspn(text, "=");
    *value = text[length] ? text + length + 1 : NULL;
    for (size_t i = 0; i < count; i++)
        if (is_name(options[i].name, text, length) || is_name(options[i].shorter, text, length))
            return &options[i];
    for (size_t i = 0; i < count; i++) {
        size_t name = strlen(options[i].shorter);
        *value = text + name;
        if (options[i].joined && strncmp(text, options[i].shorter, name) == 0 && isdigit((unsigned char)**value))
            return &options[i];
    }
    return NULL;
}

/* The words of the files, apart by blanks, in the place of the option that names them. A file may name no other. */
static bool expand(int argc, char *const *argv, const struct toolkit_option *options, size_t count,
                   struct mr_words *all)
{
    for (int i = 1; i < argc; i++) {
        const char *value = NULL;
        const struct toolkit_option *option =
            argv[i][0] == '-' && argv[i][1] ? find_option(argv[i], options, count, &value) : NULL;
        if (!option || option->effect != TOOLKIT_OPTIONS_FILE) {
            mr_words_add(all, argv[i], "");
            if (option && option->has_value && !value && i + 1 < argc)
                mr_words_add(all, argv[++i], "");
            continue;
        }
        if (!value && !(value = argv[++i]))
            return toolkit_complain("a value is missing behind", argv[i - 1]);
        struct mr_text text = {.data = NULL};
        bool good = toolkit_read(value, &text);
        char *rest = text.data;
        for (char *word; good && rest && (word = strsep(&rest, " \t\r\n"));)
            if (*word)
                mr_words_add(all, word, "");
        mr_text_clear(&text);
        if (!good)
            return false;
    }
    return !all->failed || toolkit_complain("out of memory for", "the options");
}

bool toolkit_words(int argc, char *const *argv, const struct toolkit_option *options, size_t count,
                   struct mr_words *kept, toolkit_take *take, void *user)
{
    if (!expand(argc, argv, options, count, kept))
        return false;
    for (size_t i = 0; i < kept->count; i++) {
        const char *word = kept->items[i], *value = word;
        const struct toolkit_option *option = NULL;
        if (word[0] == '-' && word[1]) {
            option = find_option(word, options, count, &value);
            if (!option)
                return toolkit_complain("unknown option", word);
            if (option->effect == TOOLKIT_OPTIONS_FILE)
                return toolkit_complain("a file of options names another:", word);
            if (!option->has_value && value)
                return toolkit_complain("this option has no value:", word);
            if (option->has_value && !value && !(value = kept->items[++i]))
                return toolkit_complain("a value is missing behind", word);
        }
        if (!take(user, option, word, value ? value : ""))
            return false;
    }
    return true;
}
