// SPDX-License-Identifier: Apache-2.0
// What each class of small floats is, and what it can be made of, assigned from and turned into: a table of letters, alike for any header that declares the same.
// = converts by itself, x when asked, . never; behind it a: can be assigned, with the same dot.
#include <cuda_fp4.h>
#include <cstdio>
#include <type_traits>

enum plain { PLAIN };
enum class scoped { SCOPED };
template <class...> struct list {};
#define LIST(name, ...) typedef list<__VA_ARGS__> name; static const char name##_names[] = #__VA_ARGS__;
LIST(built_in, bool, char, signed char, unsigned char, short, unsigned short, int, unsigned int, long, unsigned long, long long, unsigned long long, float, double, plain,
             scoped, const char *, float2, float4, double2, double4, double4_16a, double4_32a)
LIST(ours, __half_raw, __half2_raw, __nv_bfloat16_raw, __nv_bfloat162_raw, __half, __half2, __nv_bfloat16, __nv_bfloat162, __nv_fp8_e4m3, __nv_fp8x2_e4m3,
             __nv_fp8x4_e4m3, __nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __nv_fp8_e8m0, __nv_fp8x2_e8m0, __nv_fp8x4_e8m0, __nv_fp6_e2m3, __nv_fp6x2_e2m3,
             __nv_fp6x4_e2m3, __nv_fp6_e3m2, __nv_fp6x2_e3m2, __nv_fp6x4_e3m2, __nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp4x4_e2m1)

template <class To, class From> void relation()
{
    putchar(std::is_convertible<From, To>::value ? '=' : std::is_constructible<To, From>::value ? 'x' : '.');
    putchar(std::is_assignable<To &, From>::value ? 'a' : '.');
}
template <class T, class... Us> void relations(const char *name, const char *what, bool to, list<Us...>)
{
    printf("%s %s ", name, what);
    int unused[] = { (to ? relation<Us, T>() : relation<T, Us>(), 0)... };
    (void)unused;
    putchar('\n');
}
template <class T> void about(const char *name)
{
    printf("%s size %d align %d%s%s%s%s%s%s\n", name, (int)sizeof(T), (int)alignof(T), std::is_standard_layout<T>::value ? " standard_layout" : "",
           std::is_trivially_copyable<T>::value ? " trivially_copyable" : "", std::is_trivially_default_constructible<T>::value ? " trivially_made" : "",
           std::is_nothrow_move_constructible<T>::value ? " moved_without_throw" : "", std::is_assignable<volatile T &, T>::value ? " volatile" : "",
           std::is_polymorphic<T>::value ? " polymorphic" : "");
    relations<T>(name, "from_built_in", false, built_in());
    relations<T>(name, "to_built_in", true, built_in());
    relations<T>(name, "from_ours", false, ours());
}
#define ABOUT(type) about<type>(#type)
/* Constants. */
constexpr __half half_of(unsigned short bits) { return __half(__half_raw{ bits }); }
constexpr __half2 pair_of(unsigned short bits) { return __half2(half_of(bits), half_of(0)); }
constexpr __nv_bfloat16 bfloat_of(unsigned short bits) { return __nv_bfloat16(__nv_bfloat16_raw{ bits }); }
constexpr __nv_bfloat162 bfloats_of(unsigned short bits) { return __nv_bfloat162(bfloat_of(bits), bfloat_of(0)); }
static_assert((bool)half_of(0x3c00) && !(bool)half_of(0x8000) && (bool)pair_of(1).x && (bool)bfloat_of(1) && !(bool)bfloats_of(0).y, "constants");

int main()
{
    printf("built_in %s\nours %s\n", built_in_names, ours_names);
    ABOUT(__half_raw), ABOUT(__half2_raw), ABOUT(__nv_bfloat16_raw), ABOUT(__nv_bfloat162_raw), ABOUT(__half), ABOUT(__half2), ABOUT(__nv_bfloat16), ABOUT(__nv_bfloat162);
    ABOUT(__nv_fp8_e4m3), ABOUT(__nv_fp8x2_e4m3), ABOUT(__nv_fp8x4_e4m3), ABOUT(__nv_fp8_e5m2), ABOUT(__nv_fp8x2_e5m2), ABOUT(__nv_fp8x4_e5m2);
    ABOUT(__nv_fp8_e8m0), ABOUT(__nv_fp8x2_e8m0), ABOUT(__nv_fp8x4_e8m0), ABOUT(__nv_fp6_e2m3), ABOUT(__nv_fp6x2_e2m3), ABOUT(__nv_fp6x4_e2m3);
    ABOUT(__nv_fp6_e3m2), ABOUT(__nv_fp6x2_e3m2), ABOUT(__nv_fp6x4_e3m2), ABOUT(__nv_fp4_e2m1), ABOUT(__nv_fp4x2_e2m1), ABOUT(__nv_fp4x4_e2m1);
    return 0;
}
