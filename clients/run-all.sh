#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make test-clients: every client in turn, then a summary. clients/run-all.sh BUILD
here=$(dirname "$0")
build=${1:-build}
status=0
summary=
for client in pycuda cuda_core; do
    log=$build/clients-$client.log
    "$here/$client.sh" "$build" 2>&1 | tee "$log"
    line=$(grep -E "^$client: [0-9]+ passed" "$log" | tail -n 1)
    summary="$summary${line:-$client: did not run}
"
    case $line in *" 0 failed"*) ;; *) status=1 ;; esac
done
printf '\n%s' "$summary"
exit $status
