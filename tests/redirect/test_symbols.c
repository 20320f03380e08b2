/* SPDX-License-Identifier: Apache-2.0 */
/* Reading symbol tables (redirect/symbols.h): what a good file gives, and files that lie or are cut short. Usage:
 * test_symbols OBJECT, one that carries a runtime library. */
#define _GNU_SOURCE
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
    const char *problem = mr_redirect_read(fd, false, out);
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
        /* One function with two names. */
        if (symbols.functions[i].name == mr_redirect_name("cudaPeekAtLastError") ||
            symbols.functions[i].name == mr_redirect_name("cudaProfilerStop"))
            assert_int_equal(symbols.functions[i].room, 3);
        if (symbols.functions[i].name == mr_redirect_name("cudaGetLastError"))
            assert_int_equal(symbols.functions[i].room, 16);
    }
    assert_true(found);
    free(symbols.functions);
    free(bytes);
}

/* The header of the symbol table. */
static Elf64_Shdr *find_table(unsigned char *bytes)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
    Elf64_Shdr *sections = (Elf64_Shdr *)(bytes + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB)
            return &sections[i];
    fail_msg("the object has no symbols");
    return NULL;
}

/* The names are read piece by piece; wherever a piece ends, the functions are found. `padding` bytes, and `others`
 * names that end as a function's does, come before the names, at the end of the file. */
static size_t functions_behind(size_t padding, unsigned others)
{
    static const char longer[] = "not_cudaRuntimeGetVersion";
    size_t size, before = padding + others * sizeof longer;
    struct mr_redirect_symbols symbols;
    unsigned char *bytes = read_object(&size);
    const Elf64_Shdr *table = find_table(bytes);
    const Elf64_Shdr *strings = (const Elf64_Shdr *)(bytes + ((const Elf64_Ehdr *)bytes)->e_shoff) + table->sh_link;
    size_t length = strings->sh_size, from = strings->sh_offset;
    bytes = realloc(bytes, size + before + length);
    assert_non_null(bytes);
    memset(bytes + size, 'x', before);
    for (unsigned i = 0; i < others; i++)
        memcpy(bytes + size + padding + i * sizeof longer, longer, sizeof longer);
    memcpy(bytes + size + before, bytes + from, length);
    Elf64_Shdr *sections = (Elf64_Shdr *)(bytes + ((const Elf64_Ehdr *)bytes)->e_shoff);
    table = find_table(bytes);
    sections[table->sh_link].sh_offset = size;
    sections[table->sh_link].sh_size = before + length;
    for (size_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); i++)
        ((Elf64_Sym *)(bytes + table->sh_offset))[i].st_name += (unsigned)before;
    assert_null(read_bytes(bytes, size + before + length, &symbols));
    free(symbols.functions);
    free(bytes);
    return symbols.count;
}

static void names_in_pieces(void **state)
{
    (void)state;
    size_t expected = functions_behind(0, 0);
    assert_true(expected > 8);
    size_t size;
    unsigned char *bytes = read_object(&size);
    const Elf64_Shdr *table = find_table(bytes);
    const Elf64_Shdr *strings = (const Elf64_Shdr *)(bytes + ((const Elf64_Ehdr *)bytes)->e_shoff) + table->sh_link;
    const unsigned char *sign = memmem(bytes + strings->sh_offset, strings->sh_size, "\0cudaRuntimeGetVersion", 23);
    assert_non_null(sign);
    /* A piece has 256 KiB; the second ends where a name of 22 bytes less does. */
    size_t inside = (size_t)(sign + 1 - (bytes + strings->sh_offset)), piece = (size_t)1 << 18;
    for (size_t at = piece - 50; at < piece + 50; at++)
        assert_int_equal(functions_behind(at - inside, 0), expected);
    for (size_t at = 2 * piece - 80; at < 2 * piece + 30; at += 3)
        assert_int_equal(functions_behind(at - inside, 0), expected);
    free(bytes);
    for (unsigned others = 1; others < 40; others++)
        assert_int_equal(functions_behind(5, others), expected);
}

/* An object with a function that has a name of the library's, and without those that every such library has. */
static void no_library(void **state)
{
    (void)state;
    size_t size;
    struct mr_redirect_symbols symbols;
    unsigned char *bytes = read_object(&size);
    const Elf64_Shdr *table = find_table(bytes);
    const Elf64_Shdr *strings = (const Elf64_Shdr *)(bytes + ((const Elf64_Ehdr *)bytes)->e_shoff) + table->sh_link;
    unsigned char *sign = memmem(bytes + strings->sh_offset, strings->sh_size, "\0cudaRuntimeGetVersion", 23);
    assert_non_null(sign);
    sign[1] = 'k';
    assert_null(read_bytes(bytes, size, &symbols));
    assert_true(symbols.has_table && symbols.count == 0 && !symbols.functions);
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
    const Elf64_Shdr *table = find_table(good);
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
    assert_non_null(mr_redirect_read(pipes[0], false, &symbols));
    assert_non_null(mr_redirect_read(-1, false, &symbols));
    assert_non_null(read_bytes((const unsigned char *)"#!/bin/sh\n", 10, &symbols));
    close(pipes[0]);
    close(pipes[1]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_file),  cmocka_unit_test(names),   cmocka_unit_test(cut_short),
        cmocka_unit_test(lies),       cmocka_unit_test(no_file), cmocka_unit_test(names_in_pieces),
        cmocka_unit_test(no_library),
    };
    if (argc != 2)
        return 2;
    object = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
