#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# help.sh MAKEFILE lists the targets that have a description after ##.
set -eu

awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## / { printf "  %-12s %s\n", $1, $2 }' "$1"
