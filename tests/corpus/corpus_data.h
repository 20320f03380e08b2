/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host and the kernels of the corpus agree on: the shape of a launch, the operands, where results go.  Read by
 * C and by CUDA C++.
 *
 * Every kernel is called NAME(in, out, scratch, n), with 64 bytes of constants as a fifth parameter for kernels that
 * want them, on CORPUS_THREADS threads in blocks of CORPUS_BLOCK.  Thread i takes the operands [0..2][i] of the kind
 * that it wants and leaves up to CORPUS_RESULT bytes at its place of out, by convention ((T *)out)[i].  The scratch
 * memory is zero before each kernel, and hashed after it.
 */
#ifndef CORPUS_DATA_H
#define CORPUS_DATA_H

#define CORPUS_THREADS 2048
#define CORPUS_BLOCK 128
#define CORPUS_RESULT 32
#define CORPUS_SCRATCH 4096 /* words */

/* Operands: edge values in pairs (every value of the first operand meets every one of the second), then noise. */
struct corpus_input {
    unsigned long long i64[3][CORPUS_THREADS];
    unsigned long long f64[3][CORPUS_THREADS];
    unsigned i32[3][CORPUS_THREADS];
    unsigned f32[3][CORPUS_THREADS];
    unsigned f16x2[3][CORPUS_THREADS];  /* both halves */
    unsigned bf16x2[3][CORPUS_THREADS];
    unsigned short i16[3][CORPUS_THREADS];
    unsigned short f16[3][CORPUS_THREADS];
    unsigned short bf16[3][CORPUS_THREADS];
    unsigned char i8[3][CORPUS_THREADS];
};

#endif
