// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// program returns a program that consists of the request for an interpreter.
func program(machine elf.Machine, interpreter string) []byte {
	const header, segment = 64, 56
	file, _ := binary.Append(nil, binary.LittleEndian, elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
		Phoff: header, Ehsize: header, Phentsize: segment, Phnum: 1,
	})
	file, _ = binary.Append(file, binary.LittleEndian, elf.Prog64{
		Type: uint32(elf.PT_INTERP), Off: header + segment, Filesz: uint64(len(interpreter) + 1),
	})
	return append(append(file, interpreter...), 0)
}

func TestPlatformOfProgram(t *testing.T) {
	for _, c := range []struct {
		machine           elf.Machine
		interpreter, want string
	}{
		{elf.EM_X86_64, "/lib64/ld-linux-x86-64.so.2", "linux-x86_64"},
		{elf.EM_AARCH64, "/lib/ld-linux-aarch64.so.1", "linux-aarch64"},
		{elf.EM_X86_64, "/lib/ld-musl-x86_64.so.1", "linux-musl-x86_64"},
		{elf.EM_AARCH64, "/lib/ld-musl-aarch64.so.1", "linux-musl-aarch64"},
		{elf.EM_S390, "/lib/ld64.so.1", "it is for EM_S390; the agent supports x86_64 and aarch64"},
		{elf.EM_X86_64, "/system/bin/linker64", "it uses neither glibc nor musl"},
	} {
		file := filepath.Join(t.TempDir(), "java")
		require.NoError(t, os.WriteFile(file, program(c.machine, c.interpreter), 0o600))
		got, err := PlatformOfProgram(file)
		if err != nil {
			require.ErrorContains(t, err, file+": "+c.want)
			continue
		}
		assert.Equal(t, c.want, got.String())
	}
	script := filepath.Join(t.TempDir(), "java")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600))
	_, err := PlatformOfProgram(script)
	require.ErrorContains(t, err, "not of a script")
	_, err = PlatformOfProgram(t.TempDir())
	require.ErrorContains(t, err, "not a regular file")
	_, err = PlatformOfProgram(script + ".none")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A file may claim tables of any size.
func TestLittleIsReadOfPrograms(t *testing.T) {
	file := program(elf.EM_X86_64, "/lib64/ld-linux-x86-64.so.2")
	binary.LittleEndian.PutUint64(file[40:], uint64(len(file))) // offset of the section headers
	binary.LittleEndian.PutUint16(file[58:], 64)                // size of each
	binary.LittleEndian.PutUint16(file[60:], 2)                 // number
	binary.LittleEndian.PutUint16(file[62:], 1)                 // which one has the names of the others
	file, _ = binary.Append(file, binary.LittleEndian, [2]elf.Section64{1: {Type: uint32(elf.SHT_STRTAB), Size: 1 << 30}})
	_, err := platformOfELF(zeros{bytes.NewReader(file)})
	require.ErrorIs(t, err, errBudget)
}

// zeros is a file with zeros after its content, without end.
type zeros struct{ *bytes.Reader }

func (z zeros) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	_, _ = z.Reader.ReadAt(p, off) // what is missing is zero
	return len(p), nil
}

func FuzzPlatform(f *testing.F) {
	f.Add(program(elf.EM_X86_64, "/lib64/ld-linux-x86-64.so.2"))
	f.Add(program(elf.EM_AARCH64, "/lib/ld-musl-aarch64.so.1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := platformOfELF(bytes.NewReader(data)); err == nil {
			require.Contains(t, []string{x8664, aarch64}, p.Machine)
			require.Contains(t, []string{glibc, musl}, p.Libc)
		}
	})
}
