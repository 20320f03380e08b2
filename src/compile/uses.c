/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels use, told in the words of NVIDIA's assembler (ptxas -v), and the question whether a text would load: for
 * the driver's verbose log, and for compilers that run where NVIDIA's would run the assembler. The numbers are those
 * that cuFuncGetAttribute gives. */
#include <string.h>

#include "compile/program.h"

#define BARRIERS 16u /* of a block */

static void put_bytes(FILE *file, const char *between, size_t bytes, const char *what)
{
    if (bytes)
        fprintf(file, "%s%zu bytes %s", between, bytes, what);
}

/* The barriers of a block that an instruction needs: a number in a register can be any. */
static unsigned barriers_of(const struct mr_ptx_inst *inst)
{
    bool barrier = inst->op == MR_PTX_OP_BAR || inst->op == MR_PTX_OP_BARRIER;
    if (!barrier || inst->mode == MR_PTX_MODE_WARP_SYNC || inst->mode == MR_PTX_MODE_CLUSTER_ARRIVE ||
        inst->mode == MR_PTX_MODE_CLUSTER_WAIT || inst->operand_count <= inst->dst_count)
        return 0;
    const struct mr_ptx_operand *number = &inst->operands[inst->dst_count];
    return number->kind == MR_PTX_OPERAND_IMM_INT && (uint64_t)number->value < BARRIERS ? (unsigned)number->value + 1
                                                                                        : BARRIERS;
}

static unsigned count_barriers(const struct mr_layout_entry *entry)
{
    unsigned most = 0;
    for (uint32_t r = 0; r < entry->reachable_count; r++)
        for (uint32_t i = 0; i < entry->reachable[r]->inst_count; i++) {
            unsigned here = barriers_of(&entry->reachable[r]->insts[i]);
            most = here > most ? here : most;
        }
    return most;
}

/* Parameters stand in bank 0. No register is ever spilled here. */
static void put_entry(FILE *file, const struct mr_entry *entry, const struct mr_layout_entry *layout)
{
    fprintf(file, "ptxas info    : Compiling entry function '%s' for 'sm_%u'\n", entry->name, entry->binary_version);
    fprintf(
        file,
        "ptxas info    : Function properties for %s\n    %zu bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n",
        entry->name, entry->local_bytes);
    fprintf(file, "ptxas info    : Used %u registers, used %u barriers", entry->registers, count_barriers(layout));
    put_bytes(file, ", ", entry->local_bytes, "cumulative stack size");
    put_bytes(file, ", ", entry->static_shared, "smem");
    put_bytes(file, ", ", entry->param_bytes, "cmem[0]");
    fputc('\n', file);
}

/* Constants stand in bank 3. */
void mr_program_put_uses(FILE *file, const struct mr_program *program, const struct mr_tree *tree)
{
    size_t global_bytes = 0, constant_bytes = program->entry_count ? program->entries[0].constant_bytes : 0;
    for (size_t i = 0; i < program->symbol_count; i++)
        if (program->symbols[i].what == MR_SYMBOL_VARIABLE && !program->symbols[i].constant)
            global_bytes += program->symbols[i].size;
    fprintf(file, "ptxas info    : %zu bytes gmem", global_bytes);
    put_bytes(file, ", ", constant_bytes, "cmem[3]");
    fputc('\n', file);
    for (size_t i = 0; i < program->entry_count; i++)
        put_entry(file, &program->entries[i], &tree->layout.entries[i]);
}

unsigned mr_program_check(const char *text, size_t length, struct mr_program_options *options, struct mr_ptx_diag *diag,
                          FILE *uses)
{
    struct mr_program program;
    memset(&program, 0, sizeof program);
    struct mr_tree *tree = NULL;
    CUresult status = mr_program_build(&program, text, length, options, diag, &tree);
    unsigned target = status == CUDA_SUCCESS ? tree->module->target_sm : 0;
    if (status == CUDA_SUCCESS && uses)
        mr_program_put_uses(uses, &program, tree);
    else if (status == CUDA_ERROR_OUT_OF_MEMORY)
        mr_ptx_diag_error(diag, 0, 0, "out of memory");
    mr_tree_free(tree);
    mr_program_forget(&program);
    return target;
}
