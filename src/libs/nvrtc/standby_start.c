/* SPDX-License-Identifier: Apache-2.0 */
/* millrace-standby LIBRARY SECONDS COMPILER WORDS...: starts a compiler that waits (standby_protocol.h) and ends at
 * once, so that the compiler is no child of the program that uses libnvrtc: a program that waits for all of its
 * children is not to wait for this one. */
#include <stdlib.h>
#include <unistd.h>

#include "libs/nvrtc/standby_protocol.h"

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    pid_t child = fork();
    if (child != 0)
        return child < 0;
    setenv("LD_PRELOAD", argv[1], 1);
    setenv("LD_BIND_NOW", "1", 1);   /* once here, not in each child */
    /* Memory in large pages: a child takes far fewer faults. */
    setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1);
    setenv(MR_STANDBY_SECONDS, argv[2], 1);
    execvp(argv[3], argv + 3);
    _exit(127);
}
