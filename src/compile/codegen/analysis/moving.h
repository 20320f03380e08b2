/* SPDX-License-Identifier: Apache-2.0 */
/* Which registers a loop moves, and which have to do with its way: moving.c defines it. */
#ifndef MR_COMPILE_CODEGEN_ANALYSIS_MOVING_H
#define MR_COMPILE_CODEGEN_ANALYSIS_MOVING_H

#include "compile/codegen/analysis/flow.h"

/* After mr_flow_liveness. Fills `moving` (registers; room for all): those that the loop moves; in a large loop all that
 * it writes and that are live at its head. Adds to `own`, which is empty (instructions of the function), loads and
 * stores of places that the loop both loads and stores, as far as they are written alike. *polls: the loop can be left
 * by what it loads from a place that nothing moves and that is not its own, so that only others can change whether it
 * is left there. False when memory is short. */
bool mr_flow_moving(const struct mr_flow *flow, const struct mr_flow_loop *loop, mr_word *moving, mr_word *own,
                    bool *polls) __attribute__((warn_unused_result));

/* Adds to `relevant` (registers) those that have to do with which way the loop goes: what its branches ask, and what
 * that is made of. */
void mr_flow_relevant(const struct mr_flow *flow, const struct mr_flow_loop *loop, mr_word *relevant);

#endif
