/* SPDX-License-Identifier: Apache-2.0 */
/* Without its CPU library a library of mathematics gives no handle, and the log names the package. This program hides
 * the CPU library: its own dlopen, which the dynamic loader finds first, knows none whose name has HIDDEN in it. The
 * build says what is tried (meson.build): HEADER, the call CALL, which sets `handle`, and the WANTED status; and the
 * PACKAGE. */
#include HEADER

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) void *dlopen(const char *name, int flags)
{
    if (name && strstr(name, HIDDEN))
        return NULL;
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return next(name, flags);
}

int main(void)
{
    char path[] = "/tmp/millrace-missing-XXXXXX", text[4096];
    HANDLE handle = 0;
    int file = mkstemp(path);
    if (file < 0 || setenv("MILLRACE_LOG_FILE", path, 1) != 0 || setenv("MILLRACE_LOG", "warn", 1) != 0)
        return 1;
    int status = CALL, again = CALL;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    unlink(path);
    text[size > 0 ? size : 0] = '\0';
    printf("%d %d\n%s", status, again, text);
    return !(status == WANTED && again == status && !handle && strstr(text, PACKAGE));
}
