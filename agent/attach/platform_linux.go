// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// PlatformOf returns the platform of a JVM, which may differ from that of this program in a container.
func PlatformOf(pid int) (Platform, error) {
	p, err := findProcess(pid)
	if err != nil {
		return Platform{}, err
	}
	defer p.close()
	platform, err := p.platform()
	if err != nil {
		return Platform{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return platform, nil
}

func (p *process) platform() (Platform, error) {
	if p.images.libc == "" {
		return Platform{}, errors.New("it uses neither glibc nor musl; the agent supports these only")
	}
	f, err := p.openImage()
	if err != nil {
		return Platform{}, fmt.Errorf("open %s: %w", p.images.jvm.path, err)
	}
	defer func() { _ = f.Close() }() // it was read only
	header, err := elf.NewFile(&budget{f, maxRead})
	if err != nil {
		return Platform{}, fmt.Errorf("%s: %w", f.Name(), err)
	}
	machine, err := machineOf(header)
	return Platform{Machine: machine, Libc: p.images.libc}, err
}

// openImage opens libjvm.so, or else the program, whose file the kernel keeps: an upgrade has removed libjvm.so. The program is the second
// choice since that of an emulated JVM is the emulator.
func (p *process) openImage() (*os.File, error) {
	f, err := p.openInside(p.inside(p.images.jvm.path))
	if err == nil {
		return f, nil
	}
	fd, other := unix.Openat(int(p.proc.Fd()), "exe", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if other != nil {
		return nil, errors.Join(err, other)
	}
	return os.NewFile(uintptr(fd), "exe"), nil
}

// openInside opens a regular file in the process's root.
func (p *process) openInside(path string) (*os.File, error) {
	fd, err := p.root.open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close() // it was read only
		return nil, errors.Join(err, fmt.Errorf("%s is not a regular file", path))
	}
	return f, nil
}
