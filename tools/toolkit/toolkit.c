/* SPDX-License-Identifier: Apache-2.0 */
/* Options, messages and files of the programs that answer to the names of a toolkit's. */
#include "toolkit.h"

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

bool toolkit_words(int argc, char *const *argv, const struct mr_option *options, size_t count, struct mr_words *kept,
                   mr_option_take *take, void *user)
{
    struct mr_text problem = {.data = NULL};
    bool good = mr_options_read(argc > 0 ? (size_t)argc - 1 : 0, (const char *const *)argv + 1, options, count, kept,
                                take, user, &problem);
    if (problem.length)
        fprintf(stderr, "%s (Millrace): error: %s\n", toolkit_program, problem.data);
    mr_text_clear(&problem);
    return good;
}
