// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// CanDump returns why a JVM does not answer Dump, or nil. It sends nothing to the JVM.
func CanDump(pid int) error { return canDump(pid) }

// Dump writes a thread dump with owned synchronizers, as jstack -l prints it, to out. The JVM makes it itself: nothing is loaded into it. The
// context bounds the wait; without a deadline it may last forever.
func Dump(ctx context.Context, pid int, out io.Writer) error { return inTime(pid, dump(ctx, pid, out)) }

// copyDump copies HotSpot's answer to threaddump without its first line, which is 0 if it accepted the command.
func copyDump(out io.Writer, reply io.Reader) error {
	var status [2]byte
	switch n, err := io.ReadFull(reply, status[:]); {
	case n == 0 && errors.Is(err, io.EOF):
		return errors.New("the JVM closed the connection without an answer; check whether it has exited")
	case string(status[:]) != "0\n":
		const most = 256 // bytes of an answer that a user reads
		rest, err := io.ReadAll(io.LimitReader(reply, most))
		text := strings.Join(strings.Fields(string(status[:n])+string(rest)), " ")
		return errors.Join(err, fmt.Errorf("the JVM refused to print a thread dump: %q", text))
	}
	n, err := io.Copy(out, reply)
	if n == 0 && err == nil {
		err = errors.New("the JVM printed an empty thread dump; check whether it has exited")
	}
	return err
}
