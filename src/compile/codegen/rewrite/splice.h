/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the passes share that write a kernel's body anew: inline.c puts functions that wait into it, recursion.c those
 * of them that come back to themselves. All memory is the result's, and goes with it.
 */
#ifndef MR_COMPILE_CODEGEN_REWRITE_SPLICE_H
#define MR_COMPILE_CODEGEN_REWRITE_SPLICE_H

#include "compile/codegen/rewrite/rewrite.h"

/* Lists that grow, in the order of the new function's. */
struct cg_body {
    struct mr_ptx_inst *insts;
    struct mr_ptx_reg *regs;
    struct mr_ptx_label *labels;
    struct mr_ptx_table *tables;
    struct mr_ptx_var **vars;
    uint32_t inst_count, inst_room, reg_count, reg_room, label_count, label_room, table_count, table_room, var_count,
        var_room;
};

struct cg_work {
    struct cg_inlined *in;
    const struct mr_flow_facts *facts;
    bool *waits;             /* by function: it or what it calls */
    uint32_t *rings; /* by function: of those that wait, the number of the ring of calls that it is in; 0: it can't come
                        back to itself */
    const struct mr_ptx_function **targets; /* of calls through pointers, those that wait */
    uint32_t target_count;
    enum cg_inline_barriers barriers;
    struct cg_body body;
    bool no_memory;
};

struct cg_routine;

/* A function's body in the new one: in a call's place, or a routine of recursion.c. */
struct cg_splice {
    const struct mr_ptx_function *callee;
    const struct mr_ptx_call *call; /* NULL for a routine */
    uint32_t regs, labels, tables; /* what the callee's numbers are raised by */
    struct mr_ptx_var **vars; /* for each of its vars, params, returns: what stands for it; NULL for a routine, which
                                 has them in a frame */
    uint32_t end; /* the label behind its last instruction */
    uint32_t at; /* the instruction of the callee that is being copied */
    struct cg_routine *routine; /* or NULL */
    const struct cg_splice *outer; /* what the call stands in; NULL in the kernel itself */
    uint32_t depth;
};

/* Zeroed; NULL, and work->no_memory, when memory is short. */
void *cg_take(struct cg_work *work, size_t bytes);

/* Room for `more` elements behind `count`; false when memory is short. Lists that are given up are freed with all
 * others, at the end. */
bool cg_room(struct cg_work *work, void *list, uint32_t count, uint32_t *have, uint32_t more, size_t size);
#define CG_GROW(work, kind, more) \
    cg_room(work, &(work)->body.kind##s, (work)->body.kind##_count, &(work)->body.kind##_room, more, \
            sizeof *(work)->body.kind##s)

/* Each adds one to the body. `like` lends its line. Labels and registers: MR_PTX_NONE when memory is short. */
bool cg_add_inst(struct cg_work *work, const struct mr_ptx_inst *inst);
/* A jump under a guard or none. */
bool cg_add_jump(struct cg_work *work, uint32_t label, const struct mr_ptx_inst *like, uint32_t guard, bool negated);
/* An instruction of our own, without guard, its operands copied; of type u64 unless it says another. */
bool cg_add_new(struct cg_work *work, const struct mr_ptx_inst *like, struct mr_ptx_inst what,
                const struct mr_ptx_operand *operands);
uint32_t cg_add_reg(struct cg_work *work, enum mr_ptx_type type, uint32_t line);
/* A label in front of the instruction that comes next, or, with cg_set_label, of a later one. */
uint32_t cg_add_label(struct cg_work *work, const struct mr_ptx_inst *like);
void cg_set_label(struct cg_work *work, uint32_t label);
/* A variable of each lane, like that one, or for what that one has in a register; NULL when memory is short. */
struct mr_ptx_var *cg_new_var(struct cg_work *work, const struct mr_ptx_var *like);

struct mr_ptx_operand cg_reg_operand(const struct cg_work *work, uint32_t reg, const struct mr_ptx_inst *like);
struct mr_ptx_operand cg_var_address(const struct mr_ptx_var *var, const struct mr_ptx_inst *like);
struct mr_ptx_operand cg_number(int64_t value, const struct mr_ptx_inst *like);

/* Instructions by what they do. Put and get are store and load of a register of that type, a predicate as a word: of so
 * many bytes. */
bool cg_add_move(struct cg_work *work, const struct mr_ptx_inst *like, enum mr_ptx_type type, uint32_t to,
                 struct mr_ptx_operand from);
bool cg_add_load(struct cg_work *work, const struct mr_ptx_inst *like, enum mr_ptx_type type, uint32_t to,
                 struct mr_ptx_operand from);
bool cg_add_store(struct cg_work *work, const struct mr_ptx_inst *like, enum mr_ptx_type type, struct mr_ptx_operand to,
                  uint32_t from);
bool cg_add_put(struct cg_work *work, const struct mr_ptx_inst *like, enum mr_ptx_type type, struct mr_ptx_operand to,
                uint32_t from);
bool cg_add_get(struct cg_work *work, const struct mr_ptx_inst *like, enum mr_ptx_type type, uint32_t to,
                struct mr_ptx_operand from);
uint32_t cg_passed_bytes(enum mr_ptx_type type);
enum mr_ptx_type cg_type_of_bytes(uint64_t bytes);

/* inline.c. Whether a variable is a lane's own of that function; its place among the function's vars, params and
 * returns. */
bool cg_owned(const struct mr_ptx_var *var, const struct mr_ptx_function *func);
uint32_t cg_var_place(const struct mr_ptx_var *var);
/* Room for a body's registers, labels and tables behind what is there; its numbers are raised by the splice's. */
bool cg_splice_begin(struct cg_work *work, struct cg_splice *splice, const struct mr_ptx_inst *like);
/* The instructions of a function, its labels being there from `first` on; calls in it are replaced as well. Without a
 * splice: of the kernel. */
bool cg_copy_body(struct cg_work *work, const struct cg_splice *splice, const struct mr_ptx_function *func,
                  uint32_t first);

/*
 * passing.c: whether a function's body can take a call's place, as far as what it passes goes; and what is passed in
 * registers. A call's arguments and results as variables: a new call, the arguments' values in them; and behind the
 * body the results in the registers that the call names. NULL or false when memory is short. For a body, `passed` being
 * the variables of its parameters and results: registers from them at its start, into them at its end.
 */
bool cg_call_suits(const struct cg_work *work, const struct mr_ptx_call *call, const struct mr_ptx_function *callee);
const struct mr_ptx_call *cg_call_by_variables(struct cg_work *work, const struct mr_ptx_inst *inst,
                                               const struct mr_ptx_function *callee);
bool cg_take_results(struct cg_work *work, const struct mr_ptx_inst *inst, const struct mr_ptx_call *passed,
                     const struct mr_ptx_function *callee);
bool cg_enter_body(struct cg_work *work, const struct cg_splice *splice, struct mr_ptx_var *const *passed,
                   const struct mr_ptx_inst *like);
bool cg_leave_body(struct cg_work *work, const struct cg_splice *splice, struct mr_ptx_var *const *passed,
                   const struct mr_ptx_inst *like);

/*
 * recursion.c. `reach`: by function, for those that wait and may come back to themselves, a byte for each function that
 * they may come to, else NULL.
 */
bool cg_find_rings(struct cg_work *work, const struct mr_ptx_module *module, bool *const *reach);
/* Whether a call that stands in `inside` is one of a routine of the same ring. */
bool cg_is_in_ring(const struct cg_work *work, const struct cg_splice *inside, const struct mr_ptx_function *callee);
/* In a call's place: a jump to its routine and what comes back; the routines of the ring too if the call comes from
 * outside. The guard is looked at before. */
bool cg_put_routine(struct cg_work *work, const struct cg_splice *inside, const struct mr_ptx_inst *inst,
                    const struct mr_ptx_function *callee);
/* For an instruction of a routine, in its copy `to`: variables are places in the frame. For a call: variables of its
 * own take their place, filled before it; cg_routine_call_end puts what they hold back. */
bool cg_routine_operands(struct cg_work *work, const struct cg_splice *splice, struct mr_ptx_inst *to,
                         struct mr_ptx_operand *operands);
bool cg_routine_call(struct cg_work *work, const struct cg_splice *splice, const struct mr_ptx_inst *like,
                     struct mr_ptx_operand *passed, uint32_t count);
bool cg_routine_call_end(struct cg_work *work, const struct cg_splice *splice, const struct mr_ptx_inst *from);

#endif
