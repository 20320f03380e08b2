#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What CI checks beside `make test`: warnings as errors under both compilers, sanitizers, the order of the layers.
# Each build has a folder of its own (build-check-*), so a second run is quick.
set -eu
cd "$(dirname "$0")/.."

# configure FOLDER COMPILER OPTIONS…
configure() {
    folder=$1 compiler=$2
    shift 2
    if [ ! -e "$folder/build.ninja" ]; then
        CC=$compiler meson setup "$folder" "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; exit 1; }
        rm -f "$folder.log"
    fi
}

# A CPU's worth of frames in each report, and the first report ends the test.
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:handle_segv=0:allow_user_segv_handler=1:detect_stack_use_after_return=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

echo "check: layers and sizes"
python3 scripts/check_layers.py

echo "check: warnings as errors, gcc"
configure build-check-gcc gcc -Dwerror=true
ninja -C build-check-gcc --quiet

echo "check: warnings as errors, clang 19"
configure build-check-clang clang-19 -Dwerror=true
ninja -C build-check-clang --quiet

echo "check: tests under AddressSanitizer and UndefinedBehaviorSanitizer"
configure build-check-asan clang-19 -Db_sanitize=address,undefined -Dbuildtype=debugoptimized
ninja -C build-check-asan --quiet
python3 scripts/run_tests.py build-check-asan --timeout-multiplier 4

echo "check: streams and events under ThreadSanitizer"
configure build-check-tsan clang-19 -Db_sanitize=thread -Dbuildtype=debugoptimized
ninja -C build-check-tsan --quiet
python3 scripts/run_tests.py build-check-tsan --timeout-multiplier 4 --suite stream --suite event
