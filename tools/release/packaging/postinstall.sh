#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# After an installation ($1: 1 or configure) or an upgrade (2, or configure and the old version). The service is not enabled: whoever
# installs it decides when it starts. A running one is restarted.
set -e

if command -v systemd-sysusers >/dev/null 2>&1; then
    systemd-sysusers /usr/lib/sysusers.d/weft-collector.conf
elif ! getent passwd weft >/dev/null; then
    getent group weft >/dev/null || groupadd --system weft
    useradd --system --gid weft --home-dir /var/lib/weft --no-create-home --shell /usr/sbin/nologin weft
fi
chown root:weft /etc/weft/collector.yaml /etc/weft/collector.env
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl try-restart weft-collector.service
fi
