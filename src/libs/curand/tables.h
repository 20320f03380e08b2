/* SPDX-License-Identifier: Apache-2.0 */
/* Direction vectors of Sobol's sequences. */
#ifndef MR_CURAND_TABLES_H
#define MR_CURAND_TABLES_H

#include <stdint.h>

#define MR_SOBOL_DIMENSIONS 20000u

/* The 64 vectors of one dimension, of 64 bits. Those of 32 bits are the upper halves of the first 32. */
void mr_sobol_vectors(unsigned dimension, uint64_t vectors[64]);

/* Scrambles the vectors of a dimension, and returns the number at which its sequence begins. */
uint64_t mr_sobol_scramble(unsigned dimension, uint64_t vectors[64]);

#endif
