/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of the older interface: of matrices, and what analyses leave (infos). */
#include "libs/cusparse/info.h"
#include "libs/cusparse/sparse.h"
#include "libs/math/driver.h"

#include <stdlib.h>

cusparseStatus_t mr_cusparse_CreateMatDescr(const struct mr_form *form, cusparseMatDescr_t *descrA)
{
    MR_CHECK(form, descrA);
    struct cusparseMatDescr *made = mr_cusparse_description(MR_KIND_MATDESCR, sizeof *made);
    if (!made)
        return mr_cusparse_bad(form, CUSPARSE_STATUS_ALLOC_FAILED, "memory is short");
    *descrA = made;
    return CUSPARSE_STATUS_SUCCESS;
}

/* NULL is allowed. */
cusparseStatus_t mr_cusparse_DestroyMatDescr(const struct mr_form *form, cusparseMatDescr_t descrA)
{
    MR_CHECK(form, !descrA || mr_cusparse_forget(descrA, MR_KIND_MATDESCR));
    return CUSPARSE_STATUS_SUCCESS;
}

#define SETTING(name, type, field, most) \
    cusparseStatus_t mr_cusparse_Set##name(const struct mr_form *form, cusparseMatDescr_t descrA, type value) \
    { \
        if (!mr_is(descrA, MR_KIND_MATDESCR)) \
            return mr_cusparse_bad(form, CUSPARSE_STATUS_NOT_INITIALIZED, "there is no description"); \
        MR_CHECK(form, (unsigned)value <= (most)); \
        descrA->field = value; \
        return CUSPARSE_STATUS_SUCCESS; \
    } \
    type mr_cusparse_Get##name(const struct mr_form *form, const cusparseMatDescr_t descrA) \
    { \
        (void)form; \
        return mr_is(descrA, MR_KIND_MATDESCR) ? descrA->field : (type)0; \
    }
/* bodies: SetMatType GetMatType SetMatFillMode GetMatFillMode SetMatDiagType GetMatDiagType SetMatIndexBase
 * GetMatIndexBase */
SETTING(MatType, cusparseMatrixType_t, type, CUSPARSE_MATRIX_TYPE_TRIANGULAR)
SETTING(MatFillMode, cusparseFillMode_t, fill, CUSPARSE_FILL_MODE_UPPER)
SETTING(MatDiagType, cusparseDiagType_t, diag, CUSPARSE_DIAG_TYPE_UNIT)
SETTING(MatIndexBase, cusparseIndexBase_t, base, CUSPARSE_INDEX_BASE_ONE)

/* ---- infos ---- */

static cusparseStatus_t create(const struct mr_form *form, void **result, enum mr_info_kind of)
{
    MR_CHECK(form, result);
    struct mr_info *made = mr_cusparse_description(MR_KIND_INFO, sizeof *made);
    struct mr_found *found = calloc(1, sizeof *found);
    if (!made || !found) {
        free(found);
        if (made)
            (void)mr_cusparse_forget(made, MR_KIND_INFO);
        return mr_cusparse_bad(form, CUSPARSE_STATUS_ALLOC_FAILED, "memory is short");
    }
    found->pivot = -1;
    made->of = of;
    made->found = found;
    *result = made;
    return CUSPARSE_STATUS_SUCCESS;
}

/* Work that has been submitted may still write what it finds: so the context is waited for. NULL is allowed. */
static cusparseStatus_t destroy(const struct mr_form *form, void *info, enum mr_info_kind of)
{
    if (!info)
        return CUSPARSE_STATUS_SUCCESS;
    struct mr_info *known = mr_cusparse_info(info, of);
    MR_CHECK(form, known);
    struct mr_found *found = known->found;
    int *order = known->order;
    if (known->used && mr_math_driver_open())
        (void)mr_math_driver.cuCtxSynchronize();
    MR_CHECK(form, mr_cusparse_forget(info, MR_KIND_INFO));
    free(found);
    free(order);
    return CUSPARSE_STATUS_SUCCESS;
}

struct mr_info *mr_cusparse_info(void *info, enum mr_info_kind of)
{
    return mr_is(info, MR_KIND_INFO) && ((struct mr_info *)info)->of == of ? info : NULL;
}

bool mr_cusparse_info_order(struct mr_info *info, int64_t count)
{
    if (info->order && info->order_size >= count)
        return true;
    if (info->used)
        (void)mr_math_driver.cuCtxSynchronize();
    free(info->order);
    info->order = malloc((size_t)count * sizeof(int) + 1);
    info->order_size = info->order ? count : 0;
    return info->order != NULL;
}

#define INFO(name, type, of) \
    cusparseStatus_t mr_cusparse_Create##name(const struct mr_form *form, type *info) \
    { \
        return create(form, (void **)info, of); \
    } \
    cusparseStatus_t mr_cusparse_Destroy##name(const struct mr_form *form, type info) \
    { \
        return destroy(form, info, of); \
    }
/* bodies: CreateCsric02Info DestroyCsric02Info CreateBsric02Info DestroyBsric02Info CreateCsrilu02Info
DestroyCsrilu02Info CreateBsrilu02Info DestroyBsrilu02Info CreateBsrsv2Info DestroyBsrsv2Info CreateBsrsm2Info
DestroyBsrsm2Info CreateCsru2csrInfo DestroyCsru2csrInfo CreateColorInfo DestroyColorInfo CreatePruneInfo
DestroyPruneInfo */
INFO(Csric02Info, csric02Info_t, MR_INFO_CSRIC)
INFO(Bsric02Info, bsric02Info_t, MR_INFO_BSRIC)
INFO(Csrilu02Info, csrilu02Info_t, MR_INFO_CSRILU)
INFO(Bsrilu02Info, bsrilu02Info_t, MR_INFO_BSRILU)
INFO(Bsrsv2Info, bsrsv2Info_t, MR_INFO_BSRSV)
INFO(Bsrsm2Info, bsrsm2Info_t, MR_INFO_BSRSM)
INFO(Csru2csrInfo, csru2csrInfo_t, MR_INFO_CSRU)
INFO(ColorInfo, cusparseColorInfo_t, MR_INFO_COLOR)
INFO(PruneInfo, pruneInfo_t, MR_INFO_PRUNE)
