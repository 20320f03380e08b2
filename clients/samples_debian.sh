#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# NVIDIA's CUDA samples 12.5 as Debian packages them: clients/samples_debian.sh BUILD [NAME…]
# Builds each sample without graphics by its own makefile, for one architecture, and runs it without arguments. In the end it prints a table: seconds to
# build and to run, seconds of processor time of the run, and how it ended; 2 is a sample's own word for a device that it can't use, and counts as skipped.
# make test-clients leaves it out.
#
# The sources are the package nvidia-cuda-samples (contrib), which apt-get downloads; MILLRACE_SAMPLES_DEBIAN names a folder with Samples/ and Common/ that
# is there already. They were written for CUDA 12: a copy is respelt as 13 has it. MILLRACE_SAMPLES_LIMIT is how many seconds a program has (600).
. "$(dirname "$0")/common.sh"
client_begin samples_debian "${1:-build}"
shift
limit=${MILLRACE_SAMPLES_LIMIT:-600}
tree=$cache/tree

fetch() {
    sources=${MILLRACE_SAMPLES_DEBIAN:-}
    if [ -z "$sources" ]; then
        (cd "$cache" && apt-get download nvidia-cuda-samples && dpkg-deb -x nvidia-cuda-samples_*.deb package) >"$work/apt.log" 2>&1 ||
            { echo "samples_debian: apt-get can't download nvidia-cuda-samples (contrib): see $work/apt.log; or name the sources by MILLRACE_SAMPLES_DEBIAN"; return 1; }
        sources=$(dirname "$(find "$cache/package" -type d -name Samples | head -n 1)")
    fi
    [ -d "$sources/Samples" ] && [ -d "$sources/Common" ] || { echo "samples_debian: $sources has no Samples and Common"; return 1; }
    rm -rf "$tree" "$tree.new"
    mkdir -p "$tree.new" && cp -r "$sources/Samples" "$sources/Common" "$tree.new" && respell "$tree.new" && mv "$tree.new" "$tree"
}

# What CUDA 13 has dropped: members of cudaDeviceProp, cuCtxCreate's older form, three results of cuFFT, two of Thrust's classes, and C++11 and C++14,
# which CCCL no longer takes.
respell() {
    find "$1" -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' | while read -r file; do
        sed -E -i 's/\b[A-Za-z_]+(\[[a-z]+\])?(\.|->)(clockRate|memoryClockRate)\b/1000000/g
            s/\b[A-Za-z_]+(\[[a-z]+\])?(\.|->)(computeMode|kernelExecTimeoutEnabled|cooperativeMultiDeviceLaunch|singleToDoublePrecisionPerfRatio)\b/0/g
            s/\b[A-Za-z_]+(\[[a-z]+\])?(\.|->)deviceOverlap\b/1/g
            s/ : public thrust::unary_function<[^>]*>//
            s/thrust::identity<uint>\(\)/cuda::std::identity()/
            s/cuCtxCreate\((&[A-Za-z_]+(\[[a-z]+\])?), ?/cuCtxCreate(\1, NULL, /' "$file"
    done
    sed -i '/case CUFFT_INCOMPLETE_PARAMETER_LIST:/,+2d; /case CUFFT_PARSE_ERROR:/,+2d; /case CUFFT_LICENSE_ERROR:/,+2d' "$1/Common/helper_cuda.h"
    find "$1" -name Makefile -exec sed -i 's/std=c++1[14]/std=c++17/' {} +
}

[ -d "$tree" ] || fetch || exit 1
install cccl nvidia-cuda-cccl==13.0.85 || exit 1 # Thrust and CUB, where nvcc finds them
table=$work/table.txt
: >"$table"

# seconds COMMAND…: runs it; how long it took, in $took, and the processor time, in $used
seconds() {
    begun=$(date +%s)
    processor_time
    before=$used
    status=0
    "$@" || status=$?
    took=$(($(date +%s) - begun))
    processor_time
    used=$((used - before))
}

# The processor time of all children so far, in $used. (times tells it of the shell that runs it, so there is no pipe.)
processor_time() {
    times >"$work/times"
    used=$(tail -n 1 "$work/times" | awk -F '[ms ]+' '{ printf "%d", 60 * $1 + $2 + 60 * $3 + $4 }')
}

make_sample() {
    (cd "$1" && PATH="$venv/bin:$build/bin:$PATH" timeout 1200 make CUDA_PATH="$build" SMS=80 EXTRA_NVCCFLAGS="-include $root/clients/samples_compat.h" \
        CUDA_SEARCH_PATH="$build/lib" EXTRA_LDFLAGS="-L$build/lib") >"$work/$2.make" 2>&1 </dev/null
}

run_sample() {
    (cd "$1" && LD_LIBRARY_PATH="$build/lib" timeout "$limit" "./$2") >"$work/$2.out" 2>&1 </dev/null
}

for makefile in "$tree"/Samples/*/*/Makefile; do
    folder=$(dirname "$makefile")
    name=$(basename "$folder")
    if [ $# -gt 0 ]; then
        case " $* " in *" $name "*) ;; *) continue ;; esac
    fi
    case $name in EGL* | *D3D* | NV12*) continue ;; esac
    if grep -qE 'findgllib|findgl|findvulkan|findegl|findgles|FreeImage|nppi|-lnpp|nvjpeg|cudla|nvsci|nvmedia' "$makefile"; then
        continue
    fi
    seconds make_sample "$folder" "$name"
    built=$took
    if [ "$status" != 0 ]; then
        echo "$name|$built|||not built" >>"$table"
        check "$name: build" sh -c 'tail -n 15 "$1"; exit 1' - "$work/$name.make"
        continue
    fi
    for program in $(find "$folder" -maxdepth 1 -type f -perm -u+x ! -name '*.sh' ! -name '*.so*' -exec basename {} \;); do
        seconds run_sample "$folder" "$program"
        echo "$program|$built|$took|$used|$status" >>"$table"
        if [ "$status" = 2 ]; then
            skip "$program" "it says that it can't use the device: $(tail -n 1 "$work/$program.out")"
        else
            check "$program" sh -c 'tail -n 15 "$1"; exit "$2"' - "$work/$program.out" "$status"
        fi
    done
done
printf '%-34s %6s %6s %9s  %s\n' sample build run processor status
awk -F '|' '{ printf "%-34s %6s %6s %9s  %s\n", $1, $2, $3, $4, $5 }' "$table"
client_end
