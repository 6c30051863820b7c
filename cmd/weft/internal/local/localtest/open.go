// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package localtest shows recordings on a page in tests, as weft view and weft summary do.
package localtest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/cmd/weft/internal/local"
	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/viewapi"
)

// Open returns a page of the recordings in files, which is closed with the test. The error lists what cannot be read.
func Open(t *testing.T, files ...string) (*local.Page, error) {
	t.Helper()
	p, err := local.NewPage(&local.PageOptions{Version: "1", MaxBytes: 1 << 28, Window: time.Second, Logger: zap.NewNop()})
	require.NoError(t, err)
	t.Cleanup(func() { p.Close(context.Background()) })
	var problems error
	for _, name := range files {
		file, err := os.Open(name)
		require.NoError(t, err)
		if err := p.Read(t.Context(), replay.Source{Name: name, Path: name, Reader: file}); err != nil {
			problems = err
		}
		require.NoError(t, file.Close())
	}
	return p, problems
}

// Session returns a client of a page of one recording, and the only session of it.
func Session(t *testing.T, file string) (*page.Client, *viewapi.Session) {
	t.Helper()
	p, err := Open(t, file)
	require.NoError(t, err)
	client := page.Of(p.Handler())
	list, err := client.Sessions(t.Context())
	require.NoError(t, err)
	require.Len(t, list.Sessions, 1)
	return client, &list.Sessions[0]
}
