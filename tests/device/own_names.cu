/* SPDX-License-Identifier: Apache-2.0 */
/* What Slang's sources do and NVIDIA's NVRTC takes: functions of the name of built-in ones, variables that are declared extern and defined nowhere. Only libnvrtc has that. */
#define MAKES(T, scalar)                                                                                                                       \
    inline __device__ T##2 make_##T##2(scalar x, scalar y) { return T##2{(scalar)(x + 100), y}; }                                              \
    inline __device__ T##3 make_##T##3(scalar x, scalar y, scalar z) { return T##3{(scalar)(x + 100), y, z}; }                                 \
    inline __device__ T##4 make_##T##4(scalar x, scalar y, scalar z, scalar w) { return T##4{(scalar)(x + 100), y, z, w}; }
MAKES(int, int)
MAKES(uint, unsigned int)
MAKES(char, signed char)
MAKES(float, float)
MAKES(double, double)
MAKES(longlong, long long)

struct parameters { int a; float4 b; };
extern "C" __constant__ parameters in_const;
extern "C" __device__ int in_global[4];
extern "C" { extern __constant__ int in_braces; }
namespace inner { extern __device__ float in_namespace; }

__device__ int wrong_line;
#define IS(expression, right) ((expression) == (right) ? (void)0 : (void)(wrong_line = __LINE__))

extern "C" __global__ void kernel(int *results)
{
    IS(make_int2(1, 2).x, 101);
    IS(make_uint4(1, 2, 3, 4).x, 101u);
    IS(make_char3(1, 2, 3).x, 101);
    IS(make_float2(1, 2).x, 101.0f);
    IS(make_double4(1, 2, 3, 4).x, 101.0);
    IS(make_longlong2(1, 2).x, 101);
    IS(make_short2(1, 2).x, 1);     /* the built-in one */
    IS(make_ulonglong4(1, 2, 3, 4).w, 4u);
    IS(in_const.a + in_global[2] + in_braces, 0);
    IS(inner::in_namespace, 0.0f);
    in_global[2] = 5;
    IS(*(volatile int *)&in_global[2], 5);
    in_global[2] = 0;
    results[0] = wrong_line;
    results[1] = (int)threadIdx.x;
}
