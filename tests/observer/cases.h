/* SPDX-License-Identifier: Apache-2.0 */
/* What programs of several cases share, each of them run by its name: CHECK of calls, and the choice. */
#ifndef TESTS_OBSERVER_CASES_H
#define TESTS_OBSERVER_CASES_H

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call) check(static_cast<int>(call), #call)

static void check(int status, const char *call)
{
    if (status == 0)
        return;
    std::fprintf(stderr, "%s: %d\n", call, status);
    std::exit(2);
}

struct one_case {
    const char *name;
    void (*run)();
};

/* The program's status. */
template <int COUNT> static int run_case(const one_case (&cases)[COUNT], const char *name)
{
    for (auto &each : cases)
        if (name && std::strcmp(name, each.name) == 0) {
            each.run();
            CHECK(cudaDeviceSynchronize());
            std::printf("done\n");
            return 0;
        }
    return 2;
}

#endif
