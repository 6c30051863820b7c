#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# sbom.sh FILE writes a bill of materials in CycloneDX's form: all modules that the full distribution may contain, the packages of the page
# and of its build, and the libraries of the extension for OpenTelemetry's SDK. It needs no network: vulnerabilities are another question.
set -eu

cd "$(dirname "$0")/.."
GO=${GO:-go}
none=$(mktemp -d)
trap 'rm -rf "$none"' EXIT
for ecosystem in Go npm Maven; do
    mkdir -p "$none/osv-scalibr/$ecosystem"
    printf 'PK\005\006\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >"$none/osv-scalibr/$ecosystem/all.zip" # an archive without files
done
export OSV_SCALIBR_LOCAL_DB_CACHE_DIRECTORY="$none"
"$GO" tool -modfile="$PWD/tools/vulnerabilities/go.mod" osv-scanner scan source --offline --all-packages --verbosity error \
    --no-call-analysis=go --format cyclonedx-1-6 --lockfile=build/collector-full/go.mod --lockfile=web/package-lock.json --lockfile=agent/otel/pom.xml >"$none/sbom"
sed 's,"\.\./\.\.","github.com/weft-otel/weft",; s,pkg:golang/\.\./\.\.,pkg:golang/github.com/weft-otel/weft,' "$none/sbom" >"$1"
