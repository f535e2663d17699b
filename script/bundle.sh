# Lays folders that run where nothing of KernelSkill or LLVM is installed; source it after lib.sh.
# shellcheck shell=bash

# What every Linux with a package manager has, and what has to be the system's own: glibc, and GCC's run-time libraries,
# which the host compiler of that system may want newer than this one's.
system_libraries='^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|stdc\+\+|gcc_s))\.so\.'

# libraries_of PROGRAM...: the shared libraries that they load and that are not the system's, as "SONAME path".
libraries_of() {
    local missing
    missing=$(ldd "$@" | grep 'not found' || true)
    [[ -z $missing ]] || fail 3 "a shared library is missing:$missing"
    ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u | grep -vE "$system_libraries" || true
}

# package_of FILE: the Debian package that holds it. Debian 12 knows some files of /usr/lib as /lib's.
package_of() {
    local file
    file=$(readlink -f "$1")
    { dpkg-query --search "$file" 2>/dev/null || dpkg-query --search "${file#/usr}" 2>/dev/null ||
        fail 3 "no package holds $file: its licence is not known"; } | sed 's/:.*//; q'
}

# copy_licenses TREE PACKAGE...: what each package's authors ask to travel with it.
copy_licenses() {
    local tree=$1 package text
    shift
    mkdir -p "$tree/licenses"
    for package in "$@"; do
        [[ -f /usr/share/doc/$package/copyright ]] || fail 3 "the licence of $package is not installed"
        cp -L "/usr/share/doc/$package/copyright" "$tree/licenses/$package.txt"
    done
    # Debian's texts name the usual licences by a path of Debian's.
    grep -ohE '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9]' "$tree"/licenses/*.txt | sort -u |
        while read -r text; do
            [[ ! -f $text ]] || cp -L "$text" "$tree/licenses/"
        done
}

# lay_component COMPONENT TREE: installs what kernelskill_packed gave the component; says what that was.
lay_component() {
    DESTDIR='' cmake --install build --component "$1" --prefix "$2" --strip |
        sed -nE 's/^-- (Installing|Up-to-date): //p'
}

# replace_icu_data LIBRARY: 30 MB that nothing reads. libLLVM merges the manifests of Windows programs with libxml2, which
# knows rare character sets through ICU; no parser of C++ comes there. What stands in is a table without entries, as
# ICU's own "stubdata" is.
replace_icu_data() {
    local symbol
    symbol=$(nm -D --defined-only "$1" | sed -nE 's/.* (icudt[0-9]+_dat)(@.*)?$/\1/p')
    [[ -n $symbol ]] || fail 3 "$1 does not look like ICU's data"
    # Sizes and magic numbers of the header; little-endian, 2 bytes a character; "ToCP" 1; no entry.
    g++ -shared -nostdlib -fPIC -s -Wl,-soname,"$(basename "$1")" -x c++ -o "$1" - <<END
        extern "C" alignas(16) const unsigned char ${symbol}[48];
        const unsigned char ${symbol}[48] = {32, 0, 0xda, 0x27, 20, 0, 0, 0, 0, 0, 2, 0, 'T', 'o', 'C', 'P', 1};
END
}

# lay_libraries TREE BUILT_PROGRAM...: lib/ and licenses/ for programs of the build folder.
lay_libraries() {
    local tree=$1 libraries name file package
    local -A packages=([nlohmann-json3-dev]=1 [libcli11-dev]=1) # all headers
    shift
    libraries=$(libraries_of "$@")
    mkdir -p "$tree/lib"
    while read -r name file; do
        install -m 644 "$file" "$tree/lib/$name"
        [[ $name != libicudata.so.* ]] || replace_icu_data "$tree/lib/$name"
        package=$(package_of "$file")
        packages[$package]=1
    done <<<"$libraries"
    copy_licenses "$tree" "${!packages[@]}"
    cp LICENSE NOTICE "$tree/"
}

# lay_data TREE: share/kernelskill, with clang's own headers where the parser looks for them first.
lay_data() {
    local tree=$1 headers
    mkdir -p "$tree/share"
    cp -rL build/share/kernelskill "$tree/share/" # links of the build folder become files
    headers=$( (build/bin/kernelskill doctor --json || true) |
        jq -r '.checks[] | select(.name == "clang-headers") | .detail')
    [[ -f $headers/include/stddef.h ]] || fail 3 "clang's headers were not found; install libclang-common-22-dev"
    mkdir -p "$tree/share/kernelskill/clang"
    cp -rL "$headers/include" "$tree/share/kernelskill/clang/"
    lay_standard_headers "$tree"
}

# lay_standard_headers TREE: C's and C++'s, for a system without a compiler, in a folder that clang takes for a root.
lay_standard_headers() {
    local tree=$1 root=$1/share/kernelskill/sysroot gcc origins
    gcc=$(dirname "$(g++ -print-libgcc-file-name)")
    origins=("libstdc++-$(g++ -dumpversion)-dev" libc6-dev linux-libc-dev)
    mkdir -p "$root$gcc"
    touch "$root$gcc/crtbegin.o" # by its place clang knows which GCC's headers to take
    # Of netfilter's some differ by upper and lower case alone, which a .vsix cannot hold.
    dpkg-query --listfiles "${origins[@]}" | grep '^/usr/include/' | grep -v '/linux/netfilter' | sort -u |
        while read -r file; do [[ ! -f $file ]] || echo ".$file"; done |
        tar -C / --create --dereference --files-from=- | tar -C "$root" --extract
    copy_licenses "$tree" "${origins[@]}"
}

# pack_tree TREE ARCHIVE [XZ_LEVEL]: the archive's ending says how it is compressed. xz works on all cores; level 5, the
# default here, makes 54 MB of 268 MB in 160 CPU seconds. Level 9 takes longer for 1 % less.
pack_tree() {
    local tree=$1 archive=$2 level=${3:-5}
    local tar=(tar -C "$(dirname "$tree")" --owner=0 --group=0 --sort=name --mtime="@$(git log -1 --format=%ct)")
    case $archive in
        *.xz) "${tar[@]}" -I "xz -T0 -$level" -cf "$archive" "$(basename "$tree")" ;;
        *) "${tar[@]}" -caf "$archive" "$(basename "$tree")" ;;
    esac
    ls -l "$archive"
}
