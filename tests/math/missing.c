/* SPDX-License-Identifier: Apache-2.0 */
/* Without the CPU library a handle can't be had, and the log names the package. This program hides the library: its own
 * dlopen, which the dynamic loader finds first, knows no OpenBLAS. */
#include <cublas_v2.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) void *dlopen(const char *name, int flags)
{
    if (name && strstr(name, "openblas"))
        return NULL;
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return next(name, flags);
}

int main(void)
{
    char path[] = "/tmp/millrace-missing-XXXXXX", text[4096];
    cublasHandle_t handle = NULL;
    int file = mkstemp(path);
    if (file < 0 || setenv("MILLRACE_LOG_FILE", path, 1) != 0 || setenv("MILLRACE_LOG", "warn", 1) != 0)
        return 1;
    int status = cublasCreate(&handle), again = cublasCreate(&handle);
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    unlink(path);
    text[size > 0 ? size : 0] = '\0';
    printf("%d %d %p\n%s", status, again, (void *)handle, text);
    return !(status == CUBLAS_STATUS_NOT_INITIALIZED && again == status && !handle &&
             strstr(text, "libopenblas0-pthread"));
}
