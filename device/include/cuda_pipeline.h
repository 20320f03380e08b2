/* SPDX-License-Identifier: Apache-2.0 */
/* nvcuda::experimental::pipeline: copies from global to shared memory in stages, over cuda_pipeline_primitives.h. */
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_
#include <cuda_pipeline_primitives.h>

namespace nvcuda {
namespace experimental {

class pipeline {
public:
    __device__ pipeline() : stage_(0) {}
    pipeline(const pipeline &) = delete;
    pipeline &operator=(const pipeline &) = delete;
    /* Closes the stage at hand; its number. */
    __device__ size_t commit()
    {
        __pipeline_commit();
        return stage_++;
    }
    __device__ void commit_and_wait()
    {
        commit();
        wait_prior<0>();
    }
    __device__ void wait(size_t stage)
    {
        (void)stage;
        __pipeline_wait_prior(0);
    }
    template <unsigned count> __device__ void wait_prior() { __pipeline_wait_prior(count); }
private:
    size_t stage_;
};

/* Copies one object. Sizes and alignments of 4, 8 and 16 bytes go as one piece, others by the byte. */
template <class T> __device__ void memcpy_async(T &to, const T &from, pipeline &pipe)
{
    (void)pipe;
    if ((sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) && alignof(T) == sizeof(T)) {
        __pipeline_memcpy_async(&to, &from, sizeof(T));
        return;
    }
    for (size_t i = 0; i < sizeof(T); i++)
        ((volatile unsigned char *)&to)[i] = ((const unsigned char *)&from)[i];
}

}   // namespace experimental
}   // namespace nvcuda
#endif
