/* SPDX-License-Identifier: Apache-2.0 */
/* What the small floats are made from and convert to beside floats: whole numbers, cut towards zero and held within the type's range, and bool. A NaN gives 0, in
 * 64 bits the highest bit alone, as the functions of the same purpose (__half2int_rz and so on) do. */
#ifndef MILLRACE_SMALL_CASTS_H
#define MILLRACE_SMALL_CASTS_H

template <class T> MR_BOTH T mr_limited(float x)
{
    const bool with_sign = (T)-1 < (T)0;
    const T most = (T)(~0ull >> (64 - 8 * sizeof(T) + with_sign)), least = with_sign ? (T)(-most - 1) : (T)0;
    if (x != x)
        return sizeof(T) == 8 ? (T)(1ull << 63) : (T)0;
    if (x >= (float)most)
        return most;
    if (x <= (float)least)
        return least;
    return (T)x;
}

#define MR_CAST(type, wide) MR_SMALL_MEMBER operator type() const { return mr_limited<type>(wide); }
/* Inside a class of 16 bits, __x: `wide` is its float. */
#define MR_SMALL_CASTS(wide)                                                                                                              \
    MR_SMALL_MEMBER MR_CONSTEXPR operator bool() const { return (__x & 0x7fff) != 0; }                                                          \
    MR_CAST(char, wide) MR_CAST(signed char, wide) MR_CAST(unsigned char, wide) MR_CAST(short, wide) MR_CAST(unsigned short, wide)         \
    MR_CAST(int, wide) MR_CAST(unsigned int, wide) MR_CAST(long, wide) MR_CAST(unsigned long, wide) MR_CAST(long long, wide)               \
    MR_CAST(unsigned long long, wide)

#define MR_WHOLE_CONSTRUCTOR(name, type, bits) MR_SMALL_MEMBER name(type x) : __x(bits) {}
#define MR_WHOLE_ASSIGNMENT(name, type, bits) MR_SMALL_MEMBER name &operator=(type x) { __x = (bits); return *this; }
/* Inside such a class: from whole numbers; `bits` is what x becomes. */
#define MR_WHOLE_CONSTRUCTORS(name, bits)                                                                                                 \
    MR_WHOLE_CONSTRUCTOR(name, short, bits) MR_WHOLE_CONSTRUCTOR(name, unsigned short, bits) MR_WHOLE_CONSTRUCTOR(name, int, bits)         \
    MR_WHOLE_CONSTRUCTOR(name, unsigned int, bits) MR_WHOLE_CONSTRUCTOR(name, long, bits) MR_WHOLE_CONSTRUCTOR(name, unsigned long, bits)   \
    MR_WHOLE_CONSTRUCTOR(name, long long, bits) MR_WHOLE_CONSTRUCTOR(name, unsigned long long, bits)                                       \
    MR_WHOLE_ASSIGNMENT(name, short, bits) MR_WHOLE_ASSIGNMENT(name, unsigned short, bits) MR_WHOLE_ASSIGNMENT(name, int, bits)             \
    MR_WHOLE_ASSIGNMENT(name, unsigned int, bits) MR_WHOLE_ASSIGNMENT(name, long long, bits)                                               \
    MR_WHOLE_ASSIGNMENT(name, unsigned long long, bits)

#endif
