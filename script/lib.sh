# Shell helpers shared by the scripts beside this file. Source it; it changes to the repository's root.
# shellcheck shell=bash

set -euo pipefail
started_in=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
    bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' yellow=$'\e[33m' cyan=$'\e[36m' plain=$'\e[0m'
else
    bold='' dim='' red='' green='' yellow='' cyan='' plain=''
fi
export bold dim red green yellow cyan plain

# absolute PATH: of a path that need not exist, from where the script was started.
absolute() { (cd "$started_in" && realpath --canonicalize-missing "$1"); }

# A heading on standard error: what comes next, before it may take long.
step() { printf '%s==>%s %s%s%s\n' "$cyan" "$plain" "$bold" "$*" "$plain" >&2; }
note() { printf '    %s%s%s\n' "$dim" "$*" "$plain" >&2; }

# fail STATUS MESSAGE: statuses are those of the kernelskill command (2 wrong usage, 3 something is missing).
fail() {
    printf '%s: %s\n' "script/$(basename "$0")" "$2" >&2
    exit "$1"
}

# Prints the script's own header comment, which is its manual.
usage() {
    awk 'NR == 1 { next } /^#/ { sub(/^# ?/, ""); print; next } { exit }' "$0"
}

jobs() { nproc 2>/dev/null || echo 2; }

# build PRESET [TARGET...]: configures once, builds what changed. Quiet when there is nothing to do.
build() {
    local preset=$1 directory
    shift
    case $preset in
        release) directory=build ;;
        *) directory=build-$preset ;;
    esac
    # Two checkouts of one text compile to the same objects; let them share ccache's results.
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    # What ccache asks for in order to keep objects that read precompiled headers: their times are not compared.
    export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_PCH_EXTSUM=1
    if [[ ! -f $directory/build.ninja ]]; then
        local options=()
        command -v ccache >/dev/null && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER="$PWD/cmake/ccache-compile")
        command -v mold >/dev/null && options+=(-DCMAKE_{EXE,MODULE}_LINKER_FLAGS=-fuse-ld=mold)
        step "Configure ($preset)"
        cmake --preset "$preset" "${options[@]}" >"$directory.configure.log" 2>&1 || {
            cat "$directory.configure.log" >&2
            fail 3 "CMake could not configure the '$preset' preset; see the lines above"
        }
        rm -f "$directory.configure.log"
    fi
    step "Build ($preset)"
    cmake --build "$directory" --parallel "$(jobs)" ${1:+--target "$@"} >&2
}
