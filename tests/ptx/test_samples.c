/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Whole files of PTX, named on the command line, must parse and verify: what
 * clang makes of the sources beside them, and some written by hand. Each is then
 * cut at every 97th byte, which must end in an error or a tree, never in a crash.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "ptx/ptx.h"

static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = malloc(1 << 20);
    *length = text ? fread(text, 1, 1 << 20, file) : 0;
    fclose(file);
    return text;
}

static bool check_file(const char *path)
{
    size_t length;
    char *text = read_file(path, &length);
    if (!text) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return false;
    }
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    struct mr_ptx_module *module = mr_ptx_parse(text, length, &diag);
    bool good = module && mr_ptx_verify(module, &diag);
    if (!good)
        fprintf(stderr, "%s:\n%s", path, mr_ptx_diag_text(&diag));
    mr_ptx_module_destroy(module);
    mr_ptx_diag_clear(&diag);
    for (size_t cut = 0; cut < length; cut += 97) {
        module = mr_ptx_parse(text, cut, NULL);
        if (module)
            mr_ptx_verify(module, NULL);
        mr_ptx_module_destroy(module);
    }
    free(text);
    return good;
}

int main(int argc, char **argv)
{
    bool good = argc > 1;
    for (int i = 1; i < argc; i++)
        good = check_file(argv[i]) && good;
    return good ? 0 : 1;
}
