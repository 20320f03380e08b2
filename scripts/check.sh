#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What CI checks beside `make test`: the order of the layers, sizes, form, links between pages, warnings as errors under both compilers,
# an analyzer, sanitizers.
# Each build has a folder of its own (build-check-*), so that a second run is quick; GCC_BUILD names another one for gcc's.
# Every step says what it is and how long it took.
set -eu
cd "$(dirname "$0")/.."

begin=$(date +%s) doing='' linker=''
gcc_build=${GCC_BUILD:-build-check-gcc}

# step TEXT: closes the step before, and opens this one.
step() {
    now=$(date +%s)
    [ -z "$doing" ] || echo "check: ... took $((now - last)) s"
    last=$now doing=$*
    echo "check: $*"
}

# configure FOLDER COMPILER OPTIONS…: with these options, also if the folder is from before.
configure() {
    folder=$1 compiler=$2
    shift 2
    [ -e "$folder/build.ninja" ] && again=--reconfigure || again=
    env CC="$compiler" ${linker:+CC_LD=$linker} meson setup $again "$folder" "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; exit 1; }
    rm -f "$folder.log"
}

# The first report ends a test, with the stack that it came by. A program's own SIGSEGV handlers stay its own: the driver has some.
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:handle_segv=0:allow_user_segv_handler=1:detect_stack_use_after_return=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:atexit_sleep_ms=200:suppressions=$PWD/scripts/tsan.txt

step "layers and sizes, the page of what shows it, links between pages"
python3 scripts/check_layers.py
python3 scripts/check_shown.py
python3 scripts/check_links.py

step "lines of at most 120 columns, and the form of C files"
python3 scripts/check_lines.py
scripts/format.sh --check

step "gcc, warnings as errors"
configure "$gcc_build" gcc -Dwerror=true
ninja -C "$gcc_build" --quiet

step "circles between files"
python3 scripts/circles.py "$gcc_build" --check

step "the documentation as a site, and each link of it"
python3 docs/site/build.py "$gcc_build" "$gcc_build/site"

step "clang-tidy's checks for faults"
scripts/tidy.sh "$gcc_build"

# One build for both: clang's warnings come from its front end and are the same with sanitizers.
linker=lld
step "clang 19, warnings as errors, with AddressSanitizer and UndefinedBehaviorSanitizer"
configure build-check-asan clang-19 -Dwerror=true -Db_sanitize=address,undefined
ninja -C build-check-asan --quiet

step "all tests under AddressSanitizer and UndefinedBehaviorSanitizer"
python3 scripts/run_tests.py build-check-asan --timeout-multiplier 4

step "streams, events, random programs and all else that threads share, under ThreadSanitizer, by clang 19"
configure build-check-tsan clang-19 -Db_sanitize=thread
suites='stream compile api object module kernel memory fault random cudart nccl cupti'
python3 scripts/run_tests.py build-check-tsan --needed --timeout-multiplier 4 $(printf -- '--suite %s ' $suites)

step "all is well, after $(($(date +%s) - begin)) s"
