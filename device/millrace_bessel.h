/* SPDX-License-Identifier: Apache-2.0 */
/* Bessel functions of double precision; a part of millrace_double.h, which explains pairs. Those of single precision are these, rounded.
 *
 * Orders 0 and 1: around each zero below 8 the function is x - zero, which keeps all its digits, times a series, from extreme to extreme. From there on it is
 * a wave whose size and phase are slow functions of 1 / x^2 (Hankel's expansion tells their form); its angle is a pair, so that the error stays a small part
 * of the wave's size for every x. Y0 and Y1 have a logarithm at 0: with it, times J0 or J1, taken out around the first zero, the rest is a series in x^2.
 * Higher orders: recurrence, upwards where that is stable, else downwards and compared with J0 or J1 at the end (Miller's method).
 * Modified functions of the first kind: a series in x^2 up to 8, then exp(x) / sqrt(x) times a series in 1 / x.
 * The series are those of gen/fit_bessel.py. */
#ifndef MILLRACE_BESSEL_H
#define MILLRACE_BESSEL_H

/* Long functions stay calls, or code that has several of them would take long to compile. */
#define MR_CALLED static __attribute__((device, noinline, unused))

template <int n> MR_DEVICE double mr_at_zero(double x, mr_pair zero, const double (&terms)[n])
{
    double away = x - zero.high;
    return (away - zero.low) * mr_series(away, terms);
}

/* sqrt(2 / (pi x)) size cos(x - pi/4 + phase / x), or with the sine (second), for x > 6.8; the angle is a quarter turn behind for order 1. */
MR_DEVICE double mr_bessel_wave(double x, int quarters, double size, double phase)
{
    if (isinf(x))
        return 0.0;
    mr_turned turned = mr_turn(x);
    bool ahead = turned.rest.high >= 0;
    const mr_pair eighth = {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
    turned.rest = mr_add(mr_add(turned.rest, ahead ? mr_negate(eighth) : eighth), phase / x);
    return 0.79788456080286535588 * size / __nvvm_sqrt_rn_d(x) * mr_wave(turned, ahead ? quarters : quarters - 1);
}
MR_CALLED double mr_bessel_wave_0(double x, int quarters)
{
    double s = x > 0x1p100 ? 0.0 : 1.0 / (x * x);
    return mr_bessel_wave(x, quarters, mr_series(s, {
        0x1.e1b0baf0c797fp+47, -0x1.5123844e3c95ep+45, 0x1.b58830691bd93p+41, -0x1.60e516a5c49bcp+37, 0x1.93af934155ba5p+32, -0x1.682fd87383aecp+27,
        0x1.1547a3e61159ep+22, -0x1.a3c42de55bf31p+16, 0x1.6e1dc1d6d9396p+11, -0x1.ab0ef0747da22p+6, 0x1.764ce04291157p+2, -0x1.15eff4c1e9a41p-1,
        0x1.a7ffffeffcb8dp-4, -0x1.fffffffffdb5fp-5, 0x1.0000000000000p+0}), mr_series(s, {
        -0x1.ffb8804dbc799p+50, 0x1.63f1d1a2c6da7p+48, -0x1.c9e783d857d5ep+44, 0x1.6c9225fc426eep+40, -0x1.98c02b676dfdfp+35, 0x1.6106aaf407549p+30,
        -0x1.0173882c74443p+25, 0x1.64e971254950bp+19, -0x1.10fee1957b306p+14, 0x1.0b417732af239p+9, -0x1.7790709596d23p+4, 0x1.a35815ba21cf8p+0,
        -0x1.ad3332ea27c8bp-3, 0x1.0aaaaaaaa03cdp-4, -0x1.ffffffffffffep-4}));
}
MR_CALLED double mr_bessel_wave_1(double x, int quarters)
{
    double s = x > 0x1p100 ? 0.0 : 1.0 / (x * x);
    return mr_bessel_wave(x, quarters - 1, mr_series(s, {
        -0x1.0f5169e762a8ap+48, 0x1.7c19b593f65e5p+45, -0x1.eddbd490ea74bp+41, 0x1.8f0671cb338d8p+37, -0x1.c9bd4b3817c14p+32, 0x1.9a5cac26ae45fp+27,
        -0x1.3e8f788047329p+22, 0x1.e966eed683557p+16, -0x1.b572c8d805b3cp+11, 0x1.09403c519a48fp+7, -0x1.ef56b269172dfp+2, 0x1.9c4ff3711dcfcp-1,
        -0x1.8bfffff70de6ap-3, 0x1.7fffffffff5c4p-3, 0x1.0000000000000p+0}), mr_series(s, {
        0x1.201a9527315a7p+51, -0x1.911a9af3c3725p+48, 0x1.0247505efdc3fp+45, -0x1.9bef2c473e5a3p+40, 0x1.cf091af8280eep+35, -0x1.919f549a72a3cp+30,
        0x1.27160630e9ce0p+25, -0x1.9e8276d1ac4b2p+19, 0x1.44342b5657a9fp+14, -0x1.48f689e1be45fp+9, 0x1.e9f1259b6bec7p+4, -0x1.2f4851034c71ap+1,
        0x1.7bcccca403674p-2, -0x1.4ffffffffa2d0p-3, 0x1.7ffffffffffffp-2}));
}

MR_CALLED double mr_j0(double x)
{
    if (x < 1.0)
        return mr_series(x * x, {
        -0x1.4ceb79930e928p-39, 0x1.02dfdb3f2258ep-31, -0x1.2345592a2cee7p-24, 0x1.c71c71ac2df5dp-18, -0x1.c71c71c70108cp-12, 0x1.ffffffffffe4ap-7,
        -0x1.fffffffffffffp-3, 0x1.0000000000000p+0});
    if (x < 3.84375)
        return mr_at_zero(x, {0x1.33d152e971b40p+1, -0x1.0f539d7da258ep-53}, {
        -0x1.a348473b72972p-52, -0x1.c5c4f968b1bdcp-48, 0x1.f68248e250168p-44, 0x1.cd15a40a7afa0p-40, -0x1.bdc2eba9986b3p-36, -0x1.5c2be4ebe620ep-32,
        0x1.2951bb046509dp-28, 0x1.7ff990b1377bap-25, -0x1.1cce302443baep-21, -0x1.232c77d148ed2p-18, 0x1.6ed3b9f0777bap-15, 0x1.15382ba06b9f4p-12,
        -0x1.1f992590d1253p-9, -0x1.1bb1cbe1a405cp-7, 0x1.cfae864368d70p-5, 0x1.ba1deea029493p-4, -0x1.09cdb36551280p-1});
    if (x < 7.03125)
        return mr_at_zero(x, {0x1.6148f5b2c2e45p+2, 0x1.75054cd60a517p-54}, {
        0x1.ea1981cc4963fp-52, 0x1.8452ac791ee26p-48, -0x1.10a3b7bc015b7p-43, -0x1.846324e14e2f6p-40, 0x1.e2f665fe80068p-36, 0x1.1d03ba594b467p-32,
        -0x1.41d73464fb9e3p-28, -0x1.2da37cfd4bd78p-25, 0x1.32e6d9ac373a8p-21, 0x1.ad77d744f9311p-19, -0x1.863f481a6a371p-15, -0x1.6f641f418f9f0p-13,
        0x1.27e31fe9a9a6ep-9, 0x1.2f7ffe9025634p-8, -0x1.b2150cb41e8c6p-5, -0x1.f8f72e7a848dep-6, 0x1.5c6e60a097823p-2});
    return mr_bessel_wave_0(x, 1);
}
MR_CALLED double mr_j1(double x)
{
    if (x < 1.84375)
        return x * mr_series(x * x, {
        -0x1.987e233304c04p-60, 0x1.2c471d99040a3p-51, -0x1.5228cbbd491ecp-43, 0x1.27e4f74bdcc34p-35, -0x1.845c89fe3bc75p-28, 0x1.6c16c16bf75dap-21,
        -0x1.c71c71c71c249p-15, 0x1.555555555554fp-9, -0x1.0000000000000p-4, 0x1.0000000000000p-1});
    if (x < 5.34375)
        return mr_at_zero(x, {0x1.ea75575af6f09p+1, -0x1.60155a9d1b256p-53}, {
        0x1.6e46d749f7203p-57, -0x1.e78826f1422e0p-52, -0x1.63bcb80f33a39p-48, 0x1.17a8b450ae7e8p-43, 0x1.5eb7863f94953p-40, -0x1.ec62bd14c25d6p-36,
        -0x1.03b9c3f5f0dd0p-32, 0x1.4569b3b95605fp-28, 0x1.170691d34186fp-25, -0x1.33825cd70d938p-21, -0x1.9799d4c8d17f2p-19, 0x1.83a06e30cf748p-15,
        0x1.6e4c2d53524cep-13, -0x1.24b3409959150p-9, -0x1.537544c331d7bp-8, 0x1.b589d1da13906p-5, 0x1.ae8a39f51ad03p-5, -0x1.9c6cf582cbf7fp-2});
    if (x < 8.0)
        return mr_at_zero(x, {0x1.c0ff5f3b47250p+2, -0x1.b226d9d243827p-54}, {
        0x1.1737a31dc13a8p-51, 0x1.4ec39f2538745p-48, -0x1.18839af760658p-43, -0x1.3bcb11986651ap-40, 0x1.ecae8e274fea2p-36, 0x1.c62d0846eb473p-33,
        -0x1.44639c91bd361p-28, -0x1.d48dce02d2ba6p-26, 0x1.3026e0cca93bep-21, 0x1.4255b015e8725p-19, -0x1.796a751f85a5dp-15, -0x1.07358bbdc0204p-13,
        0x1.13fbc7d6981edp-9, 0x1.9a4b292e3de45p-9, -0x1.80c83bdeee5b0p-5, -0x1.5e70dc60362bfp-6, 0x1.33518b3874e8ap-2});
    return mr_bessel_wave_1(x, 1);
}
MR_DEVICE double j0(double x) { return isnan(x) ? x : mr_j0(__builtin_fabs(x)); }
MR_DEVICE double j1(double x) { return isnan(x) ? x : __builtin_copysign(1.0, x) * mr_j1(__builtin_fabs(x)); }

/* 2/pi ln(x / zero), relative precision at the zero included. */
MR_DEVICE double mr_bessel_log(double x, mr_pair zero)
{
    double away = (x - zero.high) - zero.low;
    mr_pair log = __builtin_fabs(away) < 0.25 * zero.high ? mr_log_part(mr_divide({away, 0.0}, mr_add(zero, x)))
                                                          : mr_log_pair(mr_divide({x, 0.0}, zero));
    return 0.63661977236758134308 * mr_value(log);
}
MR_CALLED double mr_y0(double x)
{
    const mr_pair zero = {0x1.c982eb8d417eap-1, 0x1.ea9d270347f83p-56};
    if (x < 2.21875)
        return __builtin_fma(mr_bessel_log(x, zero), mr_j0(x), ((x - zero.high) - zero.low) * (x + zero.high) *
            mr_series(x * x, {
        -0x1.455dc290a4871p-63, 0x1.0321ec5039152p-54, -0x1.3c53b75cf0540p-46, 0x1.2eb3ecd35d99ap-38, -0x1.b797034c0c6a1p-31, 0x1.cf0413da10c28p-24,
        -0x1.4c030d99a7de1p-17, 0x1.268a9aaaeb0bap-11, -0x1.12583f4a4abcfp-6, 0x1.750811790a13cp-3}));
    if (x < 5.40625)
        return mr_at_zero(x, {0x1.fa9534d98569cp+1, -0x1.f06ae7804384ep-54}, {
        0x1.fef4b06cd0114p-53, -0x1.e072f83dfa4a3p-54, -0x1.06e44f4a7b7cap-49, -0x1.ccafab60d80fap-49, 0x1.82c1576d58a9ap-46, -0x1.dcab08a7df4b3p-46,
        0x1.cd807c2c49187p-44, -0x1.66bc3c4c0587cp-41, 0x1.7129698823c23p-39, -0x1.72d94903fdabap-37, 0x1.87872a9ab5809p-35, -0x1.9981d25e6d851p-33,
        0x1.a5b3c01cac31bp-31, -0x1.f690b3a7bbee6p-29, 0x1.452e4467ce83dp-26, -0x1.77708b188265dp-26, -0x1.3b2165e250516p-22, -0x1.486371d5898c1p-18,
        0x1.ab2c1febb128ep-15, 0x1.998276514cbbfp-13, -0x1.1e32bc4ef808dp-9, -0x1.c116fdc597f83p-8, 0x1.df6d59bf50eb5p-5, 0x1.a09c9290367eep-5,
        -0x1.9c34256a12a0cp-2});
    if (x < 8.0)
        return mr_at_zero(x, {0x1.c581dc4e72103p+2, -0x1.9774a495f56cfp-54}, {
        0x1.e926436a26d9dp-51, 0x1.6a820ab3d0d95p-48, -0x1.062e1be6732bdp-43, -0x1.71dd5d40d40d0p-40, 0x1.f1452d3b3199dp-36, 0x1.fa6d43d19a9efp-33,
        -0x1.442a2f74eea6cp-28, -0x1.0a281508dd1b8p-25, 0x1.34aa7561c805cp-21, 0x1.6a922734b0162p-19, -0x1.8177e4fe39ff1p-15, -0x1.26dd71e390b90p-13,
        0x1.1d35e85fde1a9p-9, 0x1.b2f14a95527a4p-9, -0x1.8969c64cbf451p-5, -0x1.5aef611fc4d57p-6, 0x1.334cca0697a5bp-2});
    return mr_bessel_wave_0(x, 0);
}
MR_CALLED double mr_y1(double x)
{
    const mr_pair zero = {0x1.193bed4dff243p+1, -0x1.bd1e50d219bfdp-55};
    if (x < 0x1p-60)
        return -0.63661977236758134308 / x;
    if (x < 3.6875)
        return __builtin_fma(mr_bessel_log(x, zero), mr_j1(x), ((x - zero.high) - zero.low) * (x + zero.high) / x *
            mr_series(x * x, {
        0x1.3c74115942674p-77, -0x1.65e99f36604a9p-68, 0x1.28e2aafc2befcp-59, -0x1.8cabd1ee0f9b3p-51, 0x1.a3ab230df7dabp-43, -0x1.549cf83713721p-35,
        0x1.96551dc0ebc8cp-28, -0x1.4f2940693e683p-21, 0x1.5ba2f20a55576p-15, -0x1.7c2ca06d8e340p-10, 0x1.069922dcaf0dfp-6, 0x1.0e14beba09e96p-3}));
    if (x < 6.9375)
        return mr_at_zero(x, {0x1.5b7fe4e87b02ep+2, 0x1.dfe7bac228e8cp-52}, {
        -0x1.9e71f1569fbcdp-56, 0x1.261ad0b813bdcp-54, -0x1.2a2a5b1aef883p-54, 0x1.42494c834747bp-50, -0x1.0eb75a44ad1dcp-47, 0x1.430edc163daf2p-45,
        -0x1.ba02fa7309c10p-43, 0x1.495c064e340b0p-40, -0x1.38a4e9c97ee6fp-38, 0x1.4076a3471516bp-39, -0x1.a7ec37f69641cp-32, 0x1.80b1a9af2bc10p-28,
        0x1.b62cca7fe3357p-26, -0x1.255e6cf68b964p-21, -0x1.8061914269a0ep-19, 0x1.85b940eb60540p-15, 0x1.337c7e1389c35p-13, -0x1.1be6db9923acdp-9,
        -0x1.10a329e2c23a6p-8, 0x1.a15d92dfe3e26p-5, 0x1.00b9f8571ca1ep-5, -0x1.5c7c556f0c19ap-2});
    return mr_bessel_wave_1(x, 0);
}
MR_DEVICE double y0(double x) { return x > 0 ? mr_y0(x) : x == 0 ? -MR_INF_D : MR_NAN_D; }
MR_DEVICE double y1(double x) { return x > 0 ? mr_y1(x) : x == 0 ? -MR_INF_D : MR_NAN_D; }

/* J of order n > 1 for 0 < x <= n. */
MR_CALLED double mr_jn_small(int n, double x)
{
    /* (x / 2)^n / n!, which no |J| is above, is less than (e x / 2n)^n: nothing here, */
    if (n > 380 && x < 0.1 * n)
        return 0.0;
    /* and here it is all that counts. */
    if (x * x < 0x1p-52 * n) {
        double value = 0.5 * x;
        for (int k = 2; k <= n && value > 0; k++)
            value *= 0.5 * x / k;
        return value;
    }
    /* So far above n the downward recurrence starts that J is below 2^-60 of its value at n. */
    int start = n + 20 + (int)(9.0 * cbrt((double)n));
    double above = 0.0, here = 1.0, wanted = 0.0;
    for (int k = start; k > 0; k--) {
        double below = (double)k * 2.0 / x * here - above;
        above = here;
        here = below;
        if (k - 1 == n)
            wanted = here;
        if (__builtin_fabs(here) > 0x1p900) {
            here *= 0x1p-400;
            above *= 0x1p-400;
            wanted *= 0x1p-400;
        }
    }
    /* `here` goes with J0, `above` with J1: the larger one tells the factor. */
    double zero = mr_j0(x), one = mr_j1(x);
    return __builtin_fabs(zero) > __builtin_fabs(one) ? wanted / here * zero : wanted / above * one;
}
MR_CALLED double jn(int n, double x)
{
    if (n < 0 || isnan(x))
        return MR_NAN_D;
    if (n < 2)
        return n ? j1(x) : j0(x);
    double size = __builtin_fabs(x), value;
    if (size == 0 || isinf(x)) {
        value = 0.0;
    } else if (size <= n) {
        value = mr_jn_small(n, size);
    } else {
        double before = mr_j0(size);
        value = mr_j1(size);
        for (int k = 1; k < n; k++) {
            double next = (double)k * 2.0 / size * value - before;
            before = value;
            value = next;
        }
    }
    return signbit(x) && (n & 1) ? -value : value;
}
MR_CALLED double yn(int n, double x)
{
    if (n < 0 || !(x >= 0))
        return MR_NAN_D;
    if (n < 2)
        return n ? y1(x) : y0(x);
    if (x == 0 || isinf(x))
        return x == 0 ? -MR_INF_D : 0.0;
    double before = mr_y0(x), value = mr_y1(x);
    for (int k = 1; k < n && value > -MR_INF_D; k++) {
        double next = (double)k * 2.0 / x * value - before;
        before = value;
        value = next;
    }
    return value;
}

/* exp(x) / sqrt(x) times what is slow, for x >= 8. */
MR_DEVICE double mr_bessel_exp(double x, double slow)
{
    int k;
    if (x > 750.0)
        return MR_INF_D;
    mr_pair power = mr_exp_pair({x, 0.0}, &k);
    return mr_scale(mr_value(mr_multiply(power, slow / __nvvm_sqrt_rn_d(x))), k);
}
MR_CALLED double cyl_bessel_i0(double x)
{
    double size = __builtin_fabs(x);
    if (isnan(x) || size <= 8.0)
        return mr_series(x * x, {
        0x1.20d247d00eeebp-120, 0x1.31d00bad6ba1ap-111, 0x1.46a4446d3e276p-101, 0x1.e56f7ffb05c87p-92, 0x1.41b6c17a09391p-82, 0x1.69c76363ac35fp-73,
        0x1.5601c7e411b36p-64, 0x1.0b312ee43b7c5p-55, 0x1.522a444603fe2p-47, 0x1.522a43f155552p-39, 0x1.02e85c08d260ap-31, 0x1.23456789a8318p-24,
        0x1.c71c71c71cbe1p-18, 0x1.c71c71c71c6dfp-12, 0x1.0000000000002p-6, 0x1.0000000000000p-2, 0x1.0000000000000p+0});
    return mr_bessel_exp(size, mr_series(16.0 / size - 1.0, {
        -0x1.36e52c10032d7p-34, -0x1.52109c25bd9ecp-36, 0x1.1ce14787c5bdep-31, 0x1.42a55974d41b8p-33, -0x1.e8fd992032bedp-30, -0x1.31c908a5dd531p-31,
        0x1.0ab5ef575d285p-28, 0x1.9bbbfe31d81e9p-30, -0x1.a9411c5b0ad08p-28, -0x1.df1549cddfaf8p-29, 0x1.047454ffcb608p-27, 0x1.0317d4c7b215ap-27,
        -0x1.77cc956faaa2fp-28, -0x1.cc90f59ec1228p-27, -0x1.ce768f00b5374p-28, 0x1.03896efb09a41p-27, 0x1.7224b1828e507p-26, 0x1.51ced7b713adcp-25,
        0x1.7d0f75812d9bcp-24, 0x1.3f49a6bcfc2d9p-22, 0x1.8e513a1d5e52bp-20, 0x1.75e5ee71edd14p-17, 0x1.1daa72b5e650cp-13, 0x1.b87969bb93b75p-9,
        0x1.9bd428ad249a5p-2}));
}
MR_CALLED double cyl_bessel_i1(double x)
{
    double size = __builtin_fabs(x);
    if (isnan(x) || size <= 8.0)
        return x * mr_series(x * x, {
        0x1.20de50ee937a2p-115, 0x1.1ec8e2d9b0ddbp-106, 0x1.1dc3a22d140b2p-96, 0x1.8a6faa072cdf9p-87, 0x1.e290ec0d14f98p-78, 0x1.f17258b099a34p-69,
        0x1.ab8234c2c46fbp-60, 0x1.2c97552280795p-51, 0x1.522a443ba2a26p-43, 0x1.27e4fb73f1ad7p-35, 0x1.845c8a0d26f80p-28, 0x1.6c16c16c13a93p-21,
        0x1.c71c71c71c9ecp-15, 0x1.5555555555540p-9, 0x1.0000000000001p-4, 0x1.0000000000000p-1});
    return __builtin_copysign(mr_bessel_exp(size, mr_series(16.0 / size - 1.0, {
        -0x1.5a29b473f1663p-36, 0x1.0ddc7620a9205p-34, 0x1.37bea5c8dbcccp-33, -0x1.fff33f3b3e75ap-32, -0x1.07d06c81c1d24p-31, 0x1.c7aed1ee533f7p-30,
        0x1.268bd450a314cp-30, -0x1.01ef463d9c576p-28, -0x1.11c9f66d690fcp-29, 0x1.aa440cf09ce30p-28, 0x1.05656ba38c1b6p-28, -0x1.0e2bb88351649p-27,
        -0x1.0c96c7afcb02cp-27, 0x1.99d190fe908dap-28, 0x1.e413f0678e137p-27, 0x1.ceff3cea7c3a4p-28, -0x1.21f47a4eb566bp-27, -0x1.9191ff33370adp-26,
        -0x1.727702ec186d3p-25, -0x1.ad8d43e5d60bep-24, -0x1.7613865ea6e9ap-22, -0x1.ec8e107bd7eaap-20, -0x1.f89c230446f74p-17,
        -0x1.cbc54df1e894cp-13, -0x1.3f796198ee63fp-7, 0x1.8ebe783a84030p-2})), x);
}

#undef MR_CALLED

#endif
