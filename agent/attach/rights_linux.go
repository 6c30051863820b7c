// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asUser calls fn with the rights of the JVM's user and groups, so that root creates, removes and connects to nothing that this user could
// not. Only one thread changes; it ends with fn, so nothing has to be restored. Its real user stays root: the JVM's user cannot signal or
// trace it.
func (p *process) asUser(ctx context.Context, fn func() (Result, error)) (Result, error) {
	type outcome struct {
		result Result
		err    error
	}
	done := make(chan outcome, 1)
	onOwnThread(func() {
		var o outcome
		if o.err = p.assume(); o.err == nil {
			o.result, o.err = fn()
		}
		done <- o
	})
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
	}
	const cleanUp = time.Second // fn ends by itself, unless a file system of the JVM's user does not answer
	select {
	case o := <-done:
		return o.result, o.err
	case <-time.After(cleanUp):
		return Result{}, ctx.Err()
	}
}

// onOwnThread calls fn in a goroutine with a thread that ends with it. That is never the main thread, which Go does not end: it would keep what fn
// changes, and the whole process would be shown with it.
func onOwnThread(fn func()) {
	go func() {
		runtime.LockOSThread() // without unlock: Go ends the thread
		if unix.Gettid() != os.Getpid() {
			fn()
			return
		}
		defer runtime.UnlockOSThread()
		begun := make(chan struct{})
		go func() { // on another thread, since this one is locked
			runtime.LockOSThread()
			close(begun)
			fn()
		}()
		<-begun
	}()
}

// assume gives up the rights that the JVM's user does not have. The functions of package syscall would change all threads.
func (p *process) assume() error {
	if os.Geteuid() != 0 {
		return nil // inspect has compared the users
	}
	const keep = ^uintptr(0)
	groups := make([]uint32, len(p.groups)+1) // not empty: it has an address
	for i, group := range p.groups {
		groups[i] = uint32(group)
	}
	_, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(p.groups)), uintptr(unsafe.Pointer(&groups[0])), 0) //nolint:gosec // Go has no other way to change one thread
	if errno == 0 {
		_, _, errno = unix.RawSyscall(unix.SYS_SETRESGID, keep, uintptr(p.gid), keep)
	}
	if p.uid != 0 && errno == 0 {
		_, _, errno = unix.RawSyscall(unix.SYS_SETRESUID, keep, uintptr(p.uid), keep)
	}
	if errno != 0 && (p.uid != 0 || !errors.Is(errno, unix.EPERM)) { // root without capabilities has no rights to give up
		return fmt.Errorf("process %d: %w: cannot become user %d: %w", p.pid, ErrPermission, p.uid, errno)
	}
	// Root keeps its capabilities where the JVM's user is root, too, who may have fewer in a container.
	var none [2]unix.CapUserData
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("process %d: %w: cannot give up capabilities: %w", p.pid, ErrPermission, err)
	}
	return nil
}
