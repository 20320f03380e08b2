/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a runtime library without names (redirect/known.h), found by their code. The table is made of the object
 * that OBJECT was linked from, or of others that were linked from it, so that its symbols say what is to be found.
 * Usage: test_known OBJECT */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <elf.h>

#include "libs/redirect/libraries.h"
#include "libs/redirect/slots.h"
#include "libs/redirect/symbols.h"

/* slots.c takes this from libraries.c; nothing is opened here. */
const char *mr_redirect_folder(void)
{
    return "";
}
const char mr_redirect_stubs[1], mr_redirect_first_calls[1];

static unsigned char *bytes;
static size_t size;

static const char *read_code(struct mr_redirect_symbols *by_name, struct mr_redirect_symbols *by_code)
{
    int fd = memfd_create("object", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    assert_null(mr_redirect_read(fd, false, by_name));
    *by_code = (struct mr_redirect_symbols){0};
    const char *problem = mr_redirect_read_code(fd, by_code);
    close(fd);
    return problem;
}

static void as_the_names_say(void **state)
{
    (void)state;
    struct mr_redirect_symbols names, code;
    assert_null(read_code(&names, &code));
    assert_string_equal(code.known, "13.0");
    size_t same = 0, long_enough = 0;
    for (size_t i = 0; i < names.count; i++) {
        long_enough += names.functions[i].size >= 9;
        for (size_t k = 0; k < code.count; k++)
            if (names.functions[i].name == code.functions[k].name) {
                assert_int_equal(names.functions[i].value, code.functions[k].value);
                assert_int_equal(names.functions[i].offset, code.functions[k].offset);
                same++;
            }
    }
    assert_int_equal(same, code.count);
    assert_true(long_enough > 5 && same >= long_enough);
    free(names.functions);
    free(code.functions);
}

/* The section of code, and where in it the first of the functions begins. */
static Elf64_Shdr *text_section(void)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
    Elf64_Shdr *sections = (Elf64_Shdr *)(bytes + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++)
        if ((sections[i].sh_flags & SHF_EXECINSTR) && sections[i].sh_size > 500)
            return &sections[i];
    fail();
    return NULL;
}

static void nothing_is_found(void)
{
    struct mr_redirect_symbols names, code;
    assert_null(read_code(&names, &code));
    assert_int_equal(code.count, 0);
    assert_null(code.known);
    free(names.functions);
}

/* Code of which one window is another, or that ends too early, is another version's. */
static void other_code(void **state)
{
    (void)state;
    struct mr_redirect_symbols names;
    struct window {
        uint32_t at;
        uint64_t hash;
    };
#define RUNTIME(version, length, windows) const uint32_t code_size = length;
#define WINDOW(at, hash)
#define FUNCTION(name, ...)
#include MR_KNOWN_TABLE
#undef RUNTIME
#undef WINDOW
#define RUNTIME(version, length, windows)
#define WINDOW(at, hash) {at, hash},
    static const struct window windows[] = {
#include MR_KNOWN_TABLE
    };
    Elf64_Shdr *text = text_section();
    struct mr_redirect_symbols code;
    assert_null(read_code(&names, &code));
    uint64_t begin = code.functions[0].offset;
#undef WINDOW
#undef FUNCTION
#define WINDOW(at, hash)
#define FUNCTION(name, place) {#name, place},
    static const struct {
        char name[64];
        uint32_t place;
    } functions[] = {
#include MR_KNOWN_TABLE
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (mr_redirect_name(functions[i].name) == code.functions[0].name)
            begin -= functions[i].place;
    free(names.functions);
    free(code.functions);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        bytes[begin + windows[i].at + 5] ^= 1;
        nothing_is_found();
        bytes[begin + windows[i].at + 5] ^= 1;
    }
    uint64_t whole = text->sh_size;
    text->sh_size = begin - text->sh_offset + code_size - 1;
    nothing_is_found();
    text->sh_size = UINT64_MAX - text->sh_offset / 2;
    nothing_is_found();
    text->sh_size = whole;
    text->sh_addr += 4; /* no longer at a multiple of 16 */
    nothing_is_found();
    text->sh_addr -= 4;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_names_say), cmocka_unit_test(other_code)};
    if (argc != 2)
        return 2;
    FILE *file = fopen(argv[1], "rb");
    if (!file)
        return 2;
    fseek(file, 0, SEEK_END);
    size = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(size);
    bool whole = bytes && fread(bytes, 1, size, file) == size;
    fclose(file);
    return whole ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
