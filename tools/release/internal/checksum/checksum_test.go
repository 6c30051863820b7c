// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package checksum

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// run runs one of the programs with which users verify a download.
func run(t *testing.T, dir, program string, args ...string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	t.Logf("%v: %s", cmd.Args, out)
	return err
}

// TestChangesAreFound signs with a key made by openssl, and verifies with sha256sum and openssl.
func TestChangesAreFound(t *testing.T) {
	dir, keys := t.TempDir(), t.TempDir()
	key, public, signature := filepath.Join(keys, "key.pem"), filepath.Join(keys, "public.pem"), filepath.Join(keys, "signature")
	require.NoError(t, run(t, keys, "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key))
	require.NoError(t, run(t, keys, "openssl", "pkey", "-in", key, "-pubout", "-out", public))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "maven"), 0o755))
	file := filepath.Join(dir, "maven", "weft-otel.jar")
	require.NoError(t, os.WriteFile(file, []byte("jar"), 0o600))

	require.NoError(t, Write(dir))
	require.NoError(t, Sign(dir, key))
	require.NoError(t, Write(dir), "again: neither lists itself")
	text, err := os.ReadFile(filepath.Join(dir, Signature))
	require.NoError(t, err)
	binary, err := base64.StdEncoding.DecodeString(string(text))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(signature, binary, 0o600))
	verify := []string{"dgst", "-sha256", "-verify", public, "-signature", signature, Sums}
	require.NoError(t, run(t, dir, "openssl", verify...))
	require.NoError(t, run(t, dir, "sha256sum", "--strict", "--check", Sums))

	require.NoError(t, os.WriteFile(file, []byte("other"), 0o600))
	require.Error(t, run(t, dir, "sha256sum", "--strict", "--check", Sums))
	require.NoError(t, Write(dir))
	require.Error(t, run(t, dir, "openssl", verify...), "the sums of somebody else")
}

func TestRefusesOtherKeys(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir))
	key := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, run(t, dir, "openssl", "genpkey", "-algorithm", "ED25519", "-out", key))
	require.ErrorContains(t, Sign(dir, key), "want an ECDSA key on P-256")
	require.NoError(t, os.WriteFile(key, []byte("no key"), 0o600))
	require.ErrorContains(t, Sign(dir, key), "not a PEM file")
	assert.NoFileExists(t, filepath.Join(dir, Signature))
}
