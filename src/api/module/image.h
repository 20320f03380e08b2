/* SPDX-License-Identifier: Apache-2.0 */
/* Loading an image for modules and libraries: the CU_JIT_* options, files, the log buffers. */
#ifndef MR_API_IMAGE_H
#define MR_API_IMAGE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

struct mr_device;
struct mr_program;
struct mr_program_image;

/* The options of one load as the program passed them. */
struct mr_image_options {
    unsigned count;
    CUjit_option *names;
    void **values;       /* sizes, wall time and thread count are written back here */
};

/* Loads the image at `image` (`size` bytes, or (size_t)-1 if unknown) for `device`, and writes back what the options
 * ask for, whether the load succeeds or not. One reference in *out. CUDA_ERROR_INVALID_VALUE for options that do not
 * exist or contradict each other, CUDA_ERROR_NOT_SUPPORTED for those that cannot be honoured, and the statuses of
 * mr_program_load. */
CUresult mr_image_load(const struct mr_device *device, const void *image, size_t size,
                       const struct mr_image_options *options, struct mr_program **out)
    __attribute__((warn_unused_result));

/* Whether the image would load; `partial`: what it declares may be defined by others. Options, logs and statuses as
 * mr_image_load. */
CUresult mr_image_check(const struct mr_device *device, const void *image, size_t size, bool partial,
                        const struct mr_image_options *options) __attribute__((warn_unused_result));

/* Several images as one PTX text in *text (free with mr_free). Options, logs and statuses as mr_image_load. *capability
 * (10 * major + minor): what the text needs, above the device's if an image was a container with PTX for newer devices
 * alone and mr_image_load would take it. */
CUresult mr_image_join(const struct mr_device *device, const struct mr_program_image *images, unsigned count,
                       const struct mr_image_options *options, char **text, unsigned *capability)
    __attribute__((warn_unused_result));

/* As mr_image_load, from a file. CUDA_ERROR_FILE_NOT_FOUND if it cannot be read. */
CUresult mr_image_load_file(const struct mr_device *device, const char *path, const struct mr_image_options *options,
                            struct mr_program **out) __attribute__((warn_unused_result));

/* Checks options without loading anything (nor touching buffers): the statuses that mr_image_load would give for them.
 */
CUresult mr_image_options_check(const struct mr_image_options *options) __attribute__((warn_unused_result));

/* The whole file in *data (free with mr_free) with a zero byte after its *size bytes. CUDA_ERROR_FILE_NOT_FOUND,
 * CUDA_ERROR_INVALID_VALUE for an empty name, CUDA_ERROR_OUT_OF_MEMORY. */
CUresult mr_image_read_file(const char *path, char **data, size_t *size) __attribute__((warn_unused_result));

/* machine_code.c: warns, once, of machine code without PTX, and says why if a program made it because its toolkit is
 * newer than the driver says it is. `size` is (size_t)-1 when unknown. Any thread. */
void mr_machine_code_tell(const void *image, size_t size);

#endif
