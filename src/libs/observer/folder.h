/* SPDX-License-Identifier: Apache-2.0 */
/* The folder in which the tools leave what they find. */
#ifndef MR_OBSERVER_FOLDER_H
#define MR_OBSERVER_FOLDER_H

/* Its absolute path, from MILLRACE_OBSERVE_OUT when this is first asked; NULL, with a message in the log: it can't be
 * written to. Any thread. */
const char *obs_folder(void);

#endif
