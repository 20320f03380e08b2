/* SPDX-License-Identifier: Apache-2.0 */
/* arc4random for LLVM, which calls it to name temporary files. glibc has it from 2.36 on; it is the only function that
 * this library would need so new a glibc for. The name is hidden: it serves the LLVM inside of this library alone. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

uint32_t arc4random(void) __attribute__((visibility("hidden")));

uint32_t arc4random(void)
{
    uint32_t number = 0;
    size_t got = 0;
    while (got < sizeof number) {
        ssize_t more = getrandom((char *)&number + got, sizeof number - got, 0);
        if (more > 0)
            got += (size_t)more;
    }
    return number;
}
