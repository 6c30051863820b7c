#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# prose.sh lists the files whose prose is checked: documents, and sources for their comments, but no generated ones.
set -eu

cd "$(dirname "$0")/.."
find . -type d \( -name node_modules -o -name build -o -name dist -o -name testdata -o -path './.*' \) -prune -o -type f \
    \( -name '*.md' -o -name '*.go' -o -name '*.c' -o -name '*.h' -o -name '*.ts' -o -name '*.tsx' -o -name '*.java' \) -print |
    xargs grep -LE 'Code generated .* DO NOT EDIT'
