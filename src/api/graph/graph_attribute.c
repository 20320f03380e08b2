/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of kernel nodes. They are kept as the program set them; those that only permit or prefer something are met
 * by doing the ordinary thing (see mr_launch_attribute_check), those that demand what there isn't are refused.
 *
 * A work never changes once a node has it, so an attribute that is set makes a new one with a copy of the launch. */
#include "api/graph/graph_calls.h"

#include <string.h>

#include "api/stream/execution.h"
#include "api_impl.h"
#include "object/context.h"
#include "prepare/check.h"
#include "prepare/work.h"

/* The same parameters, with the attributes of another work. NULL when memory is short. */
static struct mr_work *copy_kernel(const struct mr_work *from, const struct mr_work *attributes)
{
    struct mr_work *work = mr_work_copy_kernel(from);
    if (work && !mr_work_copy_attributes(work, attributes)) {
        mr_work_drop(work);
        return NULL;
    }
    return work;
}

static bool is_node_attribute(CUkernelNodeAttrID id)
{
    switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return true;
    default:
        return false;
    }
}

/* What hardware does with a value: priorities are brought into the range of streams'; windows and domains that can't be
 * are refused. */
static CUresult settle_value(CUkernelNodeAttrID id, CUkernelNodeAttrValue *value)
{
    const CUaccessPolicyWindow *window = &value->accessPolicyWindow;
    switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        value->priority = mr_priority_clamp(value->priority);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        if (!(window->hitRatio >= 0 && window->hitRatio <= 1) || window->missProp == CU_ACCESS_PROPERTY_PERSISTING)
            return mr_bad_value("a window with a hit ratio of %g and a property %d for misses",
                                (double)window->hitRatio, (int)window->missProp);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        if ((unsigned)value->memSyncDomain > CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)
            return mr_bad_value("there is no domain %d", (int)value->memSyncDomain);
        return CUDA_SUCCESS;
    default:
        return CUDA_SUCCESS;
    }
}

/* What an attribute is that was never set. */
static CUkernelNodeAttrValue fresh_value(CUkernelNodeAttrID id)
{
    CUkernelNodeAttrValue value;
    memset(&value, 0, sizeof value);
    if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
        value.memSyncDomainMap.remote = 1;
    return value;
}

/* The attribute's place in the work, or its end. */
static size_t find_attribute(const struct mr_work *work, CUkernelNodeAttrID id)
{
    size_t i = 0;
    while (i < work->kernel.attribute_count && work->kernel.attributes[i].id != id)
        i++;
    return i;
}

CUresult mr_cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr, CUkernelNodeAttrValue *value_out)
{
    struct mr_work *work;
    if (!value_out)
        return mr_bad_value("value_out is NULL");
    CUresult status = mr_node_work_require(hNode, CU_GRAPH_NODE_TYPE_KERNEL, &work);
    if (status != CUDA_SUCCESS)
        return status;
    if (!is_node_attribute(attr)) {
        mr_work_drop(work);
        return mr_bad_value("kernel nodes have no attribute %d", (int)attr);
    }
    size_t i = find_attribute(work, attr);
    *value_out = i < work->kernel.attribute_count ? work->kernel.attributes[i].value : fresh_value(attr);
    mr_work_drop(work);
    return CUDA_SUCCESS;
}

CUresult mr_cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                          const CUkernelNodeAttrValue *value)
{
    struct mr_work *old;
    if (!value)
        return mr_bad_value("value is NULL");
    CUresult status = mr_node_work_require(hNode, CU_GRAPH_NODE_TYPE_KERNEL, &old);
    if (status != CUDA_SUCCESS)
        return status;
    CUlaunchAttribute attribute = {.id = attr, .value = *value};
    if (!is_node_attribute(attr))
        status = mr_bad_value("kernel nodes have no attribute %d", (int)attr);
    else
        status = mr_launch_attribute_check(&attribute);
    if (status == CUDA_SUCCESS)
        status = settle_value(attr, &attribute.value);
    struct mr_work *work = status == CUDA_SUCCESS ? copy_kernel(old, old) : NULL;
    mr_work_drop(old);
    if (status != CUDA_SUCCESS)
        return status;
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t i = find_attribute(work, attr);
    work->kernel.attributes[i] = attribute;
    work->kernel.attribute_count += i == work->kernel.attribute_count;
    return mr_node_change(hNode, work);
}

CUresult mr_cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
    struct mr_work *from, *old;
    CUresult status = mr_node_work_require(src, CU_GRAPH_NODE_TYPE_KERNEL, &from);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_node_work_require(dst, CU_GRAPH_NODE_TYPE_KERNEL, &old);
    if (status == CUDA_SUCCESS) {
        struct mr_work *work = copy_kernel(old, from);
        mr_work_drop(old);
        status = work ? mr_node_change(dst, work) : CUDA_ERROR_OUT_OF_MEMORY;
    }
    mr_work_drop(from);
    return status;
}
