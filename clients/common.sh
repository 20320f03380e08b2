# SPDX-License-Identifier: Apache-2.0
# Sourced by the client scripts: where things are, virtual environments, counting checks.
#
# Virtual environments and downloads live outside the tree, in MILLRACE_CLIENTS_CACHE (by default millrace-clients in XDG_CACHE_HOME or ~/.cache).
#
#   client_begin NAME BUILD   sets $root $build $work $cache $venv $millrace $programs; makes the virtual environment
#   install MARKER PIP-ARG…   installs once per marker
#   check LABEL COMMAND…      runs it with its output in a log; counts and prints passed or failed
#   suite KIND NAME PYTHON-COMMAND… TEST…    runs a client's own tests (suite.py), adds their counts
#   skip LABEL REASON
#   cupy_kernels              a folder for the kernels that CuPy keeps, of this build alone
#   cupy_source VERSION       CuPy's source distribution in $cache/source, which holds its tests; pip's needs for it are installed
#   cupy_programs             checks the two CuPy programs of the seed documents, where they are, and cupy_check.py
#   client_end                prints "NAME: N passed, N failed, N skipped"; status 1 if a check failed or a suite did worse than docs/clients.md states

set -u
passed=0 failed=0 skipped=0 checks_failed=0 suites_failed=0

client_begin() {
    client=$1
    root=$(cd "$(dirname "$0")/.." && pwd)
    build=$(cd "$2" 2>/dev/null && pwd) && [ -e "$build/lib/libcuda.so.1" ] || { echo "$client: there is no build in '$2'; run make first"; exit 1; }
    work=$build/clients/$client
    cache=${MILLRACE_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/millrace-clients}/$client
    venv=$cache/venv
    millrace=$build/bin/millrace
    programs=$root/../shared/programs
    mkdir -p "$work" "$cache"
    # One at a time: builds of several trees share the cache. The lock is gone when the script ends.
    exec 9>"$cache/lock"
    flock 9
    # Nothing of a CUDA toolkit may help: only what Millrace provides is in the paths.
    unset CUDA_HOME CUDA_PATH CUDA_ROOT LD_LIBRARY_PATH
    # So that tests which fill a large device are skipped, as they say they are, and small machines do.
    MILLRACE_MEMORY=3G
    export MILLRACE_MEMORY
    PATH=/usr/bin:/bin
    export PATH
    if [ ! -x "$venv/bin/pip" ]; then
        echo "$client: making a virtual environment"
        rm -rf "$venv" "$cache"/installed-*
        /usr/bin/python3 -m venv "$venv" || { echo "$client: no virtual environment; 'scripts/setup.sh clients' installs what that takes"; exit 1; }
    fi
}

# pip_failed WHAT: shows the end of pip's log.
pip_failed() {
    tail -n 20 "$work/pip.log" | sed 's/^/    /'
    echo "$client: pip could not get or build $1: see $work/pip.log (it needs a package index: a network, or pip's own settings)"
}

# install MARKER PIP-ARGUMENTS…: once per marker.
install() {
    marker=$cache/installed-$1
    shift
    [ -e "$marker" ] && return 0
    echo "$client: installing $*"
    if "$venv/bin/pip" install --quiet --disable-pip-version-check "$@" >"$work/pip.log" 2>&1; then
        touch "$marker"
    else
        pip_failed "$*"
        return 1
    fi
}

check() {
    label=$1
    shift
    log=$work/$(echo "$label" | tr -c 'A-Za-z0-9\n' _).log
    if timeout 600 "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        echo "passed: $client: $label"
    else
        status=$?
        failed=$((failed + 1)) checks_failed=$((checks_failed + 1))
        echo "FAILED: $client: $label (status $status)"
        tail -n 25 "$log" | sed 's/^/    /'
    fi
}

suite() {
    kind=$1 name=$2
    shift 2
    echo "$client: running $name"
    if /usr/bin/python3 "$root/clients/suite.py" "$kind" "$name" "$work/$name" -- "$@" >"$work/$name.txt" 2>&1; then
        echo "passed: $client: $name"
    else
        suites_failed=$((suites_failed + 1))
        echo "FAILED: $client: $name"
    fi
    cat "$work/$name.txt"
    counts=$(tail -n 1 "$work/$name.txt")
    counts=${counts#*: }
    case $counts in [0-9]*" passed, "*) ;; *) counts="0 passed, 1 failed, 0 skipped" ;; esac
    # "N passed, N failed, N skipped, N left out"
    # shellcheck disable=SC2086
    set -- $counts
    passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + $5))
}

skip() {
    skipped=$((skipped + 1))
    echo "skipped: $client: $1: $2"
}

# CuPy keeps compiled kernels by their source; another build's must not be among them.
cupy_kernels() {
    CUPY_CACHE_DIR=$cache/kernels-$(cat "$build"/device/*.h "$build"/device/include/*.h "$build"/lib/libnvrtc.so.13 | cksum | cut -d ' ' -f 1)
    export CUPY_CACHE_DIR
    [ -d "$CUPY_CACHE_DIR" ] || rm -rf "$cache"/kernels-*
    mkdir -p "$CUPY_CACHE_DIR"
}

cupy_source() {
    [ -e "$cache/source/cupy-$1/setup.py" ] && return 0
    echo "$client: fetching the sources of CuPy $1"
    rm -rf "$cache/source" && mkdir -p "$cache/source" || return 1
    # pip asks the sources for their name and version, for which they want a toolkit unless they are told that nothing is built.
    CUPY_INSTALL_USE_STUB=1 "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-binary cupy -d "$cache/source" "cupy==$1" >"$work/pip.log" 2>&1 ||
        { pip_failed "the sources of CuPy"; return 1; }
    tar -xzf "$cache/source/cupy-$1.tar.gz" -C "$cache/source"
}

cupy_programs() {
    if [ -e "$programs/cupy_events.py" ]; then
        check "cupy_events.py" "$millrace" run -- "$venv/bin/python" "$programs/cupy_events.py"
        # Its last line asserts what isn't so: its tutorial says that the program ends in an error there, as it does on hardware.
        check "cupy_streams.py" sh -c 'said=$("$@" 2>&1); echo "$said"; [ "$(echo "$said" | tail -n 1)" = AssertionError ]' - \
            "$millrace" run -- "$venv/bin/python" "$programs/cupy_streams.py"
    else
        skip "cupy_events.py, cupy_streams.py" "the seed programs are not here"
    fi
    check "cupy_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/cupy_check.py"
}

client_end() {
    echo "$client: $passed passed, $failed failed, $skipped skipped"
    [ "$checks_failed" -eq 0 ] && [ "$suites_failed" -eq 0 ]
}
