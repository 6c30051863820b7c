// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package historyfuzz

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/commands"
	"github.com/weft-otel/weft/cmd/weft/internal/convert"
	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/threadtest"
)

// readers are all that reads a file with a history.
func readers() map[string]func(t *testing.T, path string) {
	all := map[string]func(t *testing.T, path string){
		"windows": windows, "page": page, "stream": stream,
		"own engines": ownEngines, "shared engine": sharedEngine,
	}
	for name, args := range map[string][]string{
		"summary": {"summary"}, "summary as JSON": {"summary", "--format", "json"}, "against": {"summary", "--against", "testdata/virtual-jdk25.weft.gz"},
		"why": {"why"}, "why as JSON": {"why", "--format", "json"},
		"block": {"profile", "-o", "-", "--type", "block"}, "mutex": {"profile", "-o", "-", "--type", "mutex", "--format", "collapsed"},
		"off-cpu": {"profile", "-o", "-", "--type", "off-cpu", "--idle"},
	} {
		all[name] = func(t *testing.T, path string) {
			t.Helper()
			command(t, append(args, path)...)
		}
	}
	for _, format := range convert.Formats() {
		all["convert to "+format] = func(t *testing.T, path string) {
			t.Helper()
			out := filepath.Join(filepath.Dir(path), "converted")
			command(t, "convert", "--force", "--to", format, "--session", "1", path, out)
		}
	}
	return all
}

// command runs a command line of weft: it prints a result, or why there is none.
func command(t *testing.T, args ...string) {
	t.Helper()
	var stdout, stderr strings.Builder
	code := commands.Run(&commands.Program{Version: "1", In: strings.NewReader(""), Out: &stdout, Err: &stderr}, args)
	what := strings.Join(args, " ")
	switch code {
	case 0:
	case 1:
		assert.NotEmpty(t, stderr.String(), what)
	default:
		t.Errorf("%s: exit code %d: %s", what, code, stderr.String())
	}
	if args[0] != "profile" {
		assertPrintable(t, what, stdout.String())
	}
	assertPrintable(t, what, stderr.String())
	if args[len(args)-2] == "json" {
		assert.True(t, stdout.Len() == 0 || json.Valid([]byte(stdout.String())), what)
	}
}

// assertPrintable checks that lines reach a terminal unchanged.
func assertPrintable(t *testing.T, what, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if printable.Text(line) != line {
			t.Errorf("%s: prints the line %q", what, line)
		}
	}
}

// windows checks what the decoder and the engine make of a history, as weft summary reads it.
func windows(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close() //nolint:errcheck // it is only read
	format, r, free, err := formats.Open(file, "", formats.Limit{})
	if err != nil {
		return // neither format nor compression can be recognized any more
	}
	defer free()
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	decoded, stats, err := threadtest.Decode(&format, recording.Options{Symbols: symbols.New(symbols.DefaultLimits()), Sidecar: formats.Sidecar(path)}, data, 0)
	threadtest.CheckDecoded(t, format.Name, decoded, stats, err)
	_ = replay.Play(t.Context(), replay.Source{Name: "it", Path: path, Reader: bytes.NewReader(data)}, engine.DefaultConfig(), &validator{t: t}) // problems, as above
}

// validator checks the windows of a recording.
type validator struct{ t *testing.T }

func (*validator) Session(*replay.Session) {}

func (v *validator) Window(w *window.Window) {
	for _, err := range threadtest.Validate(w) {
		v.t.Error(err)
	}
}

func (*validator) Aggregate(*jvmthread.Aggregate) {}

func (*validator) Close(window.Cut) {}
