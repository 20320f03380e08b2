/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's device runtime, and how to tell it; what is in its place is in device_runtime.cu. */
#include "ptx/device_runtime.h"

#include <string.h>

#include "ptx/host_object.h"

static void see_member(void *user, const char *name, size_t length)
{
    static const char own[] = "cuda_device_runtime.o";
    bool *found = user;
    *found = *found || (length == sizeof own - 1 && memcmp(name, own, length) == 0);
}

/* No other code has functions whose names begin with cnp: NVIDIA's driver brings them. */
bool mr_ptx_is_device_runtime_text(const char *text, size_t length)
{
    static const char own[] = "cnpSetLastError";
    return memmem(text, length, own, sizeof own - 1);
}

bool mr_ptx_is_device_runtime(const void *data, size_t size)
{
    bool found = false;
    struct mr_ptx_object_visitor visitor = {.user = &found, .member = see_member};
    return mr_ptx_object_visit(data, size, &visitor) == MR_PTX_OBJECT_OK && found;
}
