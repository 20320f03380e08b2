/* SPDX-License-Identifier: Apache-2.0 */
/* What cases of cuRAND stand on. */
#include "rn.h"

#include <stdio.h>
#include <stdlib.h>

void rn(curandStatus_t status)
{
    static const struct {
        curandStatus_t status;
        const char *name;
    } names[] = {
        {CURAND_STATUS_SUCCESS, "SUCCESS"},
        {CURAND_STATUS_NOT_INITIALIZED, "NOT_INITIALIZED"},
        {CURAND_STATUS_ALLOCATION_FAILED, "ALLOCATION_FAILED"},
        {CURAND_STATUS_TYPE_ERROR, "TYPE_ERROR"},
        {CURAND_STATUS_OUT_OF_RANGE, "OUT_OF_RANGE"},
        {CURAND_STATUS_LENGTH_NOT_MULTIPLE, "LENGTH_NOT_MULTIPLE"},
        {CURAND_STATUS_LAUNCH_FAILURE, "LAUNCH_FAILURE"},
        {CURAND_STATUS_PREEXISTING_FAILURE, "PREEXISTING_FAILURE"},
        {CURAND_STATUS_INITIALIZATION_FAILED, "INITIALIZATION_FAILED"},
        {CURAND_STATUS_INTERNAL_ERROR, "INTERNAL_ERROR"},
    };
    char text[40];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].status == status) {
            say_text(names[i].name);
            return;
        }
    snprintf(text, sizeof text, "status=%d", (int)status);
    say_text(text);
}

void rn_need(curandStatus_t status, const char *what)
{
    char text[200];
    if (status == CURAND_STATUS_SUCCESS)
        return;
    snprintf(text, sizeof text, "%s status=%d", what, (int)status);
    gold_stop(text);
}

curandGenerator_t rn_new(curandRngType_t type)
{
    curandGenerator_t generator = NULL;
    RN_NEED(curandCreateGenerator(&generator, type));
    return generator;
}

void *rn_memory(void)
{
    static void *memory;
    if (!memory)
        RT_NEED(cudaMalloc(&memory, RN_BYTES));
    return memory;
}

void rn_say(size_t bytes)
{
    static char *host;
    if (!host)
        host = malloc(RN_BYTES);
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, rn_memory(), bytes, cudaMemcpyDefault));
    say_hash(host, bytes);
}
