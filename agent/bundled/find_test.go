// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package bundled

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/agent/attach"
)

// writeELF writes a file that requests an interpreter.
func writeELF(t *testing.T, path string, machine elf.Machine, interpreter string) {
	t.Helper()
	const header, segment = 64, 56
	content, err := binary.Append(nil, binary.LittleEndian, elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_DYN), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
		Phoff: header, Ehsize: header, Phentsize: segment, Phnum: 1,
	})
	require.NoError(t, err)
	content, err = binary.Append(content, binary.LittleEndian, elf.Prog64{
		Type: uint32(elf.PT_INTERP), Off: header + segment, Filesz: uint64(len(interpreter)),
	})
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, append(content, interpreter...), 0o600))
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(t.TempDir())
	program := filepath.Join(dir, "bin", "weft")
	gnu, alpine := attach.Platform{Machine: "x86_64", Libc: "glibc"}, attach.Platform{Machine: "x86_64", Libc: "musl"}
	_, err := find(places(program, gnu), gnu)
	require.ErrorContains(t, err, "no agent for linux-x86_64 at "+dir+"/bin/libweft.so, ")
	require.ErrorContains(t, err, "make dist")

	writeELF(t, "build/libweft.so", elf.EM_X86_64, "/lib64/ld-linux-x86-64.so.2")
	file, err := find(places(program, gnu), gnu)
	require.NoError(t, err)
	assert.True(t, filepath.IsAbs(file))
	_, err = find(places(program, alpine), alpine)
	require.ErrorContains(t, err, "build/libweft.so is for linux-x86_64")

	writeELF(t, filepath.Join(dir, "bin/dist/libweft-linux-musl-x86_64.so"), elf.EM_X86_64, "/lib/ld-musl-x86_64.so.1")
	file, err = find(places(program, alpine), alpine)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "bin/dist/libweft-linux-musl-x86_64.so"), file)

	writeELF(t, filepath.Join(dir, "lib/libweft.so"), elf.EM_X86_64, "/lib64/ld-linux-x86-64.so.2")
	file, err = find(places(program, gnu), gnu)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "lib/libweft.so"), file)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "bin/libweft.so"), []byte("#!/bin/sh\n"), 0o600))
	_, err = find(places(program, attach.Platform{Machine: "aarch64", Libc: "musl"}), attach.Platform{Machine: "aarch64", Libc: "musl"})
	require.ErrorContains(t, err, "bin/libweft.so: not an ELF program")
}
