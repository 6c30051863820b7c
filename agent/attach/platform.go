// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// Platform is what a library must match to be loaded into a process.
type Platform struct {
	Machine string // as uname -m prints it: x86_64 or aarch64
	Libc    string // glibc or musl
}

// String is the platform as in the names of the agent's builds, such as linux-musl-x86_64.
func (p Platform) String() string {
	if p.Libc == musl {
		return "linux-musl-" + p.Machine
	}
	return "linux-" + p.Machine
}

const (
	x8664   = "x86_64"
	aarch64 = "aarch64"
	glibc   = "glibc"
	musl    = "musl"
)

// PlatformOfProgram returns the platform of a program, such as java, or of a shared library.
func PlatformOfProgram(file string) (Platform, error) {
	f, err := os.Open(file)
	if err != nil {
		return Platform{}, err
	}
	defer func() { _ = f.Close() }() // it was read only
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Platform{}, errors.Join(err, fmt.Errorf("%s is not a regular file; give the path of a program or library", file))
	}
	p, err := platformOfELF(f)
	if err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// maxRead bounds what is read of an ELF file, in bytes: tables, but no code.
const maxRead = 8 << 20

// budget is a reader that fails once it has read enough.
type budget struct {
	from io.ReaderAt
	left int64
}

var errBudget = fmt.Errorf("its tables have more than %d bytes", maxRead)

func (b *budget) ReadAt(p []byte, off int64) (int, error) {
	if int64(len(p)) > b.left {
		return 0, errBudget
	}
	b.left -= int64(len(p))
	return b.from.ReadAt(p, off)
}

func platformOfELF(r io.ReaderAt) (Platform, error) {
	f, err := elf.NewFile(&budget{r, maxRead})
	if err != nil {
		return Platform{}, fmt.Errorf("not an ELF program: %w; give the path of the program itself, not of a script", err)
	}
	machine, err := machineOf(f)
	if err != nil {
		return Platform{}, err
	}
	names, err := f.ImportedLibraries() // shared libraries name no interpreter
	if err != nil {
		return Platform{}, fmt.Errorf("its dependencies: %w", err)
	}
	names = append(names, interpreter(f))
	for _, libc := range []string{musl, glibc} {
		if slices.ContainsFunc(names, func(name string) bool { return libcOf(path.Base(name)) == libc }) {
			return Platform{Machine: machine, Libc: libc}, nil
		}
	}
	return Platform{}, errors.New("it uses neither glibc nor musl; the agent supports these only")
}

func machineOf(f *elf.File) (string, error) {
	switch f.Machine {
	case elf.EM_X86_64:
		return x8664, nil
	case elf.EM_AARCH64:
		return aarch64, nil
	default:
		return "", fmt.Errorf("it is for %v; the agent supports %s and %s", f.Machine, x8664, aarch64)
	}
}

// interpreter returns the path of the dynamic linker that a program requests, or nothing.
func interpreter(f *elf.File) string {
	const longest = 4096 // PATH_MAX
	for _, segment := range f.Progs {
		if segment.Type == elf.PT_INTERP && segment.Filesz < longest {
			name, err := io.ReadAll(segment.Open())
			if err == nil {
				return strings.TrimRight(string(name), "\x00")
			}
		}
	}
	return ""
}

// libcOf returns the C library to which a file name belongs, or nothing. On musl, the dynamic linker is the library.
func libcOf(base string) string {
	switch {
	case strings.HasPrefix(base, "ld-musl-"), strings.HasPrefix(base, "libc.musl-"), base == "libc.so":
		return musl
	case base == "libc.so.6", strings.HasPrefix(base, "ld-linux"), strings.HasPrefix(base, "libc-2."), strings.HasPrefix(base, "ld-2."):
		return glibc
	default:
		return ""
	}
}
