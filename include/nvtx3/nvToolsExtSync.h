/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX: locks and the like that a program has made itself (nvToolsExt.h). */
#ifndef MILLRACE_NVTOOLSEXTSYNC_H
#define MILLRACE_NVTOOLSEXTSYNC_H

#include "nvToolsExt.h"

#define NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxSyncUserAttributes_t))

#ifdef __cplusplus
extern "C" {
#endif

struct nvtxSyncUser;
typedef struct nvtxSyncUser *nvtxSyncUser_t;

typedef struct nvtxSyncUserAttributes_v0 {
    uint16_t version;
    uint16_t size;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxSyncUserAttributes_v0;
typedef struct nvtxSyncUserAttributes_v0 nvtxSyncUserAttributes_t;

#ifndef NVTX_NO_IMPL
NVTX_DECLSPEC nvtxSyncUser_t NVTX_API nvtxDomainSyncUserCreate(nvtxDomainHandle_t domain, const nvtxSyncUserAttributes_t *attributes)
{
    MILLRACE_NVTX_ASK(SYNC, 1, nvtxSyncUser_t, (nvtxDomainHandle_t, const nvtxSyncUserAttributes_t *), (domain, attributes), NULL);
}

NVTX_DECLSPEC void NVTX_API nvtxDomainSyncUserDestroy(nvtxSyncUser_t handle)
{
    MILLRACE_NVTX_DO(SYNC, 2, (nvtxSyncUser_t), (handle));
}

NVTX_DECLSPEC void NVTX_API nvtxDomainSyncUserAcquireStart(nvtxSyncUser_t handle)
{
    MILLRACE_NVTX_DO(SYNC, 3, (nvtxSyncUser_t), (handle));
}

NVTX_DECLSPEC void NVTX_API nvtxDomainSyncUserAcquireFailed(nvtxSyncUser_t handle)
{
    MILLRACE_NVTX_DO(SYNC, 4, (nvtxSyncUser_t), (handle));
}

NVTX_DECLSPEC void NVTX_API nvtxDomainSyncUserAcquireSuccess(nvtxSyncUser_t handle)
{
    MILLRACE_NVTX_DO(SYNC, 5, (nvtxSyncUser_t), (handle));
}

NVTX_DECLSPEC void NVTX_API nvtxDomainSyncUserReleasing(nvtxSyncUser_t handle)
{
    MILLRACE_NVTX_DO(SYNC, 6, (nvtxSyncUser_t), (handle));
}
#endif /* NVTX_NO_IMPL */

#ifdef __cplusplus
}
#endif

#endif
