/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the host's functions of mathematics give that CUDA C++ has and C has not: one line per call, with
 * argument and result in hexadecimal. The first word of the command line is how
 * many random arguments each function gets beside the special ones. Compiles with nvcc as well: host_math_nvcc.txt is
 * its output. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static uint64_t state = 88172645463325252u;
static double uniform()
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}
static uint64_t bits(double x) { uint64_t b; memcpy(&b, &x, sizeof b); return b; }
static uint64_t bits(float x) { uint32_t b; memcpy(&b, &x, sizeof b); return b; }

/* `least` to `most`, and with a sign if least is below 0, spread over the exponents. */
template <class T> static void show(const char *name, T (*f)(T), double least, double most, int count)
{
    static const double special[] = { 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1.5, 0.25, 0x1p-1074, -0x1p-149, 0x1p-60, 0x1p52, 0x1p60, -3.0, 1e300, 0.9999999, 1.9999999, 38.0, -38.0, 26.0,
        INFINITY, -INFINITY, NAN };
    for (double x : special)
        printf("%s %c %llx %llx\n", name, sizeof(T) == 4 ? 'f' : 'd', (unsigned long long)bits((T)x), (unsigned long long)bits(f((T)x)));
    for (int i = 0; i < count; i++) {
        double size = std::fmax(std::fabs(least), std::fabs(most)), u = uniform();
        T x = (T)(i % 2 ? least + (most - least) * u : std::copysign(size * std::exp2(-30.0 * u), least < 0 && uniform() < 0.5 ? -1.0 : 1.0));
        printf("%s %c %llx %llx\n", name, sizeof(T) == 4 ? 'f' : 'd', (unsigned long long)bits(x), (unsigned long long)bits(f(x)));
    }
}
#define BOTH(name, least, most)                                       \
    show<double>(#name, [](double x) { return name(x); }, least, most, count); \
    show<float>(#name "f", [](float x) { return name##f(x); }, least, most, count); \
    show<float>(#name "_of_float", [](float x) { return name(x); }, least, most, 4);
#define SECOND(type, name) [](type x) { type s, c; name(x, &s, &c); return c; }
#define FIRST(type, name) [](type x) { type s, c; name(x, &s, &c); return s; }

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 16;
    BOTH(rsqrt, 0.0, 1e30)
    BOTH(rcbrt, -1e30, 1e30)
    BOTH(sinpi, -100.0, 100.0)
    BOTH(cospi, -100.0, 100.0)
    show<double>("sincospi_s", FIRST(double, sincospi), -10.0, 10.0, count);
    show<double>("sincospi_c", SECOND(double, sincospi), -10.0, 10.0, count);
    show<float>("sincospif_s", FIRST(float, sincospif), -10.0, 10.0, count);
    show<float>("sincospif_c", SECOND(float, sincospi), -10.0, 10.0, count);
    show<float>("sincos_of_float_s", FIRST(float, sincos), -10.0, 10.0, count);
    show<float>("sincos_of_float_c", SECOND(float, sincos), -10.0, 10.0, count);
    BOTH(erfinv, -1.0, 1.0)
    BOTH(erfcinv, 0.0, 2.0)
    BOTH(erfcx, -26.0, 100.0)
    BOTH(normcdf, -38.0, 8.0)
    BOTH(normcdfinv, 0.0, 1.0)
    BOTH(exp10, -40.0, 40.0)
    BOTH(j0, -100.0, 100.0)
    BOTH(j1, -100.0, 100.0)
    BOTH(y0, 0.0, 100.0)
    BOTH(y1, 0.0, 100.0)
    show<float>("jn_of_float", [](float x) { return jn(3, x); }, 0.0, 50.0, count);
    show<float>("yn_of_float", [](float x) { return yn(3, x); }, 0.0, 50.0, count);
    return 0;
}
