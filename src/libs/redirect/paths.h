/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a GPU's kernel module or one of NVIDIA's packages would have, and what a program gets in their place:
 *
 *     /dev/nvidiactl, /dev/nvidia-uvm,
 *     /dev/nvidia0 … (as many as MILLRACE_DEVICES says)      /dev/null
 *     /proc/driver/nvidia                                    a folder of Millrace's
 *     /proc/driver/nvidia/version                            the file in it
 *     …/nvidia/…/ptxas, …/nvidia/…/ptxas-blackwell,
 *     when they are started                                  Millrace's ptxas
 *
 * Programs look for the first two before they ask the driver, and the assembler of a package makes machine code.
 * Nothing on the machine is changed: the process alone gets other answers. */
#ifndef MR_REDIRECT_PATHS_H
#define MR_REDIRECT_PATHS_H

/* What a call does with a path. */
enum mr_path_use { MR_PATH_LOOKED_AT, MR_PATH_STARTED };

/* Finds what paths are replaced with. Called once, by the loader, after mr_libraries_setup. */
void mr_paths_setup(void);

/* The path to use in place of `path`: `path` itself in nearly all cases, else a text that is valid for the life of the
 * process. Each is told once at info. Any thread, also in a child between vfork and exec; allocates nothing, and leaves
 * errno as it is where it returns `path`. */
const char *mr_path_for(const char *path, enum mr_path_use use);

#endif
