/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of a state space as integers, for PTX in kernel sources, and which space an address is in; included by millrace_device.h. */
#ifndef MILLRACE_ADDRESS_H
#define MILLRACE_ADDRESS_H

#define MR_SPACE(name, ptx)                                                                       \
    MR_DEVICE size_t __cvta_generic_to_##name(const void *p)                                      \
    {                                                                                             \
        size_t address;                                                                           \
        asm("cvta.to." ptx ".u64 %0, %1;" : "=l"(address) : "l"(p));                              \
        return address;                                                                           \
    }                                                                                             \
    MR_DEVICE void *__cvta_##name##_to_generic(size_t address)                                    \
    {                                                                                             \
        void *p;                                                                                  \
        asm("cvta." ptx ".u64 %0, %1;" : "=l"(p) : "l"(address));                                 \
        return p;                                                                                 \
    }
#define MR_IS_SPACE(Name, ptx)                                                                    \
    MR_DEVICE unsigned int __is##Name(const void *p)                                              \
    {                                                                                             \
        unsigned int is;                                                                          \
        asm("{ .reg .pred %%p; isspacep." ptx " %%p, %1; selp.u32 %0, 1, 0, %%p; }" : "=r"(is) : "l"(p)); \
        return is;                                                                                \
    }
MR_SPACE(shared, "shared") MR_SPACE(global, "global") MR_SPACE(local, "local") MR_SPACE(constant, "const")
MR_IS_SPACE(Shared, "shared") MR_IS_SPACE(Global, "global") MR_IS_SPACE(Local, "local") MR_IS_SPACE(Constant, "const")
/* A parameter whose address is taken is copied into local memory here, whatever __grid_constant__ promises: no address is one of a parameter. */
MR_DEVICE unsigned int __isGridConstant(const void *) { return 0; }
#undef MR_SPACE
#undef MR_IS_SPACE

#endif
