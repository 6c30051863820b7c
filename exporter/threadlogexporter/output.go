// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/DeRuina/timberjack"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// output is the files of one session: the one that is written, full ones, and one beside them all.
//
// What cannot be written, since the disk is full say, is held and tried again; when too much is held, whole pieces are given up and
// counted.
type output struct {
	owner  *threadLog
	base   string // of the names of all files
	number int    // of the recording, from 1: the session may have been recorded before
	logger *timberjack.Logger
	side   *os.File // nil until it is needed
	table  string   // its path
	size   int64    // of the file that is written
	torn   bool     // something of it was given up: what follows may need that, and goes to another

	held   []piece
	bytes  int  // held
	failed bool // what was tried last
}

// piece is whole records.
type piece struct {
	text   []byte
	events uint64
	begun  bool // some of it is written: the rest has to follow
	beside bool
}

// maxHeld bounds the bytes that wait to be written, a session.
const maxHeld = 8 << 20

// backupTime has no dot: a full file x.orca-<time>-size has x.meta beside it, as x.orca has.
const backupTime = "2006-01-02T15-04-05,000"

func newOutput(t *threadLog, service string, id jvmthread.SessionID) *output {
	o := &output{owner: t}
	o.base, o.number = freeName(filepath.Join(t.cfg.Directory, fileName(service)+"-"+id.String()), t.format.extension)
	r := &t.cfg.Rotation
	o.logger = &timberjack.Logger{
		Filename: o.path(), MaxSize: math.MaxInt32, MaxBackups: r.MaxBackups, MaxAge: r.MaxDays, Compression: r.Compression,
		BackupTimeFormat: backupTime, AppendTimeAfterExt: true, FileMode: 0o600,
	}
	return o
}

func (o *output) path() string { return o.base + o.owner.format.extension }

// fileName makes a part of a file's name of a text.
func fileName(text string) string {
	const most = 64
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, text)
	if name == "" {
		return "jvm"
	}
	return name[:min(len(name), most)]
}

// freeName returns a name of which there are no files yet, and its number: a session that is written on after a restart has a second
// recording.
func freeName(base, extension string) (name string, n int) {
	there, _ := os.ReadDir(filepath.Dir(base)) // an error comes again when the file is made
	for n = 1; ; n++ {
		name = base
		if n > 1 {
			name += "_" + strconv.Itoa(n)
		}
		if !slices.ContainsFunc(there, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), filepath.Base(name)+extension) }) {
			return name, n
		}
	}
}

// full reports whether the next batch goes to another file.
func (o *output) full() bool {
	return (o.torn || o.size >= int64(o.owner.cfg.Rotation.MaxMegabytes)<<20) && len(o.held) == 0
}

// rotate begins another file. If that cannot be, the one at hand goes on until it is full once more.
func (o *output) rotate(ctx context.Context) {
	o.size, o.torn = 0, false
	if err := o.logger.RotateWithReason("size"); err != nil {
		o.fail(err)
		return
	}
	o.owner.telemetry.ExporterThreadLogRotations.Add(ctx, 1)
}

// write writes whole records, or holds them. The text is the caller's again when it returns.
func (o *output) write(ctx context.Context, text []byte, events uint64) {
	o.put(ctx, piece{text: text, events: events})
}

// beside appends to the file beside the recording.
func (o *output) beside(ctx context.Context, extension string, text []byte) {
	o.table = o.base + extension
	o.put(ctx, piece{text: text, beside: true})
}

func (o *output) put(ctx context.Context, p piece) {
	if len(p.text) == 0 {
		return
	}
	o.retry(ctx)
	if len(o.held) == 0 && o.try(ctx, &p) {
		return
	}
	if o.bytes+len(p.text) > maxHeld && !p.begun {
		o.owner.lost(ctx, whereWrite, p.events)
		o.torn = true
		return
	}
	p.text = append([]byte(nil), p.text...)
	o.held = append(o.held, p)
	o.bytes += len(p.text)
}

// retry writes what is held, as far as that goes.
func (o *output) retry(ctx context.Context) {
	for len(o.held) > 0 {
		before := len(o.held[0].text)
		done := o.try(ctx, &o.held[0])
		o.bytes -= before - len(o.held[0].text)
		if !done {
			return
		}
		o.held = o.held[1:]
	}
}

// try writes a piece, and leaves in it what is still to be written.
func (o *output) try(ctx context.Context, p *piece) (done bool) {
	var n int
	var err error
	if p.beside {
		n, err = o.writeBeside(p.text)
	} else {
		n, err = o.logger.Write(p.text)
		o.size += int64(n)
	}
	o.owner.telemetry.ExporterThreadLogBytes.Add(ctx, int64(n))
	p.text = p.text[n:]
	if err != nil || len(p.text) > 0 {
		p.begun = p.begun || n > 0
		o.fail(err)
		return false
	}
	o.failed = false
	o.owner.telemetry.ExporterThreadLogEvents.Add(ctx, int64(p.events))
	return true
}

func (o *output) writeBeside(text []byte) (n int, err error) {
	if o.side == nil {
		if o.side, err = os.OpenFile(o.table, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
			o.side = nil
			return 0, err
		}
	}
	return o.side.Write(text)
}

// fail tells of the first failure of several in a row.
func (o *output) fail(err error) {
	if !o.failed {
		o.owner.logger.Error("cannot write; up to 8 MiB are held and tried again, then events are lost and counted", zap.String("file", o.path()), zap.Error(err))
	}
	o.failed = true
}

// close gives up what still cannot be written.
func (o *output) close(ctx context.Context) {
	o.retry(ctx)
	for i := range o.held {
		o.owner.lost(ctx, whereWrite, o.held[i].events)
	}
	if err := o.logger.Close(); err != nil {
		o.fail(err)
	}
	if o.side != nil {
		if err := o.side.Close(); err != nil {
			o.fail(err)
		}
	}
}
