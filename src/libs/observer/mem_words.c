/* SPDX-License-Identifier: Apache-2.0 */
/* The words for what the tools mem and init find. */
#include <inttypes.h>
#include <stdio.h>

#include "libs/observer/advice.h"

#define DETAIL(...) snprintf(detail, OBS_ADVICE_ROOM, __VA_ARGS__)
#define MISSING(...) snprintf(missing, OBS_ADVICE_ROOM, __VA_ARGS__)
#define ADVICE(...) snprintf(advice, OBS_ADVICE_ROOM, __VA_ARGS__)

static const char *touches(const struct mr_side *side)
{
    if ((side->how & MR_ACCESS_READ) && (side->how & MR_ACCESS_WRITE))
        return "changes";
    return side->how & MR_ACCESS_WRITE ? "writes" : "reads";
}

static const char *ends(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void say_outside(const struct mr_finding *finding, char *detail, char *missing, char *advice)
{
    const struct mr_finding_allocation *near = &finding->allocation;
    int length = DETAIL("%s %" PRIu64 " byte%s outside of every allocation", touches(&finding->later), finding->touched,
                        ends(finding->touched));
    char *rest = detail + length;
    size_t room = OBS_ADVICE_ROOM - (size_t)length;
    uintptr_t end = near->base + near->size;
    if (near->number == 0)
        MISSING("no allocation is there");
    else if (finding->first < near->base)
        snprintf(rest, room, ", from %" PRIuPTR " bytes before the start of one of %zu bytes on",
                 near->base - finding->first, near->size);
    else
        snprintf(rest, room, ", from %" PRIuPTR " bytes behind the end of one of %zu bytes on", finding->first - end,
                 near->size);
    if (near->number == 0)
        ADVICE("look at where the pointer comes from");
    else if (finding->first < near->base) {
        MISSING("the allocation begins %" PRIuPTR " byte%s later", near->base - finding->first,
                ends(near->base - finding->first));
        ADVICE("look at how the index is made: it is less than 0");
    } else {
        MISSING("the allocation lacks %" PRIuPTR " byte%s", finding->end - end, ends(finding->end - end));
        ADVICE("let threads whose index is beyond the end do nothing, or allocate %" PRIuPTR " bytes",
               finding->end - near->base);
    }
}

/* Of the tool init. */
static void say_unwritten(const struct mr_finding *finding, char *detail, char *missing, char *advice)
{
    const char *how = touches(&finding->later), *s = ends(finding->touched);
    uint64_t bytes = finding->touched;
    MISSING("no kernel, copy or fill has written these bytes since the memory was allocated");
    switch (finding->kind) {
    case MR_FINDING_UNWRITTEN_COPY:
    case MR_FINDING_UNWRITTEN_PADDING:
        DETAIL("brings %" PRIu64 " byte%s to the host that nothing has written", bytes, s);
        if (finding->kind == MR_FINDING_UNWRITTEN_PADDING)
            MISSING("no kernel, copy or fill has written these bytes, which may be the padding of structures");
        ADVICE("%s", finding->kind == MR_FINDING_UNWRITTEN_COPY
                         ? "set the memory before (cudaMemset), or copy only what has been written"
                         : "nothing, if they are padding; else write them before");
        break;
    case MR_FINDING_UNWRITTEN_READ:
        DETAIL("%s %" PRIu64 " byte%s that nothing has written", how, bytes, s);
        ADVICE("set the memory before (cudaMemset), if what is read there matters");
        break;
    case MR_FINDING_UNWRITTEN_BRANCH:
        DETAIL("branches by %" PRIu64 " byte%s that nothing has written", bytes, s);
        ADVICE("set the memory before (cudaMemset): which way the kernel goes is left to chance");
        break;
    case MR_FINDING_UNWRITTEN_ADDRESS:
        DETAIL("accesses memory at an address that it makes of %" PRIu64 " byte%s that nothing has written", bytes, s);
        ADVICE("set the memory before (cudaMemset): where the kernel reads or writes is left to chance");
        break;
    default:
        break;
    }
}

void obs_mem_words(const struct mr_finding *finding, char detail[OBS_ADVICE_ROOM], char missing[OBS_ADVICE_ROOM],
                   char advice[OBS_ADVICE_ROOM])
{
    const char *how = touches(&finding->later), *s = ends(finding->touched);
    uint64_t bytes = finding->touched;
    switch (finding->kind) {
    case MR_FINDING_OUTSIDE:
        say_outside(finding, detail, missing, advice);
        break;
    case MR_FINDING_FREED:
        if (finding->earlier.how & OBS_ACCESS_FREES) {
            DETAIL("%s %" PRIu64 " byte%s that a kernel has freed", how, bytes, s);
            MISSING("the kernel that calls free() is asked for before this use");
            ADVICE("free the memory after its last use");
        } else if (finding->earlier.call) {
            DETAIL("%s %" PRIu64 " byte%s that %s has freed", how, bytes, s, finding->earlier.call);
            MISSING("%s gives the memory back before this use is asked for", finding->earlier.call);
            ADVICE("free the memory after its last use");
        } else {
            DETAIL("%s %" PRIu64 " byte%s that went with their context", how, bytes, s);
            MISSING("the context was destroyed or reset before this use is asked for");
            ADVICE("allocate the memory again in a context that lives");
        }
        break;
    case MR_FINDING_HOST_POINTER:
        DETAIL("%s %" PRIu64 " byte%s of host memory that CUDA does not know", how, bytes, s);
        MISSING("kernels can use such memory only if the device has CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, as "
                "this one has and many GPUs have not");
        ADVICE("copy it to the device, or allocate it by cuMemAllocHost or cuMemAllocManaged, or register it "
               "(cudaMallocHost, cudaMallocManaged, cudaHostRegister)");
        break;
    case MR_FINDING_WILD:
        DETAIL("%s %" PRIu64 " byte%s where there is no memory, at %#" PRIxPTR, how, bytes, s, finding->first);
        MISSING("neither the device nor the host has anything there");
        ADVICE("look at where the pointer comes from: %s",
               finding->first < 65536 ? "it is null" : "it may not be set, or its index may be far too large");
        break;
    case MR_FINDING_MISALIGNED:
        if (finding->first)
            DETAIL("%s %" PRIu64 " bytes at %#" PRIxPTR ", which is no multiple of %" PRIu64, how, bytes,
                   finding->first, bytes);
        else
            DETAIL("%s %" PRIu64 " bytes at an address that is no multiple of %" PRIu64, how, bytes, bytes);
        MISSING("an access needs an address that is a multiple of its size: the kernel stops with "
                "CUDA_ERROR_MISALIGNED_ADDRESS");
        ADVICE("align the address, or access the parts one by one");
        break;
    case MR_FINDING_DEVICE_POINTER:
        DETAIL("%s %" PRIu64 " byte%s of device memory", how, bytes, s);
        MISSING("the host can't use device memory of a GPU; here both share their addresses");
        ADVICE("copy it (cudaMemcpy), or allocate it by cudaMallocManaged or cudaMallocHost");
        break;
    case MR_FINDING_BAD_FREE:
        if (finding->earlier.call) {
            DETAIL("frees memory that a kernel has freed before");
            MISSING("what malloc() in a kernel has given may be freed once");
            ADVICE("let one thread free it, once");
        } else {
            DETAIL("frees memory at %#" PRIxPTR " that malloc() in a kernel has not given", finding->first);
            MISSING("free() in a kernel takes what malloc() in a kernel has given, and no place inside of it");
            ADVICE("look at where the pointer comes from: memory of cudaMalloc is freed by cudaFree");
        }
        break;
    case MR_FINDING_UNWRITTEN_COPY:
    case MR_FINDING_UNWRITTEN_PADDING:
    case MR_FINDING_UNWRITTEN_READ:
    case MR_FINDING_UNWRITTEN_BRANCH:
    case MR_FINDING_UNWRITTEN_ADDRESS:
        say_unwritten(finding, detail, missing, advice);
        break;
    default:
        DETAIL("makes %" PRIu64 " allocation%s of %" PRIu64 " bytes in all that nobody frees", finding->further + 1,
               ends(finding->further + 1), bytes);
        MISSING("the program ends, and the memory is still there");
        ADVICE("free the memory when it is no longer used");
        break;
    }
}
