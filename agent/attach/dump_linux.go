// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"context"
	"fmt"
	"io"
	"net"
)

func canDump(pid int) error {
	p, err := findProcess(pid)
	if err != nil {
		return err
	}
	defer p.close()
	dir, err := p.openTmp()
	if err != nil {
		return err
	}
	defer dir.close()
	_, err = p.canListen(dir)
	return err
}

func dump(ctx context.Context, pid int, out io.Writer) error {
	p, err := findProcess(pid)
	if err != nil {
		return err
	}
	var conn net.Conn
	// The JVM checks who connects, not who reads.
	_, err = p.asUser(ctx, func() (Result, error) {
		defer p.close()
		dir, err := p.openTmp()
		if err != nil {
			return Result{}, err
		}
		defer dir.close()
		if err = p.listen(ctx, dir); err != nil {
			return Result{}, err
		}
		conn, err = p.connect(ctx, dir)
		return Result{}, err
	})
	if err != nil {
		return err
	}
	if err := askDump(ctx, conn, out); err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	return nil
}

func askDump(ctx context.Context, conn net.Conn, out io.Writer) error {
	return ask(ctx, conn, func(reply io.Reader) error { return copyDump(out, reply) }, "threaddump", "-l", "", "")
}
