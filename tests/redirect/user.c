/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is linked with a library in a folder of its own (RPATH): it prints whose it got. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int cudaRuntimeGetVersion(int *version);

int main(void)
{
    Dl_info info;
    int version = 0, status = cudaRuntimeGetVersion(&version);
    printf("%d %d %s\n", status, version, dladdr((void *)&cudaRuntimeGetVersion, &info) ? info.dli_fname : "?");
    return 0;
}
