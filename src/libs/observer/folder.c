/* SPDX-License-Identifier: Apache-2.0 */
#include "libs/observer/folder.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"

static const char *folder;

static void find_folder(void)
{
    struct stat status;
    const char *named = mr_setting_text(MR_SETTING_OBSERVE_OUT);
    mr_log_setup();
    char *found = realpath(*named ? named : ".", NULL); /* the program may change its working directory */
    if (found && stat(found, &status) == 0 && !S_ISDIR(status.st_mode)) {
        errno = ENOTDIR;
        found = NULL;
    }
    if (found && access(found, W_OK | X_OK) == 0)
        folder = found;
    else
        mr_log(MR_LOG_ERROR, "MILLRACE_OBSERVE_OUT: the folder %s can't be written to: %s; nothing is observed", named,
               strerror(errno));
}

const char *obs_folder(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_folder);
    return folder;
}

const char *obs_options(const char *tool)
{
    size_t length = strlen(tool);
    const char *word = mr_setting_text(MR_SETTING_OBSERVE);
    for (; *word; word += strcspn(word, ","), word += *word == ',')
        if (strncmp(word, tool, length) == 0 && (word[length] == 0 || word[length] == ',' || word[length] == ':'))
            return word + length + (word[length] == ':');
    return NULL;
}
