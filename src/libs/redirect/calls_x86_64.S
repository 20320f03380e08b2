/* SPDX-License-Identifier: Apache-2.0 */
/* The stubs (calls.h), 32 bytes each. A stub keeps the registers that hold arguments and al, which a call of open sets; asks for the path; and jumps
 * to the C library's function with the stack as the caller left it. */
    .text
    .p2align 5
    .globl mr_call_stubs
    .hidden mr_call_stubs
    .type mr_call_stubs, @function
mr_call_stubs:
    .set call, 0
#define MR_CALL(name, argument, use) .p2align 5; endbr64; movl $call, %r11d; movl $argument, %r10d; jmp ask; .set call, call + 1
#include "libs/redirect/calls.def"
    .size mr_call_stubs, .-mr_call_stubs

    /* r11: the call's number. r10: the number of its path among the arguments. */
    .p2align 4
    .type ask, @function
ask:
    .cfi_startproc
    subq $72, %rsp
    .cfi_adjust_cfa_offset 72
    movq %rdi, (%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %rax, 48(%rsp)
    movq %r10, 56(%rsp)
    movq %r11, 64(%rsp)
    movq (%rsp,%r10,8), %rdi
    movq %r11, %rsi
    call mr_call_path
    movq 56(%rsp), %r10
    movq 64(%rsp), %r11
    movq %rax, (%rsp,%r10,8)
    movq (%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    movq 48(%rsp), %rax
    leaq mr_call_functions(%rip), %r10
    movq (%r10,%r11,8), %r11
    addq $72, %rsp
    .cfi_adjust_cfa_offset -72
    jmp *%r11
    .cfi_endproc
    .size ask, .-ask

    .section .note.GNU-stack, "", @progbits
