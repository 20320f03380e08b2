/* SPDX-License-Identifier: Apache-2.0 */
/* The ptxas shim: the assembler of libs/nvptxcompiler over files. */
#include <stdio.h>

#include "base/log.h"
#include "libs/nvptxcompiler/assembler.h"
#include "toolkit.h"

#define FAILED 255 /* NVIDIA's has no other status */

static const char version[] = "ptxas: Millrace " MR_VERSION ", in place of NVIDIA's assembler\n"
                              "Checks PTX and hands it on to the driver, which makes machine code for the CPU.\n"
                              "Cuda compilation tools, release 13.0, V13.0.0\n";

static const char usage[] =
    "Usage: ptxas [options] FILE\n"
    "\n"
    "Checks FILE, in PTX, as Millrace's driver will when it loads it, and writes it to where NVIDIA's assembler would write machine code.\n"
    "\n"
    "  -o, --output-file FILE   instead of elf.o\n"
    "  -arch, --gpu-name NAME   refuse PTX for newer GPUs than this one\n"
    "  -c, --compile-only       functions and variables may be missing, for a later link\n"
    "  -ias PTX                 --input-as-string: PTX itself, in place of FILE\n"
    "  -e, --entry NAMES        these kernels alone\n"
    "  -fmad, --fmad false      products and sums are never joined to one operation\n"
    "  -v, --verbose            tell what kernels use\n"
    "  --version, --help\n"
    "\n"
    "Options about registers, caches and debug sections have no effect. One that can't be honoured is an error.\n";

const char toolkit_program[] = "ptxas";

static bool assemble(const struct mr_assembler *assembler)
{
    struct mr_text text = {.data = NULL}, result = {.data = NULL}, errors = {.data = NULL}, uses = {.data = NULL};
    const char *output = assembler->output ? assembler->output : "elf.o";
    const char *name = assembler->ptx ? MR_ASSEMBLER_TEXT : assembler->input;
    bool good = true;
    if (assembler->ptx)
        mr_text_put(&text, assembler->ptx);
    else
        good = toolkit_read(name, &text);
    good = good && mr_assemble(assembler, name, mr_text_chars(&text), text.length, &result, &errors, &uses) ==
                       MR_ASSEMBLER_DONE;
    fprintf(stderr, "%s%s", mr_text_chars(&uses), mr_text_chars(&errors));
    /* With the NUL: the driver gets an address and no size. */
    good = good && toolkit_write(output, mr_text_chars(&result), result.length + 1);
    mr_text_clear(&text);
    mr_text_clear(&result);
    mr_text_clear(&errors);
    mr_text_clear(&uses);
    return good;
}

static bool read_options(int argc, char **argv, struct mr_assembler *assembler)
{
    bool good = mr_assembler_options(assembler, argc > 0 ? (size_t)argc - 1 : 0, (const char *const *)argv + 1);
    if (assembler->problem.length)
        fprintf(stderr, "ptxas (Millrace): error: %s\n", assembler->problem.data);
    if (!good || assembler->input || assembler->ptx || assembler->help || assembler->version)
        return good;
    return toolkit_complain("name the file with PTX, as in", "ptxas kernel.ptx -o kernel.cubin");
}

int main(int argc, char **argv)
{
    struct mr_assembler assembler;
    mr_log_setup();
    bool good = read_options(argc, argv, &assembler);
    if (good && (assembler.help || assembler.version))
        fputs(assembler.help ? usage : version, stdout);
    else if (good)
        good = assemble(&assembler);
    mr_assembler_clear(&assembler);
    return toolkit_end(good ? 0 : FAILED, FAILED);
}
