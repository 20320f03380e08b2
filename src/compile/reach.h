/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a kernel reaches: the functions that it may call and the shared variables that these name.
 *
 * The bodies of a module are read once, and what each says is noted; an entry then walks over the notes. So a module's
 * layout takes time by the length of its text and, for each entry, by the calls and shared variables of the functions
 * that it reaches, not by the number of functions or variables there are.
 */
#ifndef MR_COMPILE_REACH_H
#define MR_COMPILE_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx.h"

/* What one body says, as places in `items`: first the functions that it calls by name, each once, then others whose
 * addresses it takes, both in the order of their first mention, then the shared variables of the module that it names.
 * frames.c reads it, too. */
struct mr_reach_body {
    size_t functions, taken, variables, end;
    bool calls_indirectly, prints;
};

struct mr_reach {
    const struct mr_ptx_module *module;
    struct mr_reach_body *bodies;       /* by function->index */
    uint32_t *items;                    /* indices into module->functions and module->vars */
    size_t item_count, item_room;
    size_t pinned_count;                /* the first items: shared variables that every kernel has */
    uint32_t *targets;                  /* functions that any indirect call may reach */
    uint32_t target_count;
    uint32_t *function_turn, *var_turn; /* the turn in which a function or variable was met last */
    uint32_t turn;
    /* Of the entry that was walked last: */
    uint32_t *functions;                /* itself first */
    uint32_t function_count;
    uint32_t *variables;                /* shared variables of the module, in its order */
    uint32_t variable_count;
    bool calls_indirectly;
    bool prints;                        /* it calls vprintf */
};

/* Reads the bodies of a verified module, which must outlive *reach. False when memory is short; mr_reach_end is right
 * in either case. */
bool mr_reach_begin(struct mr_reach *reach, const struct mr_ptx_module *module) __attribute__((warn_unused_result));

/* Fills in what `entry`, a function of the module, reaches; it stays until the next one is asked for. */
void mr_reach_walk(struct mr_reach *reach, const struct mr_ptx_function *entry);

void mr_reach_end(struct mr_reach *reach);

#endif
