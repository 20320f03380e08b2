/* SPDX-License-Identifier: Apache-2.0 */
/* The nvcc shim, which is also `millrace cc`: nvcc's command line, done by clang 19 with Millrace's headers and
 * libraries.
 *
 *   command_line.c  the words of the command line -> a request
 *   options.c   what each option does to the request; option_table.c has the spellings
 *   targets.c   architectures
 *   guard.c     which options of others (host compiler, linker) may pass on
 *   steps.c     running commands, temporary files, names of outputs, the folders of headers and libraries
 *   device.c    the device half of a source: PTX for each architecture, packed into a fat binary
 *   host.c      the host half, sources without device code, the link
 *   bodies.c    a host half that clang refuses: once more, without what runs on the device
 *   again.c     a device half that clang refuses: once more, in a spelling that it takes
 *   managed.c   managed variables, which take one more step in both halves
 *   spelling.c  spellings that clang does not take, in sources and headers
 *   cccl.c      where NVIDIA's C++ headers are
 *   foreign.c   another toolkit's headers
 *   devlink.c   linking relocatable device code
 *   run.c       starting the program
 *   nvidia.c    NVIDIA's own nvcc in clang's place (MILLRACE_CC=nvcc)
 *   main.c      the phases
 *
 * Nothing passes through a shell; what is not understood is named in an error, never dropped. */
#ifndef NVCC_SHIM_H
#define NVCC_SHIM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum phase {
    PHASE_LINK,
    PHASE_VERSION,
    PHASE_HELP,
    PHASE_ARCHITECTURES,
    PHASE_PREPROCESS,
    PHASE_DEPENDENCIES,
    PHASE_PTX,
    PHASE_CUBIN,
    PHASE_FATBIN,
    PHASE_LINK_TIME, /* -ltoir: a fat binary with relocatable code, for nvJitLink */
    PHASE_OBJECT,
    PHASE_DEVICE_LINK,
    PHASE_ARCHIVE,
};

/* Does the phase make device code alone? */
static inline bool phase_is_device(enum phase phase)
{
    return phase == PHASE_PTX || phase == PHASE_CUBIN || phase == PHASE_FATBIN || phase == PHASE_LINK_TIME;
}

enum kind { KIND_CUDA, KIND_C, KIND_CXX, KIND_PTX, KIND_LINK /* objects and libraries */ };

struct input {
    const char *path;
    enum kind kind;
};

/* What the linker gets, in the order of the command line. */
struct link_item {
    const char *word;    /* an option; NULL: an input */
    size_t input;
};

#define TARGETS_MAX 24

struct request {
    enum phase phase;
    bool device_links; /* --device-link was among the phases: */
    enum phase linked; /* then a device link makes an object, or with PHASE_CUBIN or PHASE_FATBIN that */
    struct input *inputs;
    size_t input_count, input_room;
    struct link_item *items;
    size_t item_count, item_room;
    const char *output;               /* -o, or NULL */
    const char *output_folder;        /* -odir, for outputs without -o; or NULL */
    const char *language;             /* -x, or NULL */
    const char *host_compiler;        /* -ccbin, or NULL */
    const char *archiver;             /* -arbin, or NULL */
    const char *keep_folder;          /* --keep: intermediate files stay here; NULL: they are removed */
    const char *runtime;              /* "static", "shared" or "none" */
    unsigned targets[TARGETS_MAX];    /* 80 for sm_80 */
    char suffixes[TARGETS_MAX];       /* 'a' for sm_90a, else 0 */
    size_t target_count;
    bool arch_given, no_targets;      /* -arch; neither that nor -code nor -gencode */
    struct mr_words left_out;         /* architectures that no code is made for, as they were written */
    struct mr_words entries;          /* -e: the kernels of a cubin; none: all */
    bool assembles;                   /* a real architecture is named, for which NVIDIA's nvcc runs its assembler */
    bool every_target;                /* --every-architecture: those are errors, also beside others */
    bool plain_preprocess;            /* no line markers: --compiler-options -P */
    bool system_dependencies;         /* -M, -MD rather than -MM, -MMD */
    bool write_dependencies;          /* -MD, -MMD: beside the compilation */
    const char *dependency_file, *dependency_target;
    bool dependency_phony;
    bool relocatable;                 /* -rdc=true, -dc */
    bool link_time;                   /* -dlto */
    bool no_device_link;              /* -nodlink */
    bool debug_device, optimised_debug; /* -G, -dopt on */
    bool list_code, list_architectures; /* --list-gpu-code, --list-gpu-arch */
    bool shared;
    bool check; /* the host's code tells what it loads and stores (observe/host.h) */
    bool serial_openmp; /* -fopenmp where clang has no libomp: its directives have no effect in what clang compiles */
    bool forward_unknown; /* -forward-unknown-to-host-compiler */
    bool forward_to_linker; /* -forward-unknown-to-host-linker */
    bool in_options_file; /* while one is read */
    struct options_file {
        struct mr_words words;
        struct options_file *next;
    } *options_files; /* the fields above point into them */
    bool verbose, dry_run;
    bool run; /* --run: the program is started */
    struct mr_words run_arguments; /* with these */
    bool tell_uses; /* what each kernel uses: -Xptxas -v, --resource-usage */
    struct mr_words questions; /* to the host compiler (-dumpversion): it answers, and compiles nothing */
    struct mr_words both, device, host; /* for clang: both halves, the device's alone, the host's alone */
    struct mr_words gpu; /* both halves of CUDA C++, but no other source */
    struct mr_words linking; /* options of the link that come before its inputs */
    struct mr_words linker;  /* -Xlinker: those between the inputs that are files and the libraries, as with nvcc */
    /* Options as they came, except for phase, output, architectures and those of the link: for nvidia.c. */
    struct mr_words given;
};

/* command_line.c: reads the command line. False after a message on standard error. */
bool request_parse(struct request *request, int argc, char **argv);
/* What each input is, by its name or -x. False after a message. */
bool request_find_kinds(struct request *request);

/* targets.c: the values of -arch, -code and -gencode. False after a message. */
bool targets_arch(struct request *request, const char *value);
bool targets_codes(struct request *request, const char *list);
bool targets_gencode(struct request *request, const char *value);
/* Once the command line is read: the default if none was named, one warning of those left out, false after a message if
 * none remains. */
bool targets_end(struct request *request);
/* Adds -D__CUDA_ARCH_LIST__: the targets, smallest first, for the host's code and the device's. Names that CCCL makes
 * of it have to be the same in both. */
void targets_macro(const struct request *request, struct mr_words *words);
/* The suffix of a target that the request has: 'a', 'f' or 0. */
char targets_suffix(const struct request *request, unsigned target);
/* --list-gpu-code, --list-gpu-arch: on standard output. */
void targets_list(const struct request *request);

/* Says what is wrong, on standard error; false. `word` may be NULL. */
bool complain(const char *what, const char *word);
/* The same, as an exit status. */
int failed(const char *what, const char *word);

/* guard.c: adds an option for the host compiler or the linker, or names it in an error. What loads code into the
 * compiler (plugins), reads more options from a file, or names another program to run is refused. */
bool guard_host(struct request *request, const char *option);
/* The word that links clang's libomp, NULL where clang has none. Only clang-19 is looked for; another compiler that is
 * named is taken to have what it needs. */
const char *guard_libomp(void);
/* An option of the linker's: added to `words`, which are the request's `linking` or `linker`. */
bool guard_linker(struct mr_words *words, const char *option);
/* An option of the host compiler's for the link alone: added, or false without a message. */
bool guard_host_link(struct request *request, const char *option);
/* Whether it is one of those. */
bool guard_is_for_link(const char *option);
/* Whether the words hold a character that a shell would read as more than text; the first that does. NULL if none. */
const char *guard_shell(const struct mr_words *words);

/* steps.c */
struct places {
    char device[PATH_MAX]; /* the folder of millrace_device.h */
    char include[PATH_MAX]; /* of cuda.h */
    char libraries[PATH_MAX];
    char runtime[PATH_MAX]; /* of the runtime library alone (lib/runtime/meson.build) */
    char root[PATH_MAX]; /* the toolkit's: CMake looks for lib64/ in the folders of a link */
};
bool places_find(struct places *places);
/* The program that changes the host half of sources with managed variables. False after a message. */
bool managed_program(char path[PATH_MAX]);
/* The lines that nvcc begins with when it shows its commands: build systems read where headers and libraries are. */
void places_show(const struct places *places);

/* Ends the process, with a message, if memory was short for the words; once a list is whole. */
void words_check(const struct mr_words *words);
void words_add_all(struct mr_words *to, const struct mr_words *from);

/* Runs a command in the folder `in` (NULL: the current one); its exit status, 1 after a message if it can't be started.
 * A dry run prints it. */
int step_run(const struct request *request, const struct mr_words *command, const char *in);

/* Where the messages of commands that are run from now on go: to the end of a file; NULL: to standard error. */
void step_messages(const char *path);

/* The name of an intermediate file: in the temporary folder, or with --keep in that one. The caller frees it. NULL
 * after a message. */
char *step_file(const struct request *request, const char *base, const char *ending);
/* The folder of such files. */
const char *step_folder(const struct request *request);
/* Removes them. Without an effect the second time. */
void step_clean(void);

/* From here on a signal that ends this process (Ctrl-C, kill) ends the command that runs, then removes the temporary
 * files, then ends the process as it would have. */
void step_watch_signals(void);

/* The same as a path: in the folder of -odir, or as it is. */
char *output_path(const struct request *request, const char *source, const char *ending);

/* The source's name without folders and ending, plus `ending`: nvcc's name for an output. The caller frees it. */
char *output_name(const char *source, const char *ending);

bool file_write(const struct request *request, const char *path, const void *data, size_t size);
/* Fills an empty text with the file. False after a message. */
bool file_read(const char *path, struct mr_text *text);

/* device.c */
/* The clang of both halves of CUDA C++. */
const char *host_clang(void);
/* The words that begin each of clang's compilations of the CUDA C++ in `source`. */
void clang_words(const struct request *request, const struct places *places, const char *source,
                 struct mr_words *words);
/* nvcc warns of what is not used, clang only when it is asked to. Of a source's compilations one is: that of its host
 * half, or the first if there is device code alone. */
void add_unused_warnings(struct mr_words *words);
int device_ptx(const struct request *request, const struct places *places, const char *source, unsigned target,
               const char *output);
/* The PTX of the first architecture, checked. */
int device_cubin(const struct request *request, const struct places *places, const struct input *input,
                 const char *output);
/* The fat binary of a source, or of a PTX file. */
int device_pack(const struct request *request, const struct places *places, const struct input *input,
                const char *output);
int device_preprocess(const struct request *request, const struct places *places, const struct input *input);

/* With --check, the words by which the host's loads and stores become calls: a check for kernels without anything of it
 * but the calls. */
void host_check_words(const struct request *request, bool clang, struct mr_words *words);

/* host.c */
int host_object(const struct request *request, const struct places *places, const struct input *input,
                const char *output);
int host_dependencies(const struct request *request, const struct places *places, const struct input *input);
/* Writes the file that -MD or -MMD asks for, of a source of which device code alone is made. */
int host_dependencies_beside(const struct request *request, const struct places *places, const struct input *input);
/* Links, or archives, what the items name; objects[i] stands for input i. */
int host_link(const struct request *request, const struct places *places, char *const *objects,
              const char *device_object);
int host_archive(const struct request *request, char *const *objects);
const char *host_program(const struct request *request);
/* Has the host compiler answer the questions on standard output; its exit status. */
int host_answers(const struct request *request);

/* managed.c */
/* After a source, as the text in `compiled`, became PTX in `output` by the words `device`; `depends` lists what it
 * includes: marks its managed variables. */
int managed_mark(const struct request *request, const struct places *places, const struct mr_words *device,
                 const char *source, const char *compiled, const char *depends, const char *output);
/* Whether managed_mark found the word `__managed__` in the source or what it includes. */
bool managed_known(const char *source);
/* The host half of such a source: clang's words up to `-c`, except for output and source. */
int managed_object(const struct request *request, const struct mr_words *to_ir, const char *source, const char *output);

/* cccl.c: NVIDIA's C++ headers (Thrust, CUB, cuda::std), which are no part of Millrace. */
/* Adds the folder that has them, for sources that give none, unless it is one that compilers search in any case. */
void cccl_words(const struct request *request, struct mr_words *words);
/* After a compilation by these words failed: if the source names headers of CCCL that nobody has, says which package
 * has them. */
void cccl_explain(const struct request *request, const struct mr_words *common, const char *source);

/* foreign.c: moves folders of another toolkit's headers, on the command line and in the environment, behind all others.
 */
void foreign_headers(struct request *request, const struct places *places);

/* spelling.c: adds what makes clang read the source and its headers in a spelling that it takes, if that is another. */
void spelling_words(const struct request *request, const char *source, struct mr_words *words);

/* again.c: after clang refused the device half in `source` by the words `common` and said `said`: writes it to `text`,
 * preprocessed and in a spelling that clang takes, and fills `words` for that text and `depends` with what it includes.
 * `places` keeps what earlier calls for the source learnt, and begins empty. False if nothing is to be changed, or no
 * more than the last time. */
bool again_text(const struct request *request, const struct mr_words *common, const char *source, const char *said,
                struct mr_words *places, const char *depends, const char *text, struct mr_words *words);

/* again.c: changes in the preprocessed `text`, which clang reads by the words `common`, what its ranges tell of
 * (ptx/ranges.h); how many changes. */
size_t again_ranges(const struct request *request, const struct mr_words *common, const char *text);

/* again.c: whether a source has said by #error what it does not take, which may be clang; then adds the words by which
 * clang doesn't name itself. */
bool again_without_name(const char *said, struct mr_words *words);

/* devlink.c: links the relocatable device code in the objects into an object that registers it. *made: whether there
 * was any. With `always` an object that registers nothing is made where there was none. */
int device_link(const struct request *request, char *const *objects, const char *output, bool always, bool *made);

/* run.c */
/* Whether --run names a program alone, which is neither compiled nor linked, and its path. */
bool run_alone(const struct request *request, char path[PATH_MAX]);
/* Starts a program; its exit status. */
int run_program(const struct request *request, const struct places *places, const char *path);

/* nvidia.c: whether MILLRACE_CC names NVIDIA's compiler; and one source compiled by it: `what` is its word for the
 * phase. */
bool nvidia_chosen(void);
int nvidia_compile(const struct request *request, const char *what, const unsigned *targets, size_t count,
                   const char *source, const char *output);

#endif
