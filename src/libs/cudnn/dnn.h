/* SPDX-License-Identifier: Apache-2.0 */
/* libcudnn: handles, and how its functions fail. Read this first; the words below are used in all of the room.
 *
 * A program reaches cuDNN in two ways, and both end in the same arithmetic:
 *
 *   by functions   a call for each operation, with a descriptor for each tensor (descriptors.h, *_api.c)
 *   by graphs      backend descriptors (backend.h) describe operations and the tensors between them; from such a graph
 *                  an *execution plan* is made (graph.h), which is run as often as the program likes
 *
 *   tensor         a type, dimensions, and a stride for each (tensor.h); where its elements lie is not part of it
 *   record         a copy of all that an operation needs, made during the call. It is submitted to the handle's stream
 *                  (libs/math/work.h), so a descriptor may be changed or destroyed as soon as the function is back
 *   part           a share of a record's work; the driver runs the parts of a record on several threads
 *   stage          one record of a call that submits several: a stage begins when the one before it has ended
 *   virtual        of a tensor between two operations of a graph: the program never sees it, a block holds it (block.h)
 *   variant pack   what the program hands over with each run of a plan: which tensor lies where
 *   workspace      memory that the program lends for one call; *reserve space*: memory that it keeps from a forward
 *                  pass to its gradients
 *
 * The arithmetic is in files named after what they compute (conv.c, norm.c, pool.c, rnn.c...); convolutions of floats
 * are oneDNN's (dnnl.h). */
#ifndef MR_CUDNN_DNN_H
#define MR_CUDNN_DNN_H

#include <cuda.h>
#include <cudnn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libs/math/form.h"
#include "libs/math/work.h"

struct cudnnContext {
    CUcontext context; /* that was current when the handle was made */
    CUstream stream;
};

/* The status, with a line in the log that says why. It is also what cudnnGetLastErrorString gives this thread. */
cudnnStatus_t mr_dnn_bad(const char *function, cudnnStatus_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The handle's context is made current. NOT_INITIALIZED for NULL, or where the context is gone. */
cudnnStatus_t mr_dnn_enter(const char *function, cudnnHandle_t handle) __attribute__((warn_unused_result));

/* mr_math_submit on the handle's stream, with cuDNN's statuses. */
cudnnStatus_t mr_dnn_submit(const char *function, cudnnHandle_t handle, uint64_t parts,
                            void (*run)(void *record, uint64_t first, uint64_t end), const void *record, size_t size)
    __attribute__((warn_unused_result));

/* mr_math_submit_more likewise: `extra` bytes at `more` are copied behind the record. */
cudnnStatus_t mr_dnn_submit_more(const char *function, cudnnHandle_t handle, uint64_t parts,
                                 void (*run)(void *record, uint64_t first, uint64_t end), const void *record,
                                 size_t size, const void *more, size_t extra) __attribute__((warn_unused_result));

/* Returns the status from the function around it unless it is a success. */
#define MR_STEP(call) \
    do { \
        cudnnStatus_t status_ = (call); \
        if (status_ != CUDNN_STATUS_SUCCESS) \
            return status_; \
    } while (0)

/* Fails the function around it, whose form is `form`, unless the condition holds. `status` is a constant. */
#define MR_WANT(condition, status, ...) \
    do { \
        if (!(condition)) { \
            (void)mr_dnn_bad(form->name, status, __VA_ARGS__); \
            return status; \
        } \
    } while (0)

#define MR_POINTER(pointer) MR_WANT(pointer, CUDNN_STATUS_BAD_PARAM, "%s is NULL", #pointer)

#endif
