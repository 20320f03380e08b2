/* SPDX-License-Identifier: Apache-2.0 */
/* The device's runtime library, as far as it is here; see device_runtime.h. */
#include "ptx/device_runtime.h"

#include <string.h>

#include "ptx/host_object.h"

/* A handle is the address of the grid's workspace, which a cooperative launch leaves in %envreg1 and %envreg2: 0 in
 * another launch. The barrier is the word at its offset 4, and is that of cooperative_groups.h: it counts blocks, and
 * what block 0 adds makes the top bit flip when the last one has come. Scope 1 is the grid, and 1 as a status is
 * cudaErrorInvalidValue. */
#define DECLARES(result, name) ".weak .func (.param .b" result " r) " name

#define SYNCHRONIZE(name) \
    DECLARES("32", name) \
    "(.param .b64 handle, .param .b32 flags)\n{\n" \
    ".reg .pred %q; .reg .b32 %t<8>; .reg .b64 %w;\n" \
    "mov.b32 %t7, 1;\nld.param.b64 %w, [handle];\nsetp.eq.b64 %q, %w, 0;\n@%q bra DONE;\n" \
    "bar.sync 0;\n" \
    "mov.u32 %t0, %tid.x;\nmov.u32 %t1, %tid.y;\nor.b32 %t0, %t0, %t1;\n" \
    "mov.u32 %t1, %tid.z;\nor.b32 %t0, %t0, %t1;\nsetp.ne.b32 %q, %t0, 0;\n@%q bra MEET;\n" \
    "mov.u32 %t0, %nctaid.x;\nmov.u32 %t1, %nctaid.y;\nmul.lo.u32 %t0, %t0, %t1;\n" \
    "mov.u32 %t1, %nctaid.z;\nmul.lo.u32 %t0, %t0, %t1;\nsub.u32 %t2, 0x80000001, %t0;\n" \
    "mov.u32 %t0, %ctaid.x;\nmov.u32 %t1, %ctaid.y;\nor.b32 %t0, %t0, %t1;\n" \
    "mov.u32 %t1, %ctaid.z;\nor.b32 %t0, %t0, %t1;\nsetp.eq.b32 %q, %t0, 0;\n" \
    "selp.b32 %t2, %t2, 1, %q;\nmembar.gl;\natom.add.u32 %t3, [%w+4], %t2;\n" \
    "WAIT:\nld.volatile.u32 %t4, [%w+4];\nxor.b32 %t4, %t4, %t3;\nsetp.ge.s32 %q, %t4, 0;\n" \
    "@%q bra WAIT;\nmembar.gl;\n" \
    "MEET:\nbar.sync 0;\nmov.b32 %t7, 0;\n" \
    "DONE:\nst.param.b32 [r], %t7;\nret;\n}\n"

/* Two numbers by pointers, each of which may be NULL: one that the registers before leave in %t0, and `second`. */
#define TELLS(name, first, second) \
    DECLARES("32", name) \
    "(.param .b64 one, .param .b64 two, .param .b64 handle)\n{\n" \
    ".reg .pred %q; .reg .b32 %t<8>; .reg .b64 %w;\n" \
    "mov.b32 %t7, 1;\nld.param.b64 %w, [handle];\nsetp.eq.b64 %q, %w, 0;\n@%q bra DONE;\n" first \
    "ld.param.b64 %w, [one];\nsetp.ne.b64 %q, %w, 0;\n@%q st.u32 [%w], %t0;\n" \
    "mov.b32 %t0, " second ";\nld.param.b64 %w, [two];\nsetp.ne.b64 %q, %w, 0;\n" \
    "@%q st.u32 [%w], %t0;\nmov.b32 %t7, 0;\n" \
    "DONE:\nst.param.b32 [r], %t7;\nret;\n}\n"

#define BLOCK_SIZE "mov.u32 %t1, %ntid.x;\nmov.u32 %t2, %ntid.y;\nmov.u32 %t3, %ntid.z;\n"
#define GRID_SIZE "mov.u32 %t4, %nctaid.x;\nmov.u32 %t5, %nctaid.y;\n"

const char mr_ptx_device_runtime[] = ".version 6.0\n.target sm_50\n.address_size 64\n" DECLARES(
    "64",
    "cudaCGGetIntrinsicHandle") "(.param .b32 scope)\n{\n"
                                ".reg .pred %q; .reg .b32 %t<3>; .reg .b64 %w;\n"
                                "ld.param.b32 %t0, [scope];\nsetp.eq.b32 %q, %t0, 1;\nmov.b64 %w, 0;\n"
                                "mov.u32 %t1, %envreg1;\nmov.u32 %t2, %envreg2;\n@%q mov.b64 %w, {%t2, %t1};\n"
                                "st.param.b64 [r], %w;\nret;\n}\n" SYNCHRONIZE("cudaCGSynchronize")
                                    SYNCHRONIZE("cudaCGSynchronizeGrid") TELLS(
                                        "cudaCGGetSize",
                                        BLOCK_SIZE GRID_SIZE
                                        "mov.u32 %t0, %nctaid.z;\n"
                                        "mul.lo.u32 %t0, %t0, %t5;\nmul.lo.u32 %t0, %t0, %t4;\nmul.lo.u32 %t0, %t0, %t3;\n"
                                        "mul.lo.u32 %t0, %t0, %t2;\nmul.lo.u32 %t0, %t0, %t1;\n",
                                        "1")
                                        TELLS(
                                            "cudaCGGetRank",
                                            BLOCK_SIZE GRID_SIZE
                                            "mov.u32 %t0, %ctaid.z;\nmov.u32 %t6, %ctaid.y;\n"
                                            "mad.lo.u32 %t0, %t0, %t5, %t6;\nmov.u32 %t6, %ctaid.x;\nmad.lo.u32 %t0, %t0, %t4, %t6;\n"
                                            "mov.u32 %t6, %tid.z;\nmad.lo.u32 %t0, %t0, %t3, %t6;\nmov.u32 %t6, %tid.y;\n"
                                            "mad.lo.u32 %t0, %t0, %t2, %t6;\nmov.u32 %t6, %tid.x;\nmad.lo.u32 %t0, %t0, %t1, %t6;\n",
                                            "0");

static void see_member(void *user, const char *name, size_t length)
{
    static const char own[] = "cuda_device_runtime.o";
    bool *found = user;
    *found = *found || (length == sizeof own - 1 && memcmp(name, own, length) == 0);
}

/* No other code has functions whose names begin with cnp: NVIDIA's driver brings them. */
bool mr_ptx_is_device_runtime_text(const char *text, size_t length)
{
    static const char own[] = "cnpSetLastError";
    return memmem(text, length, own, sizeof own - 1);
}

bool mr_ptx_is_device_runtime(const void *data, size_t size)
{
    bool found = false;
    struct mr_ptx_object_visitor visitor = {.user = &found, .member = see_member};
    return mr_ptx_object_visit(data, size, &visitor) == MR_PTX_OBJECT_OK && found;
}
