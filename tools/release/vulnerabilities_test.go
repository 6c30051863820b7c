// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// advisory is a vulnerability of all versions of a package.
type advisory struct{ ecosystem, name string }

// TestKnownVulnerabilitiesFail runs the real scanner with databases made here. Only that of Go is not asked: its check takes minutes.
func TestKnownVulnerabilitiesFail(t *testing.T) {
	const none, clean = "NOT CHECKED", "vulnerabilities: none known in what is shipped"
	for _, test := range []struct {
		name          string
		advisory      advisory
		env           []string // in place of a database
		fails         bool
		want, wantNot string
	}{
		{name: "none", advisory: advisory{"npm", "left-pad"}, want: clean, wantNot: "TEST-2026-0001"},
		{name: "page", advisory: advisory{"npm", "preact"}, fails: true, want: "TEST-2026-0001", wantNot: clean},
		{
			name: "extension of the SDK", advisory: advisory{"Maven", "io.opentelemetry:opentelemetry-sdk-extension-autoconfigure"},
			fails: true, want: "TEST-2026-0001", wantNot: clean,
		},
		{name: "programs of tests", advisory: advisory{"Maven", "org.apache.lucene:lucene-core"}, want: "TEST-2026-0001", wantNot: none},
		{name: "no network", env: []string{"HTTPS_PROXY=http://127.0.0.1:1"}, want: "NOT CHECKED: cannot reach the database of OSV", wantNot: clean},
		{
			name: "no network, required", env: []string{"HTTPS_PROXY=http://127.0.0.1:1", "VULNERABILITIES=required"},
			fails: true, want: "FAILED: cannot reach the database of OSV", wantNot: clean,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command(filepath.Join(repository(t), "scripts/vulnerabilities.sh"))
			cmd.Env = append(os.Environ(), "GO="+goWithoutGovulncheck(t), "VULNERABILITIES=")
			if test.env == nil {
				cmd.Env = append(cmd.Env, "OSV_SCALIBR_LOCAL_DB_CACHE_DIRECTORY="+databaseOf(t, test.advisory))
			}
			cmd.Env = append(cmd.Env, test.env...)
			out, err := cmd.CombinedOutput()
			assert.Equal(t, test.fails, err != nil, "%s", out)
			assert.Contains(t, string(out), test.want)
			assert.NotContains(t, string(out), test.wantNot)
		})
	}
}

// goWithoutGovulncheck is a program that runs Go's tools except that one, which finds nothing.
func goWithoutGovulncheck(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "go")
	script := "#!/bin/sh\ncase $* in *govulncheck*) exit 0 ;; esac\nexec go \"$@\"\n"
	require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
	return path
}

// databaseOf writes a database with one advisory, in the form that OSV publishes.
func databaseOf(t *testing.T, a advisory) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, ecosystem := range []string{"npm", "Maven"} {
		folder := filepath.Join(dir, "osv-scalibr", ecosystem)
		require.NoError(t, os.MkdirAll(folder, 0o700))
		file, err := os.Create(filepath.Join(folder, "all.zip"))
		require.NoError(t, err)
		archive := zip.NewWriter(file)
		if ecosystem == a.ecosystem {
			entry, err := archive.Create("TEST-2026-0001.json")
			require.NoError(t, err)
			require.NoError(t, json.NewEncoder(entry).Encode(map[string]any{
				"schema_version": "1.6.0", "id": "TEST-2026-0001", "modified": "2026-01-01T00:00:00Z", "summary": "made for a test",
				"affected": []any{map[string]any{
					"package": map[string]any{"ecosystem": a.ecosystem, "name": a.name},
					"ranges":  []any{map[string]any{"type": "ECOSYSTEM", "events": []any{map[string]any{"introduced": "0"}}}},
				}},
			}))
		}
		require.NoError(t, archive.Close())
		require.NoError(t, file.Close())
	}
	return dir
}
