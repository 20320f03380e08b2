/* SPDX-License-Identifier: Apache-2.0 */
/* A program without device code that opens libraries with kernels in them, uses them, and closes them again. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "../check.h"

int main(int argc, char **argv)
{
    int data[4] = { 1, 2, 3, 4 };
    for (int round = 0; round < 3; round++)
        for (int i = 1; i < argc; i++) {
            void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
            if (!library)
                std::fprintf(stderr, "%s\n", dlerror());
            EXPECT(library);
            auto apply = (cudaError_t (*)(int *, int))dlsym(library, "apply");
            EXPECT(apply);
            CHECK(apply(data, 4));
            EXPECT(dlclose(library) == 0);
        }
    std::printf("plugin: %d %d %d %d\n", data[0], data[1], data[2], data[3]);
    return 0;
}
