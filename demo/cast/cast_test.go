// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRecording plays the recording in the documentation, and looks at its screens.
func TestRecording(t *testing.T) {
	file, err := os.Open("../../docs/images/top.cast")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(300_000), "bytes: too much for the documentation")
	h, events, err := read(file)
	require.NoError(t, err)
	assert.Equal(t, [2]int{columns, rows}, [2]int{h.Width, h.Height})
	emulator := vt.NewEmulator(h.Width, h.Height)
	go func() { _, _ = new(bytes.Buffer).ReadFrom(emulator) }() // the terminal's answers, which are not needed
	wanted := []string{"weft list", "com.acme.orders.Exchange", "weft top Exchange", "held it", "[3 locks]", "OrderBook", "[4 threads]", "matcher"}
	var before time.Duration
	for _, e := range events {
		require.GreaterOrEqual(t, e.at, before, "times never decrease")
		before = e.at
		_, err := emulator.WriteString(e.text)
		require.NoError(t, err)
		screen := ansi.Strip(emulator.String())
		for len(wanted) > 0 && strings.Contains(screen, wanted[0]) {
			wanted = wanted[1:]
		}
		assert.NotContains(t, screen, "panic")
	}
	assert.Empty(t, wanted, "these did not appear in this order")
	assert.Less(t, before, time.Minute)
}

// TestRoundTrip writes a recording and reads it.
func TestRoundTrip(t *testing.T) {
	var b bytes.Buffer
	events := []event{{0, "$ "}, {1500 * time.Millisecond, "\x1b[1mé<\r\n"}}
	require.NoError(t, write(&b, header{Version: 2, Width: 80, Height: 24, Title: "x"}, events))
	lines := strings.Split(b.String(), "\n")
	require.Len(t, lines, 4)
	assert.JSONEq(t, `{"version": 2, "width": 80, "height": 24, "title": "x"}`, lines[0])
	assert.JSONEq(t, `[0, "o", "$ "]`, lines[1])
	assert.JSONEq(t, `[1.5, "o", "\u001b[1mé<\r\n"]`, lines[2])
	h, again, err := read(&b)
	require.NoError(t, err)
	assert.Equal(t, 80, h.Width)
	assert.Equal(t, events, again)
	_, _, err = read(strings.NewReader("{\"version\":3}\n"))
	require.ErrorContains(t, err, "line 1")
	_, _, err = read(strings.NewReader("{\"version\":2}\n[1,\"i\",\"q\"]\n"))
	require.ErrorContains(t, err, "line 2")
}
