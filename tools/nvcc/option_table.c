/* SPDX-License-Identifier: Apache-2.0 */
/* Every option of nvcc 13.0 stands here, and what becomes of it: honoured, taken without effect because what it steers
 * is not there, or refused with the reason. An option with a value takes it as the next word, after '=', or (one-letter
 * options) attached; one without takes "=true" and "=false" too. */
#include <stddef.h>
#include <string.h>

#include "option_table.h"
#include "shim.h"

#include "ptx/arch.h"

static const struct option options[] = {
    {"--version", "-V", SET_PHASE, PHASE_VERSION, NULL, NULL},
    {"--help", "-h", SET_PHASE, PHASE_HELP, NULL, NULL},
    {"--preprocess", "-E", SET_PHASE, PHASE_PREPROCESS, NULL, NULL},
    {"--ptx", "-ptx", SET_PHASE, PHASE_PTX, NULL, NULL},
    {"--cubin", "-cubin", SET_PHASE, PHASE_CUBIN, NULL, NULL},
    {"--fatbin", "-fatbin", SET_PHASE, PHASE_FATBIN, NULL, NULL},
    {"--ltoir", "-ltoir", SET_PHASE, PHASE_LINK_TIME, NULL, NULL},
    {"--compile", "-c", SET_PHASE, PHASE_OBJECT, NULL, NULL},
    {"--link", "-link", SET_PHASE, PHASE_LINK, NULL, NULL},
    {"--lib", "-lib", SET_PHASE, PHASE_ARCHIVE, NULL, NULL},
    {"--device-link", "-dlink", SET_PHASE, PHASE_DEVICE_LINK, NULL, NULL},
    {"--device-c", "-dc", DEVICE_C, 0, NULL, NULL},
    {"--device-w", "-dw", DEVICE_W, 0, NULL, NULL},
    {"--generate-dependencies", "-M", SET_PHASE, PHASE_DEPENDENCIES, "system", NULL},
    {"--generate-nonsystem-dependencies", "-MM", SET_PHASE, PHASE_DEPENDENCIES, NULL, NULL},
    {"--generate-dependencies-with-compile", "-MD", SET_DEPENDENCIES, 1, NULL, NULL},
    {"--generate-nonsystem-dependencies-with-compile", "-MMD", SET_DEPENDENCIES, 0, NULL, NULL},
    {"--dependency-output", "-MF", SET_DEPENDENCY_FILE, 0, NULL, NULL},
    {"--dependency-target-name", "-MT", SET_DEPENDENCY_TARGET, 0, NULL, NULL},
    {"--generate-dependency-targets", "-MP", SET_PHONY, 0, NULL, NULL},
    {"--output-file", "-o", SET_OUTPUT, 0, NULL, NULL},
    {"--output-directory", "-odir", SET_OUTPUT_FOLDER, 0, NULL, NULL},
    {"--gpu-architecture", "-arch", SET_ARCH, 0, NULL, NULL},
    {"--gpu-code", "-code", SET_CODE, 0, NULL, NULL},
    {"--generate-code", "-gencode", GENCODE, 0, NULL, NULL},
    {"--every-architecture", "-every-architecture", EVERY_TARGET, 0, NULL, NULL}, /* Millrace's own */
    {"--relocatable-device-code", "-rdc", SET_RDC, 0, NULL, NULL},
    {"--x", "-x", SET_LANGUAGE, 0, NULL, NULL},
    {"--compiler-bindir", "-ccbin", SET_CCBIN, 0, NULL, NULL},
    {"--keep", "-keep", SET_KEEP, 0, NULL, NULL},
    {"--save-temps", "-save-temps", SET_KEEP, 0, NULL, NULL},
    {"--keep-dir", "-keep-dir", SET_KEEP_FOLDER, 0, NULL, NULL},
    {"--cudart", "-cudart", SET_RUNTIME, 0, NULL, NULL},
    {"--shared", "-shared", SET_SHARED, 0, NULL, NULL},
    {"--check", "-check", SET_CHECK, 0, NULL, NULL}, /* Millrace's own */
    {"--default-stream", "-default-stream", SET_STREAM, 0, NULL, NULL},
    {"--machine", "-m", SET_MACHINE, 0, NULL, NULL},
    {"--m64", "-m64", NOTHING, 0, NULL, NULL},
    {"--include-path", "-I", BOTH_LIST, 0, "-I", NULL},
    {"--system-include", "-isystem", BOTH_LIST, 0, "-isystem", NULL},
    {"--define-macro", "-D", BOTH_LIST, 0, "-D", NULL},
    {"--undefine-macro", "-U", BOTH_LIST, 0, "-U", NULL},
    {"--pre-include", "-include", BOTH_LIST, 0, "-include", NULL},
    {"--std", "-std", BOTH_VALUE, 0, "-std=", NULL},
    {"--optimize", "-O", LEVEL, 0, NULL, NULL},
    {"--disable-warnings", "-w", BOTH, 0, "-w", NULL},
    {"--Werror", "-Werror", ERRORS, 0, NULL, NULL},
    {"--Wreorder", "-Wreorder", BOTH, 0, "-Wreorder", NULL},
    {"--Wno-deprecated-declarations", "-Wno-deprecated-declarations", BOTH, 0, "-Wno-deprecated-declarations", NULL},
    {"--Wno-deprecated-gpu-targets", "-Wno-deprecated-gpu-targets", NOTHING, 0, NULL, NULL},
    {"--generate-line-info", "-lineinfo", DEVICE, 0, MR_PTX_LINES_WORD, NULL},
    {"--device-debug", "-G", DEBUG_DEVICE, 0, NULL, NULL},
    {"--debug", "-g", HOST_TEXT, 0, "-g", NULL},
    {"--fmad", "-fmad", DEVICE_BOOLEAN, 0, "-ffp-contract=fast", "-ffp-contract=off"},
    {"--ftz", "-ftz", DEVICE_BOOLEAN, 0, "-fgpu-flush-denormals-to-zero", "-fno-gpu-flush-denormals-to-zero"},
    {"--prec-div", "-prec-div", NOTHING_BOOLEAN, 0, NULL, NULL},     /* divisions and roots are always exact */
    {"--prec-sqrt", "-prec-sqrt", NOTHING_BOOLEAN, 0, NULL, NULL},
    {"--use_fast_math", "-use_fast_math", DEVICE, 0, MR_PTX_FAST_MATH_WORD, NULL},
    {"--restrict", "-restrict", NOTHING, 0, NULL, NULL},
    {"--expt-relaxed-constexpr", "-expt-relaxed-constexpr", BOTH, 0, "-D__CUDACC_RELAXED_CONSTEXPR__=1",
     NULL}, /* what these three allow is allowed always */
    {"--expt-extended-lambda", "-expt-extended-lambda", BOTH, 0, "-D__CUDACC_EXTENDED_LAMBDA__=1", NULL},
    {"--extended-lambda", "-extended-lambda", BOTH, 0, "-D__CUDACC_EXTENDED_LAMBDA__=1", NULL},
    {"--maxrregcount", "-maxrregcount", NOTHING_NUMBER, 0, NULL, NULL},
    {"--threads", "-t", NOTHING_NUMBER, 0, NULL, NULL},
    {"--split-compile", "-split-compile", NOTHING_NUMBER, 0, NULL, NULL},
    {"--entries", "-e", ENTRIES, 0, NULL, NULL},
    {"--resource-usage", "-res-usage", TELL_USES, 0, NULL, NULL},
    {"--source-in-ptx", "-src-in-ptx", NOTHING, 0, NULL, NULL},
    {"--extra-device-vectorization", "-extra-device-vectorization", NOTHING, 0, NULL, NULL},
    {"--allow-unsupported-compiler", "-allow-unsupported-compiler", NOTHING, 0, NULL, NULL},
    {"--cudadevrt", "-cudadevrt", NOTHING_VALUE, 0, NULL, NULL},
    {"--diag-suppress", "-diag-suppress", DIAGNOSTICS, 0, "-Wno-", NULL},
    {"--diag-warn", "-diag-warn", DIAGNOSTICS, 0, "-W", NULL},
    {"--diag-error", "-diag-error", DIAGNOSTICS, 0, "-Werror=", NULL},
    {"--display-error-number", "-err-no", NOTHING, 0, NULL, NULL},
    {"--no-display-error-number", "-no-err-no", NOTHING, 0, NULL, NULL},
    {"--compiler-options", "-Xcompiler", HOST, 0, NULL, NULL},
    {"--linker-options", "-Xlinker", LINKER, 0, NULL, NULL},
    {"--ptxas-options", "-Xptxas", ASSEMBLER, 0, NULL, NULL},
    {"--cudafe", "-Xcudafe", FRONT, 0, NULL, NULL},
    {"--fatbin-options", "-Xfatbin", PACKER, 0, NULL, NULL},
    {"--forward-unknown-to-host-compiler", "-forward-unknown-to-host-compiler", SET_FORWARD, 0, NULL, NULL},
    {"--library-path", "-L", LINK_LIST, 0, "-L", NULL},
    {"--library", "-l", LINK_LIST, 0, "-l", NULL},
    {"--verbose", "-v", VERBOSE, 0, NULL, NULL},
    {"--dryrun", "-dryrun", DRY_RUN, 0, NULL, NULL},
    {"--run", "-run", RUN, 0, NULL, NULL},
    {"--run-args", "-run-args", RUN_ARGUMENTS, 0, NULL, NULL},
    {"--options-file", "-optf", OPTIONS_FILE, 0, NULL, NULL},
    {"--list-gpu-arch", "-arch-ls", SET_PHASE, PHASE_ARCHITECTURES, NULL, NULL},
    {"--list-gpu-code", "-code-ls", SET_PHASE, PHASE_ARCHITECTURES, "code", NULL},
    {"--archiver-binary", "-arbin", SET_ARCHIVER, 0, NULL, NULL},
    {"--no-device-link", "-nodlink", NO_DEVICE_LINK, 0, NULL, NULL},
    {"--dopt", "-dopt", OPTIMISED_DEBUG, 0, NULL, NULL},
    {"--profile", "-pg", PROFILE, 0, NULL, NULL},
    {"--no-exceptions", "-noeh", HOST_TEXT, 0, "-fno-exceptions", NULL},
    {"--ftemplate-depth", "-ftemplate-depth", BOTH_VALUE, 0, "-ftemplate-depth=", NULL},
    {"--ftemplate-backtrace-limit", "-ftemplate-backtrace-limit", BOTH_VALUE, 0, "-ftemplate-backtrace-limit=", NULL},
    {"--brief-diagnostics", "-brief-diag", BOTH_BOOLEAN, 0, "-fno-caret-diagnostics", "-fcaret-diagnostics"},
    {"--forward-unknown-to-host-linker", "-forward-unknown-to-host-linker", FORWARD_TO_LINKER, 0, NULL, NULL},
    {"--forward-unknown-opts", "-forward-unknown-opts", FORWARD_ALL, 0, NULL, NULL},
    {"--nvlink-options", "-Xnvlink", DEVICE_LINKER, 0, NULL, NULL},

    /* What they steer is not there. PTX is joined when a program is linked and compiled as a whole, so code is always
       optimised across files. -dlto makes code for linkers relocatable. */
    {"--dlink-time-opt", "-dlto", SET_LINK_TIME, 0, NULL, NULL},
    {"--lto", "-lto", SET_LINK_TIME, 0, NULL, NULL},
    {"--gen-opt-lto", "-gen-opt-lto", NOTHING, 0, NULL, NULL},
    {"--extensible-whole-program", "-ewp", NOTHING, 0, NULL, NULL}, /* what NVIDIA's then links is in the headers */
    {"--split-compile-extended", "-split-compile-extended", NOTHING_NUMBER, 0, NULL, NULL},
    {"--jump-table-density", "-jtd", NOTHING_NUMBER, 0, NULL, NULL},
    {"--Ofast-compile", "-Ofc", NOTHING_WORD, 0, "0 min mid max", NULL},
    {"--optimization-info", "-opt-info", NOTHING_WORD, 0, "inline", NULL},
    {"--compress-mode", "-compress-mode", NOTHING_WORD, 0, "default size speed balance none", NULL},
    {"--no-compress", "-no-compress", NOTHING, 0, NULL, NULL},
    {"--relocatable-ptx", "-reloc-ptx", NOTHING, 0, NULL, NULL}, /* PTX is what there is */
    {"--frandom-seed", "-frandom-seed", NOTHING_VALUE, 0, NULL, NULL}, /* names depend on the source's path alone */
    {"--static-global-template-stub", "-static-global-template-stub", NOTHING_BOOLEAN, 0, NULL, NULL},
    {"--device-entity-has-hidden-visibility", "-device-entity-has-hidden-visibility", NOTHING_BOOLEAN, 0, NULL, NULL},
    {"--device-stack-protector", "-device-stack-protector", NOTHING_BOOLEAN, 0, NULL, NULL},
    {"--no-host-device-initializer-list", "-nohdinitlist", NOTHING, 0, NULL, NULL},
    {"--no-host-device-move-forward", "-nohdmoveforward", NOTHING, 0, NULL, NULL},
    {"--Wdefault-stream-launch", "-Wdefault-stream-launch", NOTHING, 0, NULL, NULL}, /* warnings that are not issued */
    {"--Wmissing-launch-bounds", "-Wmissing-launch-bounds", NOTHING, 0, NULL, NULL},
    {"--Wext-lambda-captures-this", "-Wext-lambda-captures-this", NOTHING, 0, NULL, NULL},
    {"--libdevice-directory", "-ldir", NOTHING_VALUE, 0, NULL, NULL},
    {"--target-directory", "-target-dir", NOTHING_VALUE, 0, NULL, NULL},
    {"--dont-use-profile", "-noprof", NOTHING, 0, NULL, NULL},
    {"--objdir-as-tempdir", "-objtemp", NOTHING, 0, NULL, NULL},
    {"--jobserver", "-jobserver", NOTHING, 0, NULL, NULL},
    {"--no-align-double", "--no-align-double", NOTHING, 0, NULL, NULL},
    {"--use-local-env", "-use-local-env", NOTHING, 0, NULL, NULL}, /* these five are for Windows */
    {"--force-cl-env-setup", "-force-cl-env-setup", NOTHING, 0, NULL, NULL},
    {"--input-drive-prefix", "-idp", NOTHING_VALUE, 0, NULL, NULL},
    {"--dependency-drive-prefix", "-ddp", NOTHING_VALUE, 0, NULL, NULL},
    {"--drive-prefix", "-dp", NOTHING_VALUE, 0, NULL, NULL},

    {"--cuda", "-cuda", REFUSE, 0, "no source for a host compiler is made; -c makes objects", NULL},
    {"--optix-ir", "-optix-ir", REFUSE, 0, "no code for OptiX is made; --ptx makes PTX", NULL},
    {"--fdevice-syntax-only", "-fdevice-syntax-only", REFUSE, 0, "device code is always made; --ptx makes it alone",
     NULL},
    {"--fdevice-time-trace", "-fdevice-time-trace", REFUSE_VALUE, 0, "times are not taken", NULL},
    {"--time", "-time", REFUSE_VALUE, 0, "times are not taken", NULL},
    {"--clean-targets", "-clean", REFUSE, 0, "no files are removed", NULL},
    {"--archive-options", "-Xarchive", REFUSE_VALUE, 0,
     "archives are made by 'ar rcs'; make another by ar, of the objects that -c makes", NULL},
    {"--keep-device-functions", "-keep-device-functions", REFUSE, 0,
     "functions that no kernel calls are kept with -rdc=true alone", NULL},
    {"--compile-as-tools-patch", "-astoolspatch", REFUSE, 0, "there is nothing to patch: no machine code for a GPU",
     NULL},
    {"--relocatable-link", "-r", REFUSE, 0, "there is no incremental link; -dlink makes an object, --lib an archive",
     NULL},
    {"--host-linker-script", "-hls", REFUSE_VALUE, 0, "no script for the linker is made; objects have no need of one",
     NULL},
    {"--augment-host-linker-script", "-aug-hls", REFUSE, 0,
     "no script for the linker is made; objects have no need of one", NULL},
    {"--qpp-config", "-qpp-config", REFUSE_VALUE, 0, "there is no q++", NULL},
    {"--sanitize", "-sanitize", REFUSE_VALUE, 0,
     "code is not instrumented; MILLRACE_GUARD=1 finds accesses beyond allocations", NULL},
};

bool option_takes_value(enum action action)
{
    switch (action) {
    case SET_OUTPUT:
    case SET_OUTPUT_FOLDER:
    case SET_ARCH:
    case SET_CODE:
    case GENCODE:
    case SET_LANGUAGE:
    case SET_CCBIN:
    case SET_KEEP_FOLDER:
    case SET_RUNTIME:
    case SET_RDC:
    case SET_STREAM:
    case SET_MACHINE:
    case SET_DEPENDENCY_FILE:
    case SET_DEPENDENCY_TARGET:
    case BOTH_VALUE:
    case BOTH_LIST:
    case RUN_ARGUMENTS:
    case BOTH_BOOLEAN:
    case DEVICE_BOOLEAN:
    case LEVEL:
    case ERRORS:
    case HOST:
    case LINKER:
    case ASSEMBLER:
    case FRONT:
    case PACKER:
    case DEVICE_LINKER:
    case DIAGNOSTICS:
    case LINK_LIST:
    case NOTHING_VALUE:
    case NOTHING_NUMBER:
    case NOTHING_BOOLEAN:
    case NOTHING_WORD:
    case OPTIONS_FILE:
    case ENTRIES:
    case OPTIMISED_DEBUG:
    case SET_ARCHIVER:
    case REFUSE_VALUE:
        return true;
    default:
        return false;
    }
}

/* If `word` is `name`, `name=value` or (one letter) `nameVALUE`: true, with the value in *value or NULL. */
static bool spells(const char *word, const char *name, bool attached, const char **value)
{
    size_t length = strlen(name);
    *value = NULL;
    if (strncmp(word, name, length) != 0)
        return false;
    if (word[length] == '=')
        *value = word + length + 1;
    else if (word[length] != '\0' && length == 2 && attached)
        *value = word + length;
    else if (word[length] != '\0')
        return false;
    return true;
}

const struct option *option_find(const char *word, const char **value)
{
    for (size_t pass = 0; pass < 2; pass++) /* a whole name before one letter with a value attached */
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            bool attached = pass == 1 && option_takes_value(options[i].action) && options[i].action != ENTRIES;
            if (spells(word, options[i].name, attached, value) || spells(word, options[i].other_name, attached, value))
                return &options[i];
        }
    return NULL;
}
