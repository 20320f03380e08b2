/* SPDX-License-Identifier: Apache-2.0 */
/* The nvcc shim: nvcc's spelling of a device-only compilation, done by clang 19 with Millrace's device header.
 *
 * options.c turns nvcc's command line into a `request`; main.c turns that into clang's command line and runs it. Nothing passes through a
 * shell; what is not understood is named in an error, never dropped. */
#ifndef NVCC_SHIM_H
#define NVCC_SHIM_H

#include <stdbool.h>
#include <stddef.h>

enum phase { PHASE_NONE, PHASE_VERSION, PHASE_HELP, PHASE_PREPROCESS, PHASE_PTX, PHASE_CUBIN };

/* A growing list of words, NULL-terminated. */
struct words {
    const char **items;
    size_t count, room;
};

void words_add(struct words *words, const char *word);

struct request {
    enum phase phase;
    const char *source;        /* the one kernel source */
    const char *output;        /* -o, or NULL */
    int capability;            /* 80 for sm_80 */
    bool plain_preprocess;     /* no line markers: --compiler-options -P */
    bool verbose, dry_run;
    struct words clang;        /* options that clang gets as they stand here */
};

/* Reads the command line. False after a message on standard error. */
bool request_parse(struct request *request, int argc, char **argv);

#endif
