/* SPDX-License-Identifier: Apache-2.0 */
/* Where the libraries lie, in libcudart_static.a: a program of C++ alone that has that inside looks there for the
 * driver if the loader finds none. (One with CUDA C++ knows it from its compiler.) Each compilation for that archive
 * includes this file, with the build's folder in MR_RT_HOME. What installs the archive puts the folder there in its
 * place (lib/home.py), which it finds by the mark. */
#ifndef MR_CUDART_HOME_H
#define MR_CUDART_HOME_H

#define MR_RT_HOME_MARK "MILLRACE-HOME:"

#ifdef MR_RT_HOME
__attribute__((used, visibility("hidden"))) const char mr_rt_home[4096] = MR_RT_HOME_MARK MR_RT_HOME;
#else
/* NULL in the shared library, which has the driver beside it. */
extern const char mr_rt_home[] __attribute__((weak, visibility("hidden")));
#endif

#endif
