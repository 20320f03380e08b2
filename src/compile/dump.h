/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of a kernel's way from PTX to machine code, as files for reading: MILLRACE_DUMP and MILLRACE_DUMP_DIR. */
#ifndef MR_COMPILE_DUMP_H
#define MR_COMPILE_DUMP_H

#include <stddef.h>
#include <stdint.h>

enum {
    MR_DUMP_PTX = 1u << 0,
    MR_DUMP_IR = 1u << 1,
    MR_DUMP_ASM = 1u << 2,
    MR_DUMP_ALL = MR_DUMP_PTX | MR_DUMP_IR | MR_DUMP_ASM
};

struct mr_dump {
    unsigned stages;      /* MR_DUMP_*; 0: nothing is to be written */
    const char *folder;   /* valid as long as the setting stays as it is */
};

/* What the settings say now. */
struct mr_dump mr_dump_settings(void);

/* Writes a text of one stage, if the settings name it, as HASH[-NAME].SUFFIX; makes the folder. */
void mr_dump_text(unsigned stage, uint64_t hash, const char *name, const char *suffix, const char *text, size_t length);

#endif
