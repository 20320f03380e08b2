/* SPDX-License-Identifier: Apache-2.0 */
/* Options as the programs of a toolkit spell them. */
#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static bool tell(struct mr_text *problem, const char *what, const char *name)
{
    mr_text_format(problem, "%s %s", what, name);
    return false;
}

/* Is the word so long the name? */
static bool is_name(const char *name, const char *word, size_t length)
{
    return strlen(name) == length && strncmp(name, word, length) == 0;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1];
}

/* The option, and where its value begins if that is in the same word, else NULL. */
static const struct mr_option *find_option(const char *word, const struct mr_option *options, size_t count,
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

/* Adds the words of a file, which are apart by blanks. */
static bool add_file(const char *path, struct mr_words *all, struct mr_text *problem)
{
    struct mr_text text = {.data = NULL};
    bool good = mr_text_read(&text, path);
    if (!good)
        mr_text_format(problem, "cannot read %s: %s", path, strerror(errno));
    char *rest = text.data;
    for (char *word; good && rest && (word = strsep(&rest, " \t\r\n"));)
        if (*word)
            mr_words_add(all, word, "");
    all->failed |= text.failed;
    mr_text_clear(&text);
    return good;
}

/* The words, with those of files in the place of the options that name them. A file may name no other. */
static bool expand(size_t word_count, const char *const *words, const struct mr_option *options, size_t count,
                   struct mr_words *all, struct mr_text *problem)
{
    for (size_t i = 0; i < word_count; i++) {
        const char *value = NULL;
        const struct mr_option *option = is_option(words[i]) ? find_option(words[i], options, count, &value) : NULL;
        bool names_file = option && option->effect == MR_OPTIONS_FILE;
        if (!names_file)
            mr_words_add(all, words[i], "");
        if (option && option->has_value && !value && i + 1 < word_count) {
            value = words[++i];
            if (!names_file)
                mr_words_add(all, value, "");
        }
        if (names_file && !value)
            return tell(problem, "a value is missing behind", words[i]);
        if (names_file && !add_file(value, all, problem))
            return false;
    }
    return !all->failed || tell(problem, "out of memory for", "the options");
}

bool mr_options_read(size_t word_count, const char *const *words, const struct mr_option *options, size_t count,
                     struct mr_words *kept, mr_option_take *take, void *user, struct mr_text *problem)
{
    if (!expand(word_count, words, options, count, kept, problem))
        return false;
    for (size_t i = 0; i < kept->count; i++) {
        const char *word = kept->items[i], *value = word;
        const struct mr_option *option = NULL;
        if (is_option(word)) {
            option = find_option(word, options, count, &value);
            if (!option)
                return tell(problem, "unknown option", word);
            if (option->effect == MR_OPTIONS_FILE)
                return tell(problem, "a file of options names another:", word);
            if (!option->has_value && value)
                return tell(problem, "this option has no value:", word);
            if (option->has_value && !value && !(value = kept->items[++i]))
                return tell(problem, "a value is missing behind", word);
        }
        if (!take(user, option, word, value ? value : ""))
            return false;
    }
    return true;
}
