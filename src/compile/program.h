/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of struct mr_program; private to src/compile. A program never changes after mr_program_load except for its
 * machine code, which launches add and read without a lock. Its trees come and go (trees.c). */
#ifndef MR_COMPILE_PROGRAM_H
#define MR_COMPILE_PROGRAM_H

#include <stdatomic.h>
#include <stdio.h>

#include "abi/tier.h"
#include "base/list.h"
#include "base/thread.h"
#include "compile/cache.h"
#include "compile/codegen.h"
#include "compile/compile.h"
#include "compile/layout.h"
#include "compile/loader.h"
#include "ptx/ptx.h"

/* Which machine code is wanted. */
struct mr_wanted {
    struct mr_program *program;
    size_t entry;
    unsigned shape; /* MR_SHAPE_* */
    bool hurry; /* a first version, made in a hurry */
    enum mr_wanted_by {
        MR_WANTED_BY_LAUNCH, /* which waits for it */
        MR_WANTED_AHEAD, /* by nobody yet: a failure is not told */
        MR_WANTED_BETTER /* in the place of one that runs for long */
    } by;
};

/* Machine code of one entry for one class of block shapes; lives as long as its program. */
struct mr_variant {
    struct mr_code code;
    struct mr_program *program; /* that it is of */
    struct mr_loaded loaded;
    struct mr_debugger_object *seen; /* by debuggers; NULL: not */
    struct mr_variant
        *first; /* the version that this one has taken the place of, with its code still in use; NULL: none */
    /* Of a version in a hurry: */
    struct mr_tier tier;
    struct mr_wanted better; /* what takes its place; its program is NULL: nothing */
    enum { MR_TIER_IDLE, MR_TIER_WATCHED, MR_TIER_HOT } stage; /* under tiers.c's lock, as the next one: */
    struct mr_list link; /* in one of tiers.c's lists unless it is idle */
};

struct mr_entry_code {
    _Atomic(struct mr_variant *) variants[MR_SHAPE_COUNT];
    _Atomic uint32_t in_making; /* shapes for which a launch has code made: a bit each; code.c's */
    _Atomic bool asked; /* a launch has asked for code, or it is made ahead */
    uint8_t guess; /* the class of shapes that its launches will probably have; MR_SHAPE_COUNT: not known */
};

/* What machine code is made from; the last two are trees.c's. */
struct mr_tree {
    struct mr_ptx_module *module;
    struct mr_layout layout;
    const struct mr_program *program;
    struct mr_list kept_link;
};

/* The PTX, as one block of LZ4. */
struct mr_source {
    char *packed;
    size_t packed_size, length;
};

/* The environment's word on machine code, as it was when the program was loaded: a thread of our own, which makes code
 * later, must not read what the program's threads may be changing. */
struct mr_code_settings {
    char *cpu, *features; /* NULL: of this processor */
    bool note_accesses;
    bool notes; /* an observer wants to know what kernels touch */
    unsigned stages; /* to write to files (MR_DUMP_IR, MR_DUMP_ASM): with these, code is always made */
    uint64_t enough; /* ns until a kernel is hot; 0: optimised at once; UINT64_MAX: by the code's size */
    unsigned threads; /* that make code in the background; half of them, one at least, better versions */
};

/* A name and what bears it; names.c. */
struct mr_name {
    const char *name;
    uint32_t index;
    bool hidden;
};

struct mr_program {
    _Atomic uint32_t references;
    struct mr_source source;
    struct mr_cache_key text; /* hash of the PTX */
    unsigned optimisation;
    bool level_is_said; /* by the program that loads it, or by -G: there is one version, of that level */
    struct mr_code_settings settings;
    struct mr_symbol *symbols;
    size_t symbol_count;
    struct mr_entry *entries;
    size_t entry_count;
    struct mr_entry_code *code; /* entry_count */
    _Atomic size_t made; /* how many versions `code` holds */
    char *names; /* of symbols and entries, one after the other */
    struct mr_name *entry_names; /* entry_count, sorted */
    struct mr_name *variable_names; /* variable_count, sorted */
    size_t variable_count;
};

/* build.c: from text to a program that is ready except for machine code, and to the tree in *out; the reasons of a
 * refusal go to `diag`. options->capability 0 becomes the one that the text states. Whether it fails or not, what the
 * program got is freed by mr_program_forget. */
CUresult mr_program_build(struct mr_program *program, const char *text, size_t length,
                          struct mr_program_options *options, struct mr_ptx_diag *diag, struct mr_tree **out)
    __attribute__((warn_unused_result));
CUresult mr_program_status_of(const struct mr_ptx_diag *diag);

/* refused.c: warns of PTX that was refused for what `diag` says, once for each cause. Any thread. */
void mr_program_tell_refused(const struct mr_ptx_diag *diag, int capability);

/* The tree of a text that was built before: NULL when memory is short. */
struct mr_tree *mr_tree_again(const char *text, size_t length) __attribute__((warn_unused_result));
void mr_tree_free(struct mr_tree *tree);

/* program.c: one more reference, unless the last one has been dropped. */
bool mr_program_try_hold(struct mr_program *program) __attribute__((warn_unused_result));

/* trees.c: false when memory is short; source->packed is freed with mr_free. */
bool mr_source_pack(struct mr_source *source, const char *text, size_t length) __attribute__((warn_unused_result));

/* The trees that were used last are kept. mr_tree_take: a tree of the program's, which is then the
 * caller's; NULL when memory is short. mr_tree_keep gives it back, NULL is allowed; mr_tree_forget frees what is kept.
 * Any thread that holds the program may call the first two. */
struct mr_tree *mr_tree_take(struct mr_program *program) __attribute__((warn_unused_result));
void mr_tree_keep(struct mr_program *program, struct mr_tree *tree);
void mr_tree_forget(struct mr_program *program);

/* variants.c: reads the settings; false when memory is short. */
bool mr_code_settings_read(struct mr_code_settings *settings) __attribute__((warn_unused_result));
void mr_code_settings_clear(struct mr_code_settings *settings);

/* What is wanted, from the cache or made, into *variant, which is zeroed. Any thread that holds the program may call
 * it. */
CUresult mr_variant_make(const struct mr_wanted *wanted, struct mr_variant *variant)
    __attribute__((warn_unused_result));
void mr_variant_free(struct mr_variant *variant); /* with the one whose place it has taken; NULL is allowed */

/* The first version of a kernel for a class of shapes, into *variant, which is zeroed: of the versions on disk the
 * best; or a new one, in a hurry if there may be a better one later. */
bool mr_variant_from_disk(struct mr_program *program, size_t entry, unsigned shape, struct mr_variant *variant)
    __attribute__((warn_unused_result));
CUresult mr_variant_new(struct mr_program *program, size_t entry, unsigned shape, enum mr_wanted_by by,
                        struct mr_variant *variant) __attribute__((warn_unused_result));
/* Whether the cache has a version on disk. */
bool mr_variant_on_disk(struct mr_program *program, size_t entry, unsigned shape);
/* Lets launches have it. NULL; or, if they have one of that class already, the version, which is to be freed. */
struct mr_variant *mr_variant_put(struct mr_program *program, size_t entry, unsigned shape, struct mr_variant *variant)
    __attribute__((warn_unused_result));

/* ahead.c: how many threads may make code ahead. On a thread of the program's. */
unsigned mr_ahead_threads(void);
/* A launch is the first of this kernel, for this class of shapes: makes code of those behind it. */
void mr_ahead_follow(struct mr_program *program, size_t entry, unsigned shape);
/* Before a launch's code is made: lets launches have what was made ahead for the kernel, after waiting for what is
 * being made for this class. The caller makes that code, and nobody else does. */
void mr_ahead_collect(struct mr_program *program, size_t entry, unsigned shape);
/* When the program ends: frees what was made for nothing. */
void mr_ahead_forget(const struct mr_program *program);
/* Tests only: waits until nothing is being made ahead, and nothing waits for it. */
void mr_ahead_settle(void);

/* tiers.c: makes a version that has a better one one that gets replaced by it when it has run for long enough. Before
 * launches have it. */
void mr_tier_begin(struct mr_variant *variant);
/* Tests only: waits until nothing is being replaced and nothing is hot that will be. */
void mr_tiers_settle(void);

/* uses.c: what each kernel uses, in the words of NVIDIA's assembler (ptxas -v), which programs look for. */
void mr_program_put_uses(FILE *file, const struct mr_program *program, const struct mr_tree *tree);

/* names.c: fills in the sorted names of a program whose entries and symbols are there. False when memory is short. */
bool mr_names_sort(struct mr_program *program) __attribute__((warn_unused_result));

/* Fills in symbols, entries and names from the tree, of which nothing is borrowed. False when memory is short. */
bool mr_program_describe(struct mr_program *program, const struct mr_tree *tree,
                         const struct mr_program_options *options) __attribute__((warn_unused_result));
void mr_program_forget(struct mr_program *program);

#endif
