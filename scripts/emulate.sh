#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# emulate.sh PROGRAM ARGUMENT... runs a program for aarch64, on one processor: qemu 7.2 lets a load-acquire overtake an earlier
# store-release to another address, which Arm forbids (make -C agent store-buffering). Java's ForkJoinPool and the agent rely on that order.
set -eu
"$(dirname "$0")/need.sh" qemu-aarch64 taskset
first=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
exec taskset -c "$first" qemu-aarch64 -L /usr/aarch64-linux-gnu "$@"
