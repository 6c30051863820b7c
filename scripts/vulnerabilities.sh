#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# vulnerabilities.sh compares all dependencies with the databases of known vulnerabilities. What users run fails if it has one: the Go code
# that the programs reach (govulncheck), the page and the extension for OpenTelemetry's SDK (OSV). Those of tests and developers' tools are
# only printed. If a database cannot be reached, its check is skipped with one line, unless VULNERABILITIES=required.
#
# GOVULNDB is the address of Go's database, also file:///path. OSV_SCALIBR_LOCAL_DB_CACHE_DIRECTORY is a folder with copies of
# OSV's, osv-scalibr/ECOSYSTEM/all.zip.
set -eu

cd "$(dirname "$0")/.."
GO=${GO:-go}
modfile=$PWD/tools/vulnerabilities/go.mod
out=$(mktemp)
trap 'rm -f "$out"' EXIT
status=0

# unreachable reports whether a connection is missing, rather than that a server has answered with an error.
unreachable() {
    grep -qE 'dial (tcp|udp)|no such host|network is unreachable|connection (refused|reset)|i/o timeout|TLS handshake timeout|Client.Timeout' "$out"
}

unchecked= # databases that cannot be reached
skip() {
    if [ "${VULNERABILITIES:-}" = required ]; then
        echo "vulnerabilities: FAILED: cannot reach the database of $1" >&2
        exit 1
    fi
    echo "vulnerabilities: NOT CHECKED: cannot reach the database of $1 (VULNERABILITIES=required makes this an error)" >&2
    unchecked="$unchecked $1"
}

govulncheck() {
    case $unchecked in *Go*) return 0 ;; esac
    "$GO" tool -modfile="$modfile" govulncheck ${GOVULNDB:+-db "$GOVULNDB"} "$@" >"$out" 2>&1 || {
        code=$?
        unreachable && skip Go && return 0
        return $code
    }
}

# What is shipped. The full distribution has the dependencies of both, once it was generated.
while read -r dir packages; do
    [ -f "$dir/go.mod" ] || continue
    govulncheck -C "$dir" "$packages" </dev/null || { echo "vulnerabilities: in $dir:" >&2 && cat "$out" >&2 && status=1; }
done <<'EOF'
. ./...
build/collector-full ./...
tools/release ./agentcopy
EOF

# Tools of developers.
while read -r dir packages; do
    govulncheck -C "$dir" -format text "$packages" </dev/null || {
        echo "vulnerabilities: in $dir, which is not shipped:"
        grep -E '^Vulnerability|^ +(Found|Fixed) in' "$out" || cat "$out"
    }
done <<'EOF'
tools tool
tools/k8s tool
tools/lint tool
tools/vale tool
tools/release ./...
EOF

# files lists what OSV-Scanner reads, below folders.
files() {
    find "$@" \( -name node_modules -o -name build \) -prune -o \( -name package-lock.json -o -name pom.xml \) -print | sort
}

osv() {
    case $unchecked in *OSV*) return 0 ;; esac
    arguments=
    for file in $(files "$@"); do arguments="$arguments --lockfile=$file"; done
    # shellcheck disable=SC2086 # words
    "$GO" tool -modfile="$modfile" osv-scanner scan source ${OSV_SCALIBR_LOCAL_DB_CACHE_DIRECTORY:+--offline} $arguments >"$out" 2>&1 || {
        code=$?
        unreachable && skip OSV && return 0
        return $code
    }
}

osv web agent/otel || { cat "$out" >&2 && status=1; }
osv config e2e bench || { echo "vulnerabilities: in programs of tests, which are not shipped:" && cat "$out"; }
[ "$status$unchecked" != 0 ] || echo "vulnerabilities: none known in what is shipped"
exit "$status"
