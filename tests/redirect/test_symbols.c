/* SPDX-License-Identifier: Apache-2.0 */
/* Reading symbol tables (redirect/symbols.h): what a good file gives, and files that lie or are cut short. Usage:
 * test_symbols OBJECT, one that carries a runtime library. */
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

static const char *object;

/* slots.c takes this from libraries.c; nothing is opened here. */
const char *mr_redirect_folder(void)
{
    return "";
}
const char mr_redirect_stubs[1], mr_redirect_first_calls[1];

static unsigned char *read_object(size_t *size)
{
    FILE *file = fopen(object, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* What reading these bytes as a file gives. */
static const char *read_bytes(const unsigned char *bytes, size_t size, struct mr_redirect_symbols *out)
{
    int fd = memfd_create("object", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    const char *problem = mr_redirect_read(fd, out);
    close(fd);
    return problem;
}

static void good_file(void **state)
{
    (void)state;
    size_t size;
    struct mr_redirect_symbols symbols;
    unsigned char *bytes = read_object(&size);
    assert_null(read_bytes(bytes, size, &symbols));
    assert_true(symbols.has_table);
    assert_false(symbols.is_ours);
    bool found = false;
    for (size_t i = 0; i < symbols.count; i++) {
        assert_true(symbols.functions[i].offset < size && symbols.functions[i].room > 0);
        found |= symbols.functions[i].name == mr_redirect_name("cudaMemcpy2DAsync");
        if (symbols.functions[i].name == mr_redirect_name("cudaPeekAtLastError"))
            assert_int_equal(symbols.functions[i].room, 3);
        if (symbols.functions[i].name == mr_redirect_name("cudaGetLastError"))
            assert_int_equal(symbols.functions[i].room, 16);
    }
    assert_true(found);
    free(symbols.functions);
    free(bytes);
}

static void names(void **state)
{
    (void)state;
    assert_true(mr_redirect_name("cudaMalloc") >= 0);
    assert_true(mr_redirect_name("__cudaRegisterFatBinary") >= 0);
    assert_true(mr_redirect_name("cudaBindTexture") >= 0);
    assert_true(mr_redirect_name("cudaMemcpyAsync_ptsz") >= 0);
    assert_int_equal(mr_redirect_name("cudaMallo"), -1);
    assert_int_equal(mr_redirect_name("cudaMallocs"), -1);
    assert_int_equal(mr_redirect_name(""), -1);
}

static void cut_short(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = read_object(&size);
    for (size_t cut = 0; cut < size; cut += 1 + size / 500) {
        struct mr_redirect_symbols symbols;
        const char *problem = read_bytes(bytes, cut, &symbols);
        if (problem)
            assert_true(symbols.functions == NULL && symbols.count == 0);
        free(symbols.functions);
    }
    free(bytes);
}

/* Bytes of the header, of the section headers and of the symbols take any value. Nothing but names of the table comes
 * out; where the functions lie is checked when they are changed. */
static void lies(void **state)
{
    (void)state;
    size_t size;
    unsigned char *good = read_object(&size), *bad = malloc(size);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)good;
    size_t sections = header->e_shoff, end = sections + (size_t)header->e_shnum * sizeof(Elf64_Shdr);
    const Elf64_Shdr *table = NULL;
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (((const Elf64_Shdr *)(good + sections))[i].sh_type == SHT_SYMTAB)
            table = &((const Elf64_Shdr *)(good + sections))[i];
    assert_non_null(table);
    srand(1);
    for (int round = 0; round < 3000; round++) {
        struct mr_redirect_symbols symbols;
        memcpy(bad, good, size);
        for (int change = rand() % 4; change >= 0; change--) {
            size_t at = round % 3 == 0   ? (size_t)rand() % sizeof *header
                        : round % 3 == 1 ? sections + (size_t)rand() % (end - sections)
                                         : table->sh_offset + (size_t)rand() % table->sh_size;
            bad[at] = (unsigned char)(rand() % 3 ? rand() : 0xff);
        }
        read_bytes(bad, size, &symbols);
        for (size_t i = 0; i < symbols.count; i++)
            assert_true(symbols.functions[i].name >= 0 && symbols.functions[i].name < MR_REDIRECT_NAMES);
        free(symbols.functions);
    }
    free(bad);
    free(good);
}

static void no_file(void **state)
{
    (void)state;
    struct mr_redirect_symbols symbols;
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    assert_non_null(mr_redirect_read(pipes[0], &symbols));
    assert_non_null(mr_redirect_read(-1, &symbols));
    assert_non_null(read_bytes((const unsigned char *)"#!/bin/sh\n", 10, &symbols));
    close(pipes[0]);
    close(pipes[1]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_file), cmocka_unit_test(names),   cmocka_unit_test(cut_short),
        cmocka_unit_test(lies),      cmocka_unit_test(no_file),
    };
    if (argc != 2)
        return 2;
    object = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
