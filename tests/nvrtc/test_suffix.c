/* SPDX-License-Identifier: Apache-2.0 */
/* libnvrtc's code for architectures of one chip ("sm_90a") or one family of chips ("sm_100f"). Without clang-19 the
 * test is skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <nvrtc.h>

/* A kernel whose name says which macros announce the architecture. */
static const char source[] =
    "#define JOIN(a, b, c) a##_##b##_##c\n#define NAME(a, b, c) JOIN(a, b, c)\n"
    "#if defined __CUDA_ARCH_FEAT_SM90_ALL\n"
    "#define KERNEL NAME(chip90, __CUDA_ARCH_SPECIFIC__, __CUDA_ARCH_FAMILY_SPECIFIC__)\n"
    "#elif __CUDA_ARCH_HAS_FEATURE__(SM120_ALL)\n"
    "#define KERNEL NAME(chip120, __CUDA_ARCH_SPECIFIC__, __CUDA_ARCH_FAMILY_SPECIFIC__)\n"
    "#elif defined __CUDA_ARCH_SPECIFIC__\n#error one chip\n"
    "#elif defined __CUDA_ARCH_FAMILY_SPECIFIC__\n#define KERNEL NAME(family, of, __CUDA_ARCH_FAMILY_SPECIFIC__)\n"
    "#else\n#define KERNEL plain\n#endif\n"
    "extern \"C\" __global__ void KERNEL(int *p)\n{\n"
    "#ifdef __CUDA_ARCH_FAMILY_SPECIFIC__\nasm volatile(\"setmaxnreg.dec.sync.aligned.u32 40;\");\n#endif\n"
    "*p = __CUDA_ARCH__;\n}\n";

/* The suffix stands in the target, which setmaxnreg needs, and its macros are there. The same source without it is
 * another one, also among what is kept. */
static void arch_with_suffix(void **state)
{
    static const struct {
        const char *arch, *target, *entry;
    } cases[] = {{"-arch=sm_90", ".target sm_90\n", ".entry plain("},
                 {"-arch=sm_90a", ".target sm_90a\n", ".entry chip90_900_900("},
                 {"-arch=compute_90", ".target sm_90\n", ".entry plain("},
                 {"-arch=compute_100f", ".target sm_100f\n", ".entry family_of_1000("},
                 {"-arch=sm_120a", ".target sm_120a\n", ".entry chip120_1200_1200("}};
    const char *named = getenv("MILLRACE_CC");
    (void)state;
    if (!(named && *named) && access("/usr/bin/clang-19", X_OK) != 0)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nvrtcProgram program;
        size_t size = 0;
        assert_int_equal(nvrtcCreateProgram(&program, source, "suffix.cu", 0, NULL, NULL), NVRTC_SUCCESS);
        nvrtcResult result = nvrtcCompileProgram(program, 1, &cases[i].arch);
        if (result != NVRTC_SUCCESS)
            fail_msg("%s: %s", cases[i].arch, nvrtcGetErrorString(result));
        assert_int_equal(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
        char *ptx = malloc(size);
        assert_non_null(ptx);
        assert_int_equal(nvrtcGetPTX(program, ptx), NVRTC_SUCCESS);
        if (!strstr(ptx, cases[i].target) || !strstr(ptx, cases[i].entry))
            fail_msg("%s: %.400s", cases[i].arch, ptx);
        assert_int_equal(nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
        assert_int_equal(size != 0, strncmp(cases[i].arch, "-arch=sm_", 9) == 0);
        free(ptx);
        nvrtcDestroyProgram(&program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arch_with_suffix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
