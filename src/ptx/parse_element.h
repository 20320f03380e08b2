/* SPDX-License-Identifier: Apache-2.0 */

/* Elements of arrays, and instructions that one which is being parsed needs before it: between parse_operand.c,
 * parse_element.c and parse_settle.c. */
#ifndef MR_PTX_PARSE_ELEMENT_H
#define MR_PTX_PARSE_ELEMENT_H

#include "ptx/parse.h"

/* A register that holds one number, or a special one. */
bool mr_ptx_parse_register(struct parser *parser, struct mr_ptx_operand *operand);

/* Whether the current token is the constant that looks like a name. */
bool mr_ptx_is_warp_size(const struct parser *parser);

/* What stands behind "array[", an operand of kind SYMBOL. It stays one if the index is a constant; else instructions
 * are added that leave the element's address in a register of element_bits, and the operand is that register; its `var`
 * says of which array, for the instruction to look at and take off. */
bool mr_ptx_parse_element(struct parser *parser, struct mr_ptx_operand *array);

enum { MR_PTX_STEP_SOURCES = 3 };

struct mr_ptx_step {
    enum mr_ptx_op op;
    enum mr_ptx_type type, of; /* NONE if it has one type only */
    enum mr_ptx_mode mode;
    struct mr_ptx_operand sources[MR_PTX_STEP_SOURCES];
    unsigned count;
};

/* Adds an instruction to the function; gives its result, in a register without a name in the text. `place` is where
 * messages say it stands. */
struct mr_ptx_operand mr_ptx_take_step(struct parser *parser, const struct mr_ptx_operand *place,
                                       const struct mr_ptx_step *step);

/* parse_floats.c: arithmetic of floats that stands for several instructions; all but the last are added. False after an
 * error. */
bool mr_ptx_settle_floats(struct parser *parser, struct mr_ptx_inst *inst);

/* What stands in brackets for a place in a tensor, as two operands: the map's address, then the coordinates. */
bool mr_ptx_parse_tensor(struct parser *parser, struct mr_ptx_operand *operand, bool coordinates);

#endif
