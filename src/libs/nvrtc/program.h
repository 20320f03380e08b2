/* SPDX-License-Identifier: Apache-2.0 */
/* A program of NVRTC's: source, headers and name expressions in; PTX, cubin, log and lowered names out.
 *
 * api.c checks arguments and hands out results; compile.c does a compilation; folder.c lays the in-memory headers out
 * for the compiler; keep.c is the disk cache; prepare.c what is done once for many compilations; cubin.c the container;
 * other.c a compilation by another library; uses.c what kernels use. One thread works on a program at a time, as NVRTC
 * asks; programs are independent of one another. */
#ifndef MR_NVRTC_PROGRAM_H
#define MR_NVRTC_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "libs/nvrtc/options.h"

struct mr_header {
    char *name, *text;
};

struct mr_name {
    char *expression;   /* as given */
    char *lowered;      /* the symbol in the PTX, after a compilation that succeeded */
};

struct _nvrtcProgram {
    char *source, *name;            /* name: "default_program" where none was given */
    struct mr_header *headers;
    size_t header_count;
    struct mr_name *names;
    size_t name_count, name_room;
    bool compiled;                  /* the compiler has run: no more name expressions */
    bool good;                      /* and succeeded */
    struct mr_text ptx, cubin, link_time, log; /* of ptx and link_time one is empty */
    int (*cancel)(void *, void *);
    void *cancel_data;
};

/* What a compilation came to; api.c turns it into NVRTC's statuses. */
enum mr_made {
    MR_MADE,
    MR_MADE_NO_MEMORY,
    MR_MADE_BAD_OPTION,
    MR_MADE_BAD_SOURCE,
    MR_MADE_NO_COMPILER,
    MR_MADE_CANCELLED
};

/* Compiles, and fills in ptx, cubin, link_time, log and the lowered names. */
enum mr_made mr_program_compile(struct _nvrtcProgram *program, int option_count, const char *const *options);

/* The path of what lies beside this library, by a name relative to its folder. False if it isn't there. */
bool mr_program_beside(const char *name, char out[4096]);

/* Forgets the results of an earlier compilation. */
void mr_program_reset(struct _nvrtcProgram *program);

/* Takes the name expressions' variables out of `ptx`, and their symbols into the program. False: out of memory. */
bool mr_program_take_names(struct _nvrtcProgram *program, const struct mr_text *ptx);

/* folder.c: the headers as files in a new folder. `search` is what -I gets; "" if there are no headers. False with a
 * line in *log. mr_folder_remove takes `root` ("" is allowed). */
struct mr_folder {
    char root[64], search[96];
};
bool mr_folder_make(struct mr_folder *folder, const struct _nvrtcProgram *program, struct mr_text *log);
void mr_folder_remove(struct mr_folder *folder);
/* Whether an in-memory header's name can be laid out: it is not absolute, and goes up by eight folders at most. */
bool mr_folder_name_good(const char *name);

/* other.c: whether another libnvrtc is to compile (MILLRACE_NVRTC), and a compilation by it. */
bool mr_other_chosen(void);
enum mr_made mr_other_compile(struct _nvrtcProgram *program, int option_count, const char *const *options);

/* cubin.c: a fat binary with the PTX in it. */
void mr_cubin_make(struct mr_text *cubin, const struct mr_text *ptx, unsigned capability);

/* uses.c: adds to the log what each kernel uses. */
void mr_uses_tell(struct _nvrtcProgram *program);

#endif
