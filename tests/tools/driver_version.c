/* SPDX-License-Identifier: Apache-2.0 */
/* A program that finds the driver at run time, as most clients do, and prints its version and the file that it came
 * from. With an argument it starts the driver, too. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef CUresult version_function(int *version);
typedef CUresult init_function(unsigned flags);

int main(int argc, char **argv)
{
    (void)argv;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *symbol = library ? dlsym(library, "cuDriverGetVersion") : NULL;
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    version_function *get_version;
    memcpy(&get_version, &symbol, sizeof get_version);
    int version = 0;
    Dl_info info;
    if (get_version(&version) != CUDA_SUCCESS || !dladdr(symbol, &info))
        return 1;
    if (argc > 1) {
        init_function *init;
        symbol = dlsym(library, "cuInit");
        memcpy(&init, &symbol, sizeof init);
        if (!symbol || init(0) != CUDA_SUCCESS)
            return 1;
    }
    printf("%d %s\n", version, info.dli_fname);
    return 0;
}
