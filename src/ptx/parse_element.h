/* SPDX-License-Identifier: Apache-2.0 */

/* Elements of arrays: between parse_operand.c and parse_element.c. */
#ifndef MR_PTX_PARSE_ELEMENT_H
#define MR_PTX_PARSE_ELEMENT_H

#include "ptx/parse.h"

/* A register that holds one number, or a special one. */
bool mr_ptx_parse_register(struct parser *parser, struct mr_ptx_operand *operand);

/* Whether the current token is the constant that looks like a name. */
bool mr_ptx_is_warp_size(const struct parser *parser);

/* What stands behind "array[", an operand of kind SYMBOL. It stays one if the index is a constant; else instructions are added that leave the element's
 * address in a register of element_bits, and the operand is that register; its `var` says of which array, for the instruction to look at and take off. */
bool mr_ptx_parse_element(struct parser *parser, struct mr_ptx_operand *array);

#endif
