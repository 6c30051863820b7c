#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# need.sh PROGRAM... checks that programs are installed. As root with apt-get it installs missing ones; otherwise it prints
# one line with the packages to install.
set -eu

package_of() {
    case $1 in
    cc | gcc) echo gcc libc6-dev ;;
    java | javac | jar) echo default-jdk-headless ;;
    llvm-strip) echo llvm ;;
    mvn) echo maven ;;
    npm | node) echo npm ;;
    nsenter | taskset | unshare) echo util-linux ;;
    pip3) echo python3-pip ;;
    qemu-aarch64) echo qemu-user libc6-arm64-cross ;;
    promtool) echo prometheus ;;
    amtool) echo prometheus-alertmanager ;;
    *) echo "$1" ;;
    esac
}

missing() {
    for program in "$@"; do
        command -v "$program" >/dev/null 2>&1 || printf ' %s' "$(package_of "$program")"
    done
}

packages=$(missing "$@")
[ -n "$packages" ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "need.sh: installing$packages" >&2
    export DEBIAN_FRONTEND=noninteractive
    # Tests of several packages may run this concurrently: one waits for the other.
    install="apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=1200 -o Acquire::Retries=3 $packages"
    # shellcheck disable=SC2086 # words
    $install >/dev/null 2>&1 || "$(dirname "$0")/retry.sh" sh -c "apt-get update -qq >/dev/null; $install >/dev/null" || true
    packages=$(missing "$@")
    [ -n "$packages" ] || exit 0
fi
echo "need.sh: please install:$packages" >&2
exit 1
