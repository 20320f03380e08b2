/* SPDX-License-Identifier: Apache-2.0 */
/* What MILLRACE_OBSERVE and MILLRACE_OBSERVE_OUT ask for: tools, and the folder in which they leave what they find. */
#ifndef MR_OBSERVER_FOLDER_H
#define MR_OBSERVER_FOLDER_H

/* Its absolute path, from MILLRACE_OBSERVE_OUT when this is first asked; NULL, with a message in the log: it can't be
 * written to. Any thread. */
const char *obs_folder(void);

/* The options that a tool is asked for with, which end at a comma or with the text; NULL: it isn't asked for. Any
 * thread. */
const char *obs_options(const char *tool);

#endif
