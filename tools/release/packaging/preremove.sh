#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# Before a removal ($1: 0 or remove), not before an upgrade.
set -e

case $1 in
0 | remove)
    if [ -d /run/systemd/system ]; then
        systemctl disable --now weft-collector.service
    fi
    ;;
esac
