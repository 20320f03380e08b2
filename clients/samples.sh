#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# NVIDIA's CUDA samples, unmodified: clients/samples.sh BUILD [NAME…]
# Each sample that needs neither graphics nor a library which Millrace lacks is built by its own CMakeLists.txt with Millrace's nvcc,
# and must end with status 0, without arguments; 2 is a sample's own word for a device that it can't use, and counts as skipped.
# The sources are cloned once into the cache; MILLRACE_SAMPLES names a clone that is there already.
. "$(dirname "$0")/common.sh"
client_begin samples "${1:-build}"
shift
tag=v13.0
samples=${MILLRACE_SAMPLES:-$cache/cuda-samples-$tag}
command -v cmake >/dev/null || { echo "samples: cmake is not here; it is in the package cmake"; exit 1; }
if [ ! -d "$samples/Samples" ]; then
    echo "samples: cloning $tag"
    rm -rf "$samples"
    git clone --quiet --depth 1 --branch "$tag" https://github.com/NVIDIA/cuda-samples "$samples" ||
        { echo "samples: they can't be cloned; clone NVIDIA's cuda-samples elsewhere and name the folder by MILLRACE_SAMPLES"; exit 1; }
fi

# wants WORDS FILE: the first of these words that the file has
wants() {
    grep -m 1 -oiE "$1" "$2" | head -n 1
}

for lists in "$samples"/Samples/*/*/CMakeLists.txt; do
    folder=$(dirname "$lists")
    name=$(basename "$folder")
    if [ $# -gt 0 ]; then
        case " $* " in *" $name "*) ;; *) continue ;; esac
    fi
    word=$(wants 'OpenGL|GLUT|GLEW|GLES|Vulkan|glfw|EGL|D3D|Direct3D|X11' "$lists")
    [ -z "$word" ] || { skip "$name" "it needs graphics ($word)"; continue; }
    word=$(wants 'npp[a-z]*|nvjpeg|cudla|nvsci[a-z]*|nvmedia|libnvvm|nvgraph|FreeImage' "$lists")
    [ -z "$word" ] || { skip "$name" "it needs $word"; continue; }
    made=$work/$name
    rm -rf "$made"
    check "$name: build" sh -c 'cmake -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_COMPILER="$3" && cmake --build "$2" -j 2' - \
        "$folder" "$made" "$build/bin/nvcc"
    found=$(find "$made" -path '*/CMakeFiles' -prune -o -type f -perm -u+x ! -name '*.so*' -print)
    for program in $found; do
        status=0
        (cd "$(dirname "$program")" && timeout 600 "$program") >"$work/$name.out" 2>&1 </dev/null || status=$?
        if [ "$status" = 2 ]; then
            skip "$name" "it says that it can't use the device: $(tail -n 1 "$work/$name.out")"
        else
            check "$name: run" sh -c 'cat "$1"; exit "$2"' - "$work/$name.out" "$status"
        fi
    done
done
client_end
