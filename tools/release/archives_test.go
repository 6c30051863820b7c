// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"debug/macho"
	"debug/pe"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/tools/release/internal/checksum"
)

// unpacked unpacks an archive of the release and returns its one folder.
func unpacked(t *testing.T, r release, name string) string {
	t.Helper()
	dir, path := t.TempDir(), filepath.Join(r.out, name)
	if filepath.Ext(name) == ".zip" {
		output(t, dir, nil, "unzip", "-q", path)
	} else {
		output(t, dir, nil, "tar", "-xzf", path)
	}
	return only(t, dir, "*")
}

func TestArchivesRun(t *testing.T) {
	r := built(t)
	suffix := "_" + r.version + "_linux_" + runtime.GOARCH + ".tar.gz"
	command := unpacked(t, r, "weft"+suffix)
	assert.Contains(t, output(t, command, nil, "./weft", "version"), r.version)
	assert.Contains(t, output(t, command, nil, "./weft", "summary", r.repo("internal/recording/jfr/testdata/notifies-jdk17.jfr.gz")), "Notifies")
	assert.FileExists(t, filepath.Join(command, "LICENSE"))
	assert.FileExists(t, filepath.Join(command, "README.md"))
	for _, name := range collectors {
		dir := unpacked(t, r, name+suffix)
		assert.Contains(t, output(t, dir, nil, "./"+name, "--version"), r.version)
		output(t, dir, nil, "./"+name, "validate", "--config=config/all-in-one.yaml")
	}
	agent := unpacked(t, r, "weft-agent_"+r.version+"_linux.tar.gz")
	libraries, err := filepath.Glob(filepath.Join(agent, "libweft-linux-*.so"))
	require.NoError(t, err)
	assert.Len(t, libraries, 4, "two processors, two libcs")
	recording := filepath.Join(t.TempDir(), "version.weft")
	output(t, agent, nil, "java", "-agentpath:"+filepath.Join(agent, "libweft-linux-"+machine(runtime.GOARCH)+".so")+"=file="+recording, "-version")
	assert.Contains(t, output(t, command, nil, "./weft", "summary", recording), "events")
}

// TestCommandsForOtherSystems checks the kind of the programs that this machine cannot run.
func TestCommandsForOtherSystems(t *testing.T) {
	r := built(t)
	darwin := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}
	windows := map[string]uint16{"amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64}
	for _, processor := range r.processors {
		mac, err := macho.Open(filepath.Join(unpacked(t, r, "weft_"+r.version+"_darwin_"+processor+".tar.gz"), "weft"))
		require.NoError(t, err)
		assert.Equal(t, darwin[processor], mac.Cpu)
		require.NoError(t, mac.Close())
		win, err := pe.Open(filepath.Join(unpacked(t, r, "weft_"+r.version+"_windows_"+processor+".zip"), "weft.exe"))
		require.NoError(t, err)
		assert.Equal(t, windows[processor], win.Machine)
		require.NoError(t, win.Close())
	}
}

// TestReleaseIsVerified checks the release with the programs of its users, after a copy of its sums is signed with a key of this test.
func TestReleaseIsVerified(t *testing.T) {
	r := built(t)
	output(t, r.out, nil, "sha256sum", "--quiet", "--strict", "--check", checksum.Sums)
	for _, name := range []string{"weft.cdx.json", "maven/io/github/weft-otel/weft-otel/" + r.version + "/weft-otel-" + r.version + ".jar"} {
		assert.Contains(t, read(t, filepath.Join(r.out, checksum.Sums)), "  "+name+"\n")
	}
	var sbom struct {
		BOMFormat  string `json:"bomFormat"`
		Components []any  `json:"components"`
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, filepath.Join(r.out, "weft.cdx.json"))), &sbom))
	assert.Equal(t, "CycloneDX", sbom.BOMFormat)
	assert.Greater(t, len(sbom.Components), 100)

	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	text := read(t, filepath.Join(r.out, checksum.Sums))
	require.NoError(t, os.WriteFile(filepath.Join(dir, checksum.Sums), []byte(text), 0o600))
	require.NoError(t, checksum.Sign(dir, file))
	signature, err := base64.StdEncoding.DecodeString(read(t, filepath.Join(dir, checksum.Signature)))
	require.NoError(t, err)
	hash := sha256.Sum256([]byte(text))
	assert.True(t, ecdsa.VerifyASN1(&key.PublicKey, hash[:], signature))
}
