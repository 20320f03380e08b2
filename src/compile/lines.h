/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of generated code, from the line table of a loaded object (struct mr_loaded, `object`). Where the module tells
 * of its own source (.loc), the table has that source's lines, and the PTX's as discriminators. Every number in it is
 * checked: what is wrong ends the reading, nothing else. Any thread; nothing is kept. */
#ifndef MR_COMPILE_LINES_H
#define MR_COMPILE_LINES_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row: from `address` on, up to the next row's, code belongs to `line` of `file`. */
struct mr_line_row {
    uint64_t address;
    uint32_t line;     /* 0: none */
    uint32_t ptx_line; /* the PTX line that it was made of, the same where the file is the PTX; 0: not known */
    const char *folder, *file; /* as long as the object; NULL: not known; a folder of NULL: where the compiler ran */
    bool end;          /* nothing belongs to anything from there on */
};

/* Calls `row` for each row of the table in its order. */
void mr_lines_each(const unsigned char *object, size_t size, void (*row)(void *data, const struct mr_line_row *row),
                   void *data);

/* The PTX line of the instruction at an address; 0 if that is not known. */
uint32_t mr_lines_find(const unsigned char *object, size_t size, uint64_t address);

/* Calls `found` for each function of the object that has a size, with its symbol's name. */
void mr_lines_functions(const unsigned char *object, size_t size,
                        void (*found)(void *data, const char *name, uint64_t address, uint64_t bytes), void *data);

#endif
