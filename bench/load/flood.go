// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// floodText is the size of a definition of a flood in bytes.
const floodText = 1 << 10

// Flood is a session that has no events but defines classes, of so many bytes altogether, until ctx ends. A hostile JVM does that, or one that
// makes classes in a loop. Flood returns an error if the receiver refuses or ends the session.
func Flood(ctx context.Context, network, socket string, bytes int) error {
	conn, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, network, socket)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // nothing is to be delivered
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	go func() { _, _ = io.Copy(io.Discard, conn) }() // the welcome
	run := NewRun("flood")
	if _, err := conn.Write(run.greeting(0)); err != nil {
		return err
	}
	class := jvmthread.ClassID(0)
	var frames []byte
	for ctx.Err() == nil {
		frames = frames[:0]
		for range 64 {
			class++
			name := fmt.Sprintf("com.acme.Generated%d%s", class, strings.Repeat("x", floodText))
			frames = wire.AppendClass(frames, wire.Class{ID: class, Name: name})
		}
		if _, err := conn.Write(frames); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if int(class)*floodText > bytes {
			class = 0 // it remains connected
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Second):
			}
		}
	}
	return nil
}
