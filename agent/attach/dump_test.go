// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package attach

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadtest"
)

// A JVM gets the command in version 1 of the protocol, with three arguments. Its answer may be longer than that to load.
func TestDumpOfAJVM(t *testing.T) {
	p := processIn(t, threadtest.SocketDir(t))
	listener, err := net.Listen("unix", p.path+"/tmp/"+p.socket())
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	want := "Full thread dump\n" + strings.Repeat("\tat shop.Main.run(Main.java:1)\n", 100_000)
	asked := make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		var words string
		for in := bufio.NewReader(conn); strings.Count(words, "\x00") < 5; {
			word, err := in.ReadString(0)
			if words += word; err != nil {
				break
			}
		}
		asked <- words
		_, _ = io.WriteString(conn, "0\n"+want)
	}()
	conn, err := p.connect(t.Context(), p.tmp(t))
	require.NoError(t, err)
	var got strings.Builder
	require.NoError(t, askDump(t.Context(), conn, &got))
	assert.Equal(t, "1\x00threaddump\x00-l\x00\x00\x00", <-asked)
	assert.Equal(t, want, got.String())
}

func TestAnswersThatAreNoDump(t *testing.T) {
	for reply, want := range map[string]string{
		"":                                  "the JVM closed the connection without an answer; check whether it has exited",
		"0\n":                               "the JVM printed an empty thread dump; check whether it has exited",
		"101\n":                             `the JVM refused to print a thread dump: "101"`,
		"1":                                 `the JVM refused to print a thread dump: "1"`,
		"1\nOperation threaddump\n no way!": `the JVM refused to print a thread dump: "1 Operation threaddump no way!"`,
	} {
		var out strings.Builder
		require.EqualError(t, copyDump(&out, strings.NewReader(reply)), want)
		assert.Empty(t, out.String())
	}
}

func TestOtherProcessesPrintNoDump(t *testing.T) {
	require.ErrorIs(t, CanDump(1<<30), ErrNoProcess)
	require.ErrorIs(t, CanDump(os.Getpid()), ErrNotJVM)
	require.ErrorIs(t, Dump(context.Background(), os.Getpid(), io.Discard), ErrNotJVM)
}
