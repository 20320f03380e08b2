/* SPDX-License-Identifier: Apache-2.0 */
/* A library with kernels that is opened late, closed and opened again, many times: each time it starts afresh. */
#include <dlfcn.h>

#include "expect.h"

int main(int argc, char **argv)
{
    HOLDS(argc == 2);
    for (int round = 0; round < 20 && argc == 2; round++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        HOLDS(library != NULL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            break;
        }
        int (*late_call)(void) = (int (*)(void))dlsym(library, "late_call");
        HOLDS(late_call != NULL && late_call() == 41 && late_call() == 42);
        HOLDS(dlclose(library) == 0);
    }
    OK(cudaDeviceSynchronize());
    return finish();
}
