#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# After a removal. The user stays, since its files may: a later user with the same number would own them.
set -e

if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
fi
case $1 in
purge) rm -rf /var/lib/weft ;;
esac
