/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points by name: cuGetProcAddress in both versions, and cuGetExportTable.
 *
 * A program that asks for "cuMemAlloc" at CUDA version 2000 expects another binary interface than
 * one that asks at 3020, so a look-up answers with the newest version that is not newer than the
 * caller's. The table is generated (proc_table.c). What the manual leaves open follows hardware:
 * names with a suffix are not found, and where a function has forms for per-thread streams, a
 * caller that asks for those gets nothing from before they existed. All of this works before
 * cuInit. */
#include <cuda.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/proc_table.h"
#include "api/state.h"
#include "api_impl.h"
#include "base/call.h"

/* The entry called `name`, or NULL. */
static const struct mr_proc_entry *entry_find(const char *name)
{
    unsigned low = 0, high = mr_proc_entry_count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        int order = strcmp(mr_proc_entries[middle].name, name);
        if (order == 0) {
            return &mr_proc_entries[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* True if a function has forms for per-thread streams. */
static bool entry_has_per_thread(const struct mr_proc_entry *entry)
{
    for (unsigned i = 0; i < entry->count; i++) {
        if (mr_proc_versions[entry->first + i].per_thread != NULL) {
            return true;
        }
    }
    return false;
}

/* The newest version of `entry` for a caller of CUDA `version`, or NULL if all are newer. A
 * negative version stands for the newest. */
static void (*entry_address(const struct mr_proc_entry *entry, int version, bool per_thread))(void)
{
    if (version < 0) {
        version = CUDA_VERSION;
    }
    per_thread = per_thread && entry_has_per_thread(entry);
    for (unsigned i = entry->count; i-- > 0;) {
        const struct mr_proc_version *row = &mr_proc_versions[entry->first + i];
        if (per_thread && row->per_thread != NULL && row->per_thread_since <= version) {
            return row->per_thread;
        }
        if (!per_thread && row->since <= version) {
            return row->address;
        }
    }
    return NULL;
}

/* One look-up. `result` says how it ended; the address is NULL unless it succeeded. */
static void (*entry_look_up(const char *name, int version, cuuint64_t flags,
                            CUdriverProcAddressQueryResult *result))(void)
{
    const struct mr_proc_entry *entry = entry_find(name);
    if (entry == NULL) {
        *result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
        return NULL;
    }
    bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    void (*address)(void) = entry_address(entry, version, per_thread);
    *result = address != NULL ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    return address;
}

/* The arguments that both versions check. */
static CUresult arguments_check(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
    const cuuint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (symbol == NULL || pfn == NULL) {
        mr_call_log(MR_LOG_INFO, "a null pointer for the name or the result");
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((flags & ~known) != 0) {
        mr_call_log(MR_LOG_INFO, "%s: flags 0x%llx", symbol, (unsigned long long)flags);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (version > mr_driver_version()) {
        mr_call_log(MR_LOG_INFO, "%s: version %d is newer than the driver's %d", symbol, version, mr_driver_version());
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* The part that both versions share. `found` and `result` are written if and only if the status is
 * success. */
static CUresult proc_address_get(const char *symbol, void **pfn, int version, cuuint64_t flags, void **found,
                                 CUdriverProcAddressQueryResult *result)
{
    CUresult status = arguments_check(symbol, pfn, version, flags);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    void (*address)(void) = entry_look_up(symbol, version, flags, result);
    if (address == NULL) {
        mr_call_log(MR_LOG_INFO, "%s at version %d: %s", symbol, version,
                    *result == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND ? "no such function" : "the function is newer");
    }
    *found = (void *)address;
    return CUDA_SUCCESS;
}

/* CUDA 12: a name that leads nowhere is no error; the null pointer and the result say so. */
CUresult mr_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                CUdriverProcAddressQueryResult *symbolStatus)
{
    void *found;
    CUdriverProcAddressQueryResult result;
    CUresult status = proc_address_get(symbol, pfn, cudaVersion, flags, &found, &result);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *pfn = found;
    if (symbolStatus != NULL) {
        *symbolStatus = result;
    }
    return CUDA_SUCCESS;
}

/* CUDA 11: with no place for a result, the status has to say it, and the pointer stays as it was. */
CUresult mr_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    void *found;
    CUdriverProcAddressQueryResult result;
    CUresult status = proc_address_get(symbol, pfn, cudaVersion, flags, &found, &result);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (result != CU_GET_PROC_ADDRESS_SUCCESS) {
        return CUDA_ERROR_NOT_FOUND;
    }
    *pfn = found;
    return CUDA_SUCCESS;
}

/* The library that called into this one, for messages. */
static void name_caller(char *name, size_t room)
{
    void *frames[16];
    Dl_info own, caller;
    int count = backtrace(frames, 16);
    snprintf(name, room, "%s", "the program");
    if (dladdr((void *)name_caller, &own) == 0)
        return;
    for (int i = 0; i < count; i++)
        if (dladdr(frames[i], &caller) != 0 && caller.dli_fbase != own.dli_fbase && caller.dli_fname) {
            snprintf(name, room, "%s", caller.dli_fname);
            return;
        }
}

/* The tables behind this call are a private matter between NVIDIA's own libraries. None exists
 * here, so every identifier is answered as hardware answers one that it does not know. */
CUresult mr_cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    if (ppExportTable == NULL || pExportTableId == NULL) {
        mr_call_log(MR_LOG_INFO, "a null pointer");
        return CUDA_ERROR_INVALID_VALUE;
    }
    *ppExportTable = NULL;
    static bool told; /* atomic */
    enum mr_log_level level = __atomic_exchange_n(&told, true, __ATOMIC_RELAXED) ? MR_LOG_INFO : MR_LOG_WARN;
    char caller[512] = "";
    if (mr_log_enabled(level))
        name_caller(caller, sizeof caller);
    const char *audit = getenv("LD_AUDIT");
    mr_call_log(
        level,
        "'%s' asked for a private table of NVIDIA's driver, which has none here; if that is NVIDIA's runtime "
        "library, or has it inside, its calls will fail: %s",
        caller,
        audit && strstr(audit, "libmillrace-audit")
            ? "the names of its functions are stripped, and 'millrace run' can't send them to Millrace's; use a "
              "build of it that is linked with -cudart shared, or not stripped"
            : "start the program with 'millrace run', which sends them to Millrace's");
    return CUDA_ERROR_INVALID_VALUE;
}
