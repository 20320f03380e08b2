/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The video instructions (PTX manual: Scalar Video Instructions, SIMD Video
 * Instructions): operands with a selector behind the register, and for vmad a
 * minus before it. A selector becomes one number, see mr_ptx_operand.selector;
 * where none is written, the one that it stands for is filled in.
 */
#include <string.h>

#include "ptx/parse.h"

/* ".b2" or ".h1" of a scalar instruction: 1 to 4 for bytes, 5 and 6 for halves. 0: none of these. */
static uint16_t scalar_selector(const struct mr_ptx_token *token)
{
    if (token->length != 2)
        return 0;
    unsigned digit = (unsigned char)token->text[1] - '0';
    if (token->text[0] == 'b' && digit < 4)
        return (uint16_t)(1 + digit);
    return token->text[0] == 'h' && digit < 2 ? (uint16_t)(5 + digit) : 0;
}

/* ".h32" or ".b7654", as many digits as lanes: a digit of four bits each. False: none of these. */
static bool simd_selector(const struct mr_ptx_token *token, unsigned lanes, uint16_t *selector)
{
    unsigned value = 0;
    if (token->length != lanes + 1 || token->text[0] != (lanes == 2 ? 'h' : 'b'))
        return false;
    for (unsigned i = 1; i <= lanes; i++) {
        unsigned digit = (unsigned char)token->text[i] - '0';
        if (digit >= 2 * lanes)
            return false;
        value = value << 4 | digit;
    }
    *selector = (uint16_t)value;
    return true;
}

/* ".b20": the lanes that are written, from the highest down: a bit each. 0: none of these. */
static uint16_t simd_mask(const struct mr_ptx_token *token, unsigned lanes)
{
    unsigned mask = 0, before = lanes;
    if (token->length < 2 || token->text[0] != (lanes == 2 ? 'h' : 'b'))
        return 0;
    for (size_t i = 1; i < token->length; i++) {
        unsigned digit = (unsigned char)token->text[i] - '0';
        if (digit >= before)
            return 0;
        before = digit;
        mask |= 1u << digit;
    }
    return (uint16_t)mask;
}

/* What stands for no selector; place 0 is the destination. */
static uint16_t default_selector(unsigned lanes, unsigned place)
{
    if (lanes == 1 || place > 2)
        return 0;
    if (place == 0)
        return (uint16_t)((1u << lanes) - 1);
    if (lanes == 2)
        return place == 1 ? 0x10 : 0x32;
    return place == 1 ? 0x3210 : 0x7654;
}

static bool parse_selector(struct parser *parser, const struct mr_ptx_inst *inst, unsigned lanes,
                           struct mr_ptx_operand *operand)
{
    unsigned place = inst->operand_count;
    const struct mr_ptx_token *token = &parser->token;
    bool good = operand->kind == MR_PTX_OPERAND_REG && place < 3;
    if (lanes == 1)
        good = good && (operand->selector = scalar_selector(token)) != 0;
    else if (place == 0)
        good = good && (operand->selector = simd_mask(token, lanes)) != 0;
    else
        good = good && simd_selector(token, lanes, &operand->selector);
    if (!good)
        return mr_ptx_error(parser, "'.%.*s' is no selector for this operand of '%s'",
                            token->length > 60 ? 60 : (int)token->length, token->text,
                            mr_ptx_op_name((enum mr_ptx_op)inst->op));
    operand->is_selected = true;
    mr_ptx_advance(parser);
    return true;
}

bool mr_ptx_parse_video(struct parser *parser, struct mr_ptx_inst *inst)
{
    enum { MOST = 4 };
    unsigned lanes = mr_ptx_video_lanes((enum mr_ptx_op)inst->op);
    struct mr_ptx_operand *operands = mr_ptx_new(parser, MOST, sizeof *operands);
    inst->operands = operands;
    inst->dst_count = 1;
    while (!mr_ptx_is(parser, ';')) {
        if (inst->operand_count > 0 && !mr_ptx_expect(parser, ',', "','"))
            return false;
        if (inst->operand_count == MOST)
            return mr_ptx_error(parser, "a video instruction has at most %d operands", MOST);
        struct mr_ptx_operand *operand = &operands[inst->operand_count];
        bool negated =
            inst->op == MR_PTX_OP_VMAD && mr_ptx_is(parser, '-') && mr_ptx_peek(parser).kind == MR_PTX_TOKEN_NAME;
        if (negated)
            mr_ptx_advance(parser);
        if (!mr_ptx_parse_operand(parser, operand))
            return false;
        operand->negated = operand->negated || negated;
        operand->selector = default_selector(lanes, inst->operand_count);
        if (mr_ptx_is(parser, MR_PTX_TOKEN_DOT) && !parse_selector(parser, inst, lanes, operand))
            return false;
        inst->operand_count++;
    }
    return true;
}
