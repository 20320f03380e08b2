/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM's destructors never run.
 *
 * C++ registers a destructor for each global object as it is made: LLVM has hundreds, made while the library is opened
 * and as its pieces are first used. When a process calls exit, they would run while other threads still open the
 * library or compile with it. All that they would do is to free memory that goes with the process anyway. So inside of
 * this library, which LLVM is a part of, the C++ ABI's function for registering is this one. (Itanium C++
 * ABI, 3.3.6.3.)
 *
 * That holds for references from within the library only, since the name is hidden. The library is never closed. */

int __cxa_atexit(void (*function)(void *object), void *object, void *library) __attribute__((visibility("hidden")));

int __cxa_atexit(void (*function)(void *object), void *object, void *library)
{
    (void)function, (void)object, (void)library;
    return 0;
}
