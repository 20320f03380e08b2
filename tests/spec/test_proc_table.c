/* SPDX-License-Identifier: Apache-2.0 */
/* cuGetProcAddress finds what it finds on hardware, for every documented name.
 *
 *     test_proc_table RECORDING
 *
 * The recording (see pack_proc_table.py) has lines "name flags first-last:symbol …", where the
 * symbol is "-" and a query result if nothing was found. Both ends of every range are asked. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned asked, wrong;

/* Asks once, and complains unless the answer is `wanted`. */
static void ask(const char *name, cuuint64_t flags, int version, const char *wanted)
{
    void *found = NULL;
    CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult status = cuGetProcAddress_v2(name, &found, version, flags, &result);
    void *expected = NULL;
    int expected_result = CU_GET_PROC_ADDRESS_SUCCESS;
    if (wanted[0] == '-') {
        expected_result = atoi(wanted + 1);
    } else {
        expected = dlsym(RTLD_DEFAULT, wanted);
    }
    asked++;
    if (status != CUDA_SUCCESS || found != expected || (int)result != expected_result ||
        (wanted[0] != '-' && expected == NULL)) {
        wrong++;
        fprintf(stderr, "%s at %d, flags %u: status %d, result %d; hardware: %s\n", name, version, (unsigned)flags,
                (int)status, (int)result, wanted);
    }
}

static int line_check(char *line)
{
    char *rest = NULL;
    const char *name = strtok_r(line, " \n", &rest);
    const char *flags = strtok_r(NULL, " \n", &rest);
    if (name == NULL || name[0] == '#') {
        return 1;
    }
    if (flags == NULL) {
        return 0;
    }
    for (char *item; (item = strtok_r(NULL, " \n", &rest)) != NULL;) {
        int first, last, used = 0;
        if (sscanf(item, "%d-%d:%n", &first, &last, &used) != 2 || used == 0) {
            return 0;
        }
        ask(name, (cuuint64_t)atoi(flags), first, item + used);
        ask(name, (cuuint64_t)atoi(flags), last, item + used);
    }
    return 1;
}

int main(int argc, char **argv)
{
    FILE *recording = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (recording == NULL) {
        fprintf(stderr, "usage: test_proc_table RECORDING\n");
        return 2;
    }
    char line[2048];
    int readable = 1;
    while (readable && fgets(line, sizeof line, recording) != NULL) {
        readable = line_check(line);
    }
    fclose(recording);
    printf("%u look-ups, %u differ from hardware\n", asked, wrong);
    return readable && wrong == 0 && asked > 2000 ? 0 : 1;
}
