#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs of Debian's archive that open the driver by name: clients/debian.sh BUILD
# hashcat compiles its kernels with NVRTC and finds the word behind the example of each of some kinds of hashes; FFmpeg's filters bring kernels as PTX and
# give what its filters for the processor give; BOINC names the device. mumax3, BART and StarPU are of Debian's contrib: Debian 12 builds them with CUDA 11.8.
# What is not installed is skipped: apt-get install hashcat ffmpeg boinc-client mumax3 bart-cuda starpu-contrib-examples.
# It takes seven minutes on two quiet cores, most of them for hashcat's kernels, so make test-clients leaves it out.
. "$(dirname "$0")/common.sh"
client_begin debian "${1:-build}"

film() {
    check "FFmpeg, $1" /usr/bin/python3 "$root/clients/debian_check.py" film "$millrace" "$2" "$3" "$4"
}

if command -v hashcat >/dev/null; then
    # MD5, SHA-1, NTLM, SHA-256, SHA-512, SHA-3, BLAKE2, phpass, md5crypt, DES, LM, Whirlpool, NetNTLMv2, scrypt, PBKDF2, WPA, bcrypt, PDF
    for mode in 0 100 1000 1400 1700 17400 600 400 500 1500 3000 6100 5600 8900 10900 22000 3200 10500; do
        check "hashcat, kind $mode" /usr/bin/python3 "$root/clients/debian_check.py" crack "$millrace" "$mode"
    done
else
    skip hashcat "it is not installed"
fi
if command -v ffmpeg >/dev/null && ffmpeg -hide_banner -filters 2>/dev/null | grep -q scale_cuda; then
    film "there and back" 0 '[0]hwupload_cuda,hwdownload,format=yuv420p' '[0]null'
    film overlay_cuda 0 '[0]hwupload_cuda[a];[1]hwupload_cuda[b];[a][b]overlay_cuda=x=40:y=20,hwdownload,format=yuv420p' 'overlay=x=40:y=20:format=yuv420'
    film "scale_cuda to another format" 0 '[0]hwupload_cuda,scale_cuda=format=nv12,hwdownload,format=nv12' '[0]format=nv12'
    # Where lines meet, FFmpeg's two filters choose differently.
    film yadif_cuda 2 '[0]hwupload_cuda,yadif_cuda,hwdownload,format=yuv420p' '[0]yadif'
else
    skip FFmpeg "it is not installed, or has no filters for CUDA"
fi
if command -v boinc >/dev/null; then
    mkdir -p "$work/boinc"
    check BOINC sh -c 'cd "$1" || exit; shift; timeout 20 "$@" --dir . 2>&1 | grep -m 1 "CUDA: .*Millrace"' - "$work/boinc" "$millrace" run -- boinc
else
    skip BOINC "it is not installed"
fi
if command -v mumax3 >/dev/null; then
    check mumax3 /usr/bin/python3 "$root/clients/debian_check.py" magnets "$millrace"
else
    skip mumax3 "it is not installed"
fi
if [ -e /usr/share/doc/bart-cuda ]; then
    for terms in '-S -l2 -r0.01' '-S -RW:7:0:0.01' '-S -RT:7:0:0.01'; do
        # shellcheck disable=SC2086 # they are several words
        check "BART, $terms" /usr/bin/python3 "$root/clients/debian_check.py" image "$millrace" -i 20 $terms
    done
else
    skip BART "it is not installed, or not for CUDA"
fi
star=/usr/lib/x86_64-linux-gnu/starpu/examples
if [ -x "$star/sgemm" ] && [ -e /usr/share/doc/starpu-contrib-examples ]; then
    # Its examples, of which each work must run on the device.
    for example in vector_scal incrementer axpy block fblock spmv dot_product 'sgemm -check' 'dgemm -check' 'lu_example_float -check'; do
        # shellcheck disable=SC2086
        check "StarPU, $example" timeout 120 env STARPU_NCPU=0 STARPU_NOPENCL=0 STARPU_HOME="$work" HOME="$work" "$millrace" run -- "$star/"$example
    done
else
    skip StarPU "its examples for CUDA are not installed"
fi
client_end
