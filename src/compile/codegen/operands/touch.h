/* SPDX-License-Identifier: Apache-2.0 */

/* Notes of what the lanes that run are about to touch, if the request asks for them: see touch.c. */
#ifndef MR_COMPILE_CODEGEN_OPERANDS_TOUCH_H
#define MR_COMPILE_CODEGEN_OPERANDS_TOUCH_H

#include "compile/codegen/operands/stepped.h"

/* How an instruction touches memory in a space: MR_SITE_* with MR_SITE_GENERIC where that may turn out to be no global
 * memory; 0 if nothing is noted. `operand` may be NULL. */
uint32_t cg_touch_flags(const struct cg *g, const struct mr_ptx_operand *operand, unsigned space, uint32_t how);

/* `bytes` at each lane's address. `flags` are cg_touch_flags', as below; with 0 nothing is done. */
void cg_touch(struct cg *g, const struct cg_address *address, uint32_t bytes, uint32_t flags);
void cg_touch_stepped(struct cg *g, const struct cg_stepped *stepped, uint32_t bytes, uint32_t flags);
/* As many bytes as each lane says: slots of i64 and i32. */
void cg_touch_sizes(struct cg *g, LLVMValueRef addresses, LLVMValueRef sizes, uint32_t flags);
/* `rows` stretches of `bytes` bytes from `address` on, `pitch` bytes apart: i64, constants, i64. */
void cg_touch_rows(struct cg *g, LLVMValueRef address, uint32_t bytes, uint32_t rows, LLVMValueRef pitch,
                   uint32_t flags);
/* A service of the runtime is called next that notes what it touches itself. */
void cg_touch_service(struct cg *g, uint32_t flags);

#endif
