#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# emulate.sh PROGRAM ARGUMENT... runs a program for aarch64, on one processor: qemu does not keep the order in which its threads
# store and load (docs/adr/047-one-processor-for-emulated-programs.md).
set -eu
"$(dirname "$0")/need.sh" qemu-aarch64 taskset
first=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
exec taskset -c "$first" qemu-aarch64 -L /usr/aarch64-linux-gnu "$@"
