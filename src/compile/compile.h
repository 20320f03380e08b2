/* SPDX-License-Identifier: Apache-2.0 */
/* From PTX to machine code: what the rest of the driver sees of it.
 *
 * mr_program: a loaded image (parsed, verified, laid out). mr_code: one entry's machine code, specialised for a class
 * of block shapes; made on demand, kept in memory with the program and on disk in the cache. This header has no LLVM in
 * it. */
#ifndef MR_COMPILE_COMPILE_H
#define MR_COMPILE_COMPILE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "abi/abi.h"

struct mr_program;

/* How an image is loaded. Logs: `error_log`/`info_log` may be NULL; text is cut to the room, always NUL-terminated;
 * *_used gets bytes written (with NUL). */
struct mr_program_options {
    int capability; /* of the device, 10 * major + minor: chooses among a container's images, %-version checks */
    bool
        takes_newer; /* of a container that has PTX for newer devices alone, the oldest; `capability` becomes its own */
    unsigned optimisation; /* 0..4 as CU_JIT_OPTIMIZATION_LEVEL; */
    bool level_is_said; /* the program has asked for it: no first version of its kernels is made in a hurry */
    bool debug, line_info, verbose;
    /* What a thread's registers are counted for, 0: not said. CU_JIT_MAX_REGISTERS, _THREADS_PER_BLOCK,
     * _MAX_THREADS_PER_BLOCK, _MIN_CTA_PER_SM; override: they go before what the PTX says. */
    struct mr_program_limits {
        unsigned registers, block_threads, most_threads, blocks;
        bool override;
    } limits;
    bool partial; /* an input of a link: what it declares may be defined by others; it can't be launched */
    char *error_log;
    size_t error_room, error_used;
    char *info_log;
    size_t info_room, info_used;
};

/* Loads an image. `size` is (size_t)-1 when unknown (NUL-terminated PTX, or a container that states its size). One
 * reference in *out. Errors: CUDA_ERROR_INVALID_PTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_NO_BINARY_FOR_GPU,
 * CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_INVALID_SOURCE, CUDA_ERROR_OUT_OF_MEMORY. Everything that cannot be compiled is
 * refused here, not at the launch. */
CUresult mr_program_load(const void *image, size_t size, struct mr_program_options *options, struct mr_program **out)
    __attribute__((warn_unused_result));

/* Looks at PTX text as a load would, and makes nothing: the architecture that the text states, or 0 with the reasons in
 * `diag`. What each kernel uses goes to `uses` (may be NULL), in the words of ptxas -v. options->capability 0: a device
 * of that architecture. */
struct mr_ptx_diag;
unsigned mr_program_check(const char *text, size_t length, struct mr_program_options *options, struct mr_ptx_diag *diag,
                          FILE *uses) __attribute__((warn_unused_result));

/* Several images as one PTX text (ptx/join.h) in *text, which the caller frees with mr_free. Errors go to the logs of
 * `options`; it looks at the capability, which becomes that of a container that has PTX for newer devices alone if
 * those are taken, and at the limit of registers, which becomes a directive of the text. CUDA_ERROR_INVALID_PTX if they
 * can't be joined, the statuses of containers, CUDA_ERROR_OUT_OF_MEMORY. */
struct mr_program_image {
    const void *data;
    size_t size;
};
/* Calls `take` with `user` for each image that a host object, or an archive of them, has for a link of device code;
 * false ends that. The pointers are into the file's `size` bytes. CUDA_ERROR_INVALID_IMAGE if it is neither, or
 * damaged: images before the damage have been taken. */
CUresult mr_program_images_in(const void *file, size_t size, bool (*take)(void *user, const void *data, size_t size),
                              void *user) __attribute__((warn_unused_result));
CUresult mr_program_join(const struct mr_program_image *images, unsigned count, struct mr_program_options *options,
                         char **text) __attribute__((warn_unused_result));

/* A container with this PTX in it, *size bytes, which the caller frees with mr_free; NULL when memory is short. */
char *mr_program_pack(const char *text, size_t length, unsigned capability, size_t *size);
void mr_program_hold(struct mr_program *program);
void mr_program_drop(struct mr_program *program);

/* Symbols: module-scope variables (.global, .const) and device functions. Index order is fixed: block->symbols uses it.
 */
struct mr_symbol {
    const char *name;
    enum { MR_SYMBOL_VARIABLE, MR_SYMBOL_FUNCTION } what;
    size_t size, alignment; /* of a variable */
    const void *initial; /* `initial_size` bytes, the rest is zero; NULL: all is */
    size_t initial_size;
    bool visible, constant, managed;
    enum {
        MR_REFERENCE_NONE,
        MR_REFERENCE_TEXTURE,
        MR_REFERENCE_SAMPLER,
        MR_REFERENCE_SURFACE
    } reference; /* .texref and its like: an 8-byte handle */
    unsigned relocation_count; /* initial bytes that hold addresses */
    const struct mr_symbol_relocation {
        size_t offset;
        unsigned width, shift;
        unsigned symbol;
        int64_t addend;
    } *relocations; /* stores (address + addend) >> shift */
};
size_t mr_program_symbol_count(const struct mr_program *program);
const struct mr_symbol *mr_program_symbol(const struct mr_program *program, size_t index);

/* Entries (kernels). */
struct mr_entry {
    const char *name;
    size_t param_count;
    const struct mr_param {
        size_t offset, size;
    } *params;
    size_t param_bytes;
    size_t static_shared; /* bytes, upper bound of the static part; dynamic memory begins at dynamic_offset */
    size_t dynamic_offset;
    size_t constant_bytes; /* user-visible CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES */
    size_t local_bytes; /* per thread */
    unsigned registers; /* an estimate: CU_FUNC_ATTRIBUTE_NUM_REGS */
    unsigned max_threads; /* from .maxntid or options, else 1024 */
    unsigned launch_threads; /* what a launch may have: max_threads, or 0 if a thread's local memory is more than there
                                can be */
    unsigned required[3]; /* .reqntid, zeros if none */
    unsigned ptx_version; /* e.g. 75 */
    unsigned binary_version; /* capability */
    bool prints; /* it may call printf */
};
size_t mr_program_entry_count(const struct mr_program *program);
const struct mr_entry *mr_program_entry(const struct mr_program *program, size_t index);

/* The index of an entry or of a variable by name, or (size_t)-1. Variables without .visible are found too (hardware
 * finds them), after those with it. */
size_t mr_program_find_entry(const struct mr_program *program, const char *name);
size_t mr_program_find_variable(const struct mr_program *program, const char *name);

/* The index of the entry whose address, as kernels have it, is that number; or (size_t)-1. */
size_t mr_program_entry_of(const struct mr_program *program, uint64_t address);

/* Set once, before any program is loaded, where code shall make notes of what it touches (abi/note.h): gives a place in
 * a kernel the number that observers know it by. `file` may be NULL. NULL: code makes no notes. */
extern uint32_t (*mr_program_place)(const char *kernel, const char *file, uint32_t line, uint32_t ptx_line);

/* The program has asked for this kernel: its code may be made ahead of a launch, in another thread (ahead.c). Any
 * thread that holds the program; takes nanoseconds if it has been asked for before. */
void mr_program_expect(struct mr_program *program, size_t entry);

/* Machine code for a launch with this block shape; what to run is mr_code_now of it (abi/tier.h). The first call for a
 * class of shapes compiles (or loads from the cache); later ones take a few nanoseconds and no lock.
 * CUDA_ERROR_OUT_OF_MEMORY, or CUDA_ERROR_JIT_COMPILER_NOT_FOUND... if code generation itself fails (logged). struct
 * mr_code is in abi/abi.h. It lives as long as the program. */
CUresult mr_program_code(struct mr_program *program, size_t entry, const unsigned block[3], const struct mr_code **out)
    __attribute__((warn_unused_result));

#endif
