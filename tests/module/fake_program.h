/* SPDX-License-Identifier: Apache-2.0 */
/* A program without PTX: two kernels and four symbols, enough for modules and libraries to be tested by themselves. */
#ifndef TESTS_OBJECT_FAKE_PROGRAM_H
#define TESTS_OBJECT_FAKE_PROGRAM_H

#include "compile/compile.h"

/* Symbols of every fake program, by index. */
enum { FAKE_COUNTER, FAKE_POINTERS, FAKE_HIDDEN, FAKE_FUNCTION, FAKE_SYMBOLS };

/* One reference. mr_program_drop frees it; fake_programs_live counts. */
struct mr_program *fake_program_new(void);
extern int fake_programs_live;

#endif
