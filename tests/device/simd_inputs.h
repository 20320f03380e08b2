/* SPDX-License-Identifier: Apache-2.0 */
/* The words that the SIMD intrinsics are tried with: bytes around the borders, and others; and the hash that their
 * results are compared by. */
#define SIMD_WORDS 509

static void simd_inputs(unsigned *words)
{
    static const unsigned char borders[8] = {0, 1, 0x7f, 0x80, 0x81, 0xff, 0xfe, 0x55};
    unsigned state = 12345;
    for (int i = 0; i < SIMD_WORDS; i++) {
        words[i] = 0;
        for (int part = 0; part < 4; part++) {
            state = state * 1664525u + 1013904223u;
            unsigned byte = state >> 24;
            words[i] |= (byte & 0x80 ? borders[byte & 7] : byte * 2 + (state >> 16 & 1)) << (8 * part);
        }
    }
}

static unsigned simd_hash(const unsigned *words)
{
    unsigned hash = 2166136261u;
    for (int i = 0; i < SIMD_WORDS * 4; i++)
        hash = (hash ^ (words[i / 4] >> (i % 4 * 8) & 255)) * 16777619u;
    return hash;
}
