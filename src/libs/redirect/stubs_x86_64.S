/* SPDX-License-Identifier: Apache-2.0 */
/* The stubs (slots.h). Two rows of 16 bytes for each slot: the stub jumps to what its slot holds; that is the second row's code until the
 * function is known, which asks mr_redirect_resolve with every register that can hold a parameter kept. */
#include "libs/redirect/slots.h"

#define SLOTS (MR_REDIRECT_NAMES * 2)

    .text
    .p2align 4
    .globl mr_redirect_stubs
    .hidden mr_redirect_stubs
    .type mr_redirect_stubs, @function
mr_redirect_stubs:
    .set slot, 0
    .rept SLOTS
    .p2align 4
    endbr64
    jmp *mr_redirect_slots+8*slot(%rip)
    .set slot, slot+1
    .endr
    .size mr_redirect_stubs, .-mr_redirect_stubs

    .p2align 4
    .globl mr_redirect_first_calls
    .hidden mr_redirect_first_calls
    .type mr_redirect_first_calls, @function
mr_redirect_first_calls:
    .set slot, 0
    .rept SLOTS
    .p2align 4
    endbr64
    movl $slot, %r11d
    jmp first_call
    .set slot, slot+1
    .endr
    .size mr_redirect_first_calls, .-mr_redirect_first_calls

    /* r11: the slot's number. The stack is as the caller's call left it: 8 bytes off a multiple of 16. */
    .p2align 4
    .type first_call, @function
first_call:
    .cfi_startproc
    subq $200, %rsp
    .cfi_adjust_cfa_offset 200
    movq %rdi, (%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %rax, 48(%rsp)
    movq %r10, 56(%rsp)
    movups %xmm0, 64(%rsp)
    movups %xmm1, 80(%rsp)
    movups %xmm2, 96(%rsp)
    movups %xmm3, 112(%rsp)
    movups %xmm4, 128(%rsp)
    movups %xmm5, 144(%rsp)
    movups %xmm6, 160(%rsp)
    movups %xmm7, 176(%rsp)
    movl %r11d, %edi
    call mr_redirect_resolve
    movq %rax, %r11
    movq (%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    movq 48(%rsp), %rax
    movq 56(%rsp), %r10
    movups 64(%rsp), %xmm0
    movups 80(%rsp), %xmm1
    movups 96(%rsp), %xmm2
    movups 112(%rsp), %xmm3
    movups 128(%rsp), %xmm4
    movups 144(%rsp), %xmm5
    movups 160(%rsp), %xmm6
    movups 176(%rsp), %xmm7
    addq $200, %rsp
    .cfi_adjust_cfa_offset -200
    jmp *%r11
    .cfi_endproc
    .size first_call, .-first_call

    .section .note.GNU-stack, "", @progbits
