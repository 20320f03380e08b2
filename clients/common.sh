# SPDX-License-Identifier: Apache-2.0
# Sourced by the client scripts: where things are, virtual environments, counting checks.
#
#   client_begin NAME BUILD   sets $root $build $work $venv $millrace $programs; makes the virtual environment
#   check LABEL COMMAND…      runs it with its output in a log; counts and prints passed or failed
#   skip LABEL REASON
#   client_end                prints "NAME: N passed, N failed, N skipped"; status 1 if any failed

set -u
passed=0 failed=0 skipped=0

client_begin() {
    client=$1
    root=$(cd "$(dirname "$0")/.." && pwd)
    build=$(cd "$2" 2>/dev/null && pwd) && [ -e "$build/lib/libcuda.so.1" ] || { echo "$client: there is no build in '$2'; run make first"; exit 1; }
    work=$build/clients/$client
    venv=$work/venv
    millrace=$build/bin/millrace
    programs=$root/../shared/programs
    mkdir -p "$work"
    # Nothing of a CUDA toolkit may help: only what Millrace provides is in the paths.
    unset CUDA_HOME CUDA_PATH CUDA_ROOT LD_LIBRARY_PATH
    PATH=/usr/bin:/bin
    export PATH
    if [ ! -x "$venv/bin/pip" ]; then
        echo "$client: making a virtual environment"
        rm -rf "$venv" "$work"/installed-*
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
    marker=$work/installed-$1
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
        failed=$((failed + 1))
        echo "FAILED: $client: $label (status $status)"
        tail -n 25 "$log" | sed 's/^/    /'
    fi
}

skip() {
    skipped=$((skipped + 1))
    echo "skipped: $client: $1: $2"
}

client_end() {
    echo "$client: $passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}
