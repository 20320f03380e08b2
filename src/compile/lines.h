/* SPDX-License-Identifier: Apache-2.0 */
/* PTX lines of generated code, from the line table of a loaded object (struct mr_loaded, `object`). Every number in it
 * is checked: what is wrong ends the reading, nothing else. Any thread; nothing is kept. */
#ifndef MR_COMPILE_LINES_H
#define MR_COMPILE_LINES_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls `row` for each row of the table in its order: from `address` on, up to the next row's, code belongs to `line`
 * (0: to none). `end`: nothing belongs to anything from there on. */
void mr_lines_each(const unsigned char *object, size_t size,
                   void (*row)(void *data, uint64_t address, uint32_t line, bool end), void *data);

/* The line of the instruction at an address; 0 if that is not known. */
uint32_t mr_lines_find(const unsigned char *object, size_t size, uint64_t address);

/* Calls `found` for each function of the object that has a size, with its symbol's name. */
void mr_lines_functions(const unsigned char *object, size_t size,
                        void (*found)(void *data, const char *name, uint64_t address, uint64_t bytes), void *data);

#endif
