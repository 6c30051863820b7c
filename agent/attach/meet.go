// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"context"
	"net"
	"os"
	"sync"
)

// Meeting is a Unix socket at which the agent of one JVM reaches this program, also from a container. It belongs to the JVM's user, so that the
// agent trusts it, and only that user can connect.
type Meeting struct {
	Listener net.Listener
	Endpoint string // for the agent's option endpoint

	remove func()
	once   sync.Once
}

// Listen opens a socket in the JVM's /tmp, with the rights of the JVM's user.
func Listen(ctx context.Context, pid int) (*Meeting, error) { return listen(ctx, pid) }

// Close closes the listener and removes the socket.
func (m *Meeting) Close() {
	m.once.Do(func() {
		_ = m.Listener.Close() // it may have been closed
		m.remove()
	})
}

// Recording is a file in the JVM's /tmp into which the agent records. It is read through File, whatever happens to its name.
type Recording struct {
	File *os.File
	Path string // for the agent's option file

	remove func()
	once   sync.Once
}

// CreateRecording creates an empty file, with the rights of the JVM's user.
func CreateRecording(ctx context.Context, pid int) (*Recording, error) {
	return createRecording(ctx, pid)
}

// Unlink removes the name, once the agent has opened the file: nothing stays if this program is killed.
func (r *Recording) Unlink() { r.once.Do(r.remove) }

// Close removes the name and closes the file.
func (r *Recording) Close() error {
	r.Unlink()
	return r.File.Close()
}
