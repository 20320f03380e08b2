/* SPDX-License-Identifier: Apache-2.0 */
/* What __half and __nv_bfloat16 convert to beside float: whole numbers, cut towards zero and held within the type's range, and bool. A NaN gives 0, in
 * 64 bits the highest bit alone, as the functions of the same purpose (__half2int_rz and so on) do. */
#ifndef MILLRACE_SMALL_CASTS_H
#define MILLRACE_SMALL_CASTS_H

template <class T> MR_BOTH T mr_limited(float x)
{
    constexpr bool with_sign = (T)-1 < (T)0;
    constexpr T most = (T)(~0ull >> (64 - 8 * sizeof(T) + with_sign)), least = with_sign ? (T)(-most - 1) : (T)0;
    if (x != x)
        return sizeof(T) == 8 ? (T)(1ull << 63) : (T)0;
    if (x >= (float)most)
        return most;
    if (x <= (float)least)
        return least;
    return (T)x;
}

#define MR_CAST(type) MR_MEMBER operator type() const { return mr_limited<type>((float)*this); }
/* Inside a class with the bits __x and a conversion to float. */
#define MR_SMALL_CASTS                                                                                                                    \
    MR_MEMBER operator bool() const { return (__x & 0x7fff) != 0; }                                                                       \
    MR_CAST(char) MR_CAST(signed char) MR_CAST(unsigned char) MR_CAST(short) MR_CAST(unsigned short) MR_CAST(int) MR_CAST(unsigned int) \
    MR_CAST(long) MR_CAST(unsigned long) MR_CAST(long long) MR_CAST(unsigned long long)

#endif
