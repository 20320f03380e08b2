/* SPDX-License-Identifier: Apache-2.0 */
/* What to tell a user whose program loads machine code for NVIDIA's chips, alone and not in a fat binary: those are the
 * runtime library's to tell of, which knows their file.
 *
 * Some programs make PTX for a driver that is as new as their toolkit, and machine code for an older one (Warp). These
 * can be helped: MILLRACE_DRIVER_VERSION. NVIDIA's assembler writes into what it makes which toolkit it belongs to. */
#include <elf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "api/module/image.h"
#include "api/state.h"
#include "base/call.h"
#include "base/log.h"
#include "base/mapped.h"

#define RELEASE_MOST 16u /* characters of a release */

/* How many bytes of an ELF file its header tells of, at most `size`, all of which can be read; 0 if it is none. */
static size_t elf_bytes(const void *image, size_t size)
{
    Elf64_Ehdr header;
    if (!image || size < sizeof header || !mr_mapped_allows((uintptr_t)image, sizeof header, false))
        return 0;
    memcpy(&header, image, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shoff > size)
        return 0;
    size_t bytes = (size_t)header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
    return bytes <= size && mr_mapped_allows((uintptr_t)image, bytes, false) ? bytes : 0;
}

/* The toolkit that made the machine code, as CUDA_VERSION tells versions; 0: not known. */
static int toolkit_of(const void *image, size_t bytes)
{
    static const char words[] = "Cuda compilation tools, release ";
    const char *found = memmem(image, bytes, words, sizeof words - 1);
    if (!found)
        return 0;
    found += sizeof words - 1;
    char release[RELEASE_MOST + 1] = "";
    size_t left = bytes - (size_t)(found - (const char *)image);
    memcpy(release, found, left < RELEASE_MOST ? left : RELEASE_MOST);
    unsigned major, minor;
    return sscanf(release, "%u.%u", &major, &minor) == 2 && major < 100 && minor < 10 ? (int)(major * 1000 + minor * 10)
                                                                                      : 0;
}

void mr_machine_code_tell(const void *image, size_t size)
{
    static _Atomic bool told;
    size_t bytes = elf_bytes(image, size);
    if (bytes == 0 || atomic_exchange(&told, true))
        return;
    int toolkit = toolkit_of(image, bytes), driver = mr_driver_version();
    if (toolkit <= driver || toolkit / 1000 != driver / 1000) {
        mr_call_log(
            MR_LOG_WARN,
            "the image is machine code for NVIDIA's chips, and Millrace runs PTX: have the program load PTX, which "
            "nvcc makes by -ptx or by -gencode arch=compute_80,code=compute_80");
        return;
    }
    mr_call_log(
        MR_LOG_WARN,
        "the image is machine code by CUDA %d.%d's tools, which can't run here; if the program makes it because "
        "the driver says that it is older (%d.%d), MILLRACE_DRIVER_VERSION=%d.%d has the driver say so, and "
        "the program make PTX",
        toolkit / 1000, toolkit % 1000 / 10, driver / 1000, driver % 1000 / 10, toolkit / 1000, toolkit % 1000 / 10);
}
