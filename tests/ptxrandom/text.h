/* SPDX-License-Identifier: Apache-2.0 */

/* Between text.c (statements) and text_calls.c (functions with signatures of their own, and calls of them). */
#ifndef MR_TESTS_PTXRANDOM_TEXT_H
#define MR_TESTS_PTXRANDOM_TEXT_H

#include "program.h"

struct writer {
    FILE *file;
    const struct program *program;
    const struct function *function; /* if it has a signature of its own */
    bool counts;          /* lanes are counted here */
    char mask[24];        /* the register with the lanes of the list at hand */
    u32 loop;             /* the innermost loop */
};

extern const char class_letters[];
void put_guard(struct writer *w, const struct node *n);
void put_list(struct writer *w, int at);
void put_registers(struct writer *w);
void put_declaration(FILE *file, const struct program *p, unsigned index);
void put_signed_function(FILE *file, const struct program *p, unsigned index);
/* Results that go through variables into these. */
void put_results(struct writer *w);
void put_invoke(struct writer *w, const struct node *n);

#endif
