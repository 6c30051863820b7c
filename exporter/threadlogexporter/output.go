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
	"github.com/weft-otel/weft/internal/recording"
)

// output is the files of one session: the current one, full ones, and side files with the metadata of all of them.
//
// Records that cannot be written, because the disk is full for example, are held and retried. Once too much is held, whole pieces are
// dropped and counted.
type output struct {
	owner  *threadLog
	base   string // of the names of all files
	number int    // of the recording, from 1: a restarted collector starts another one
	logger *timberjack.Logger
	sides  map[string]*os.File // by extension
	size   int64               // of the current file
	torn   bool                // a piece was dropped: later records may refer to it, so they go to a new file

	held   []piece
	bytes  int  // held
	failed bool // the last attempt
}

// piece is whole records.
type piece struct {
	text   []byte
	events uint64
	begun  bool // partly written: the rest has to follow

	side    string // extension of the side file it belongs to, if any
	replace bool   // it replaces the side file
}

// maxHeld bounds the bytes waiting to be written, per session.
const maxHeld = 8 << 20

// backupTime has no dot, so that the side file of a full file x.orca-<time>-size is x.meta, as for x.orca.
const backupTime = "2006-01-02T15-04-05,000"

func newOutput(t *threadLog, service string, id jvmthread.SessionID) *output {
	o := &output{owner: t}
	o.base, o.number = freeName(filepath.Join(t.cfg.Directory, fileName(service)+"-"+id.String()), t.format.Extension)
	r := &t.cfg.Rotation
	o.logger = &timberjack.Logger{
		Filename: o.path(), MaxSize: math.MaxInt32, MaxBackups: r.MaxBackups, MaxAge: r.MaxDays, Compression: r.Compression,
		BackupTimeFormat: backupTime, AppendTimeAfterExt: true, FileMode: 0o600,
	}
	return o
}

func (o *output) path() string { return o.base + o.owner.format.Extension }

// fileName replaces characters that are unsafe in file names.
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

// freeName returns a name without files yet, and its number: a session that continues after a restart of the collector gets a second
// recording.
func freeName(base, extension string) (name string, n int) {
	there, _ := os.ReadDir(filepath.Dir(base)) // creating the file fails with the same error
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

// full reports whether the next batch belongs to a new file.
func (o *output) full() bool {
	return (o.torn || o.size >= int64(o.owner.cfg.Rotation.MaxMegabytes)<<20) && len(o.held) == 0
}

// rotate starts a new file. If that fails, the current one is used until it is full once more.
func (o *output) rotate() {
	o.size, o.torn = 0, false
	if err := o.logger.RotateWithReason("size"); err != nil {
		o.fail(err)
		return
	}
	o.owner.telemetry.ExporterThreadLogRotations.Add(context.Background(), 1)
}

// write writes whole records, or holds a copy of them.
func (o *output) write(text []byte, events uint64) {
	o.put(piece{text: text, events: events})
}

// writeSides writes to the side files.
func (o *output) writeSides(sides []recording.Sidecar) {
	for _, s := range sides {
		o.put(piece{text: s.Text, side: s.Extension, replace: s.Replace})
	}
}

func (o *output) put(p piece) {
	if len(p.text) == 0 {
		return
	}
	o.retry()
	if len(o.held) == 0 && o.try(&p) {
		return
	}
	if o.bytes+len(p.text) > maxHeld && !p.begun {
		o.owner.lost(whereWrite, p.events)
		o.torn = true
		return
	}
	p.text = append([]byte(nil), p.text...)
	o.held = append(o.held, p)
	o.bytes += len(p.text)
}

// retry writes held pieces until one fails.
func (o *output) retry() {
	for len(o.held) > 0 {
		before := len(o.held[0].text)
		done := o.try(&o.held[0])
		o.bytes -= before - len(o.held[0].text)
		if !done {
			return
		}
		o.held = o.held[1:]
	}
}

// try writes a piece and removes from it what was written.
func (o *output) try(p *piece) (done bool) {
	var n int
	var err error
	if p.side != "" {
		n, err = o.trySide(p)
	} else {
		n, err = o.logger.Write(p.text)
		o.size += int64(n)
	}
	o.owner.telemetry.ExporterThreadLogBytes.Add(context.Background(), int64(n))
	p.text = p.text[n:]
	if err != nil || len(p.text) > 0 {
		p.begun = p.begun || n > 0
		o.fail(err)
		return false
	}
	o.failed = false
	o.owner.telemetry.ExporterThreadLogEvents.Add(context.Background(), int64(p.events))
	return true
}

func (o *output) trySide(p *piece) (n int, err error) {
	file := o.sides[p.side]
	if p.replace {
		if file != nil {
			delete(o.sides, p.side)
			_ = file.Close() // its content is replaced
		}
		return replaceFile(o.base+p.side, p.text)
	}
	if file == nil {
		if file, err = os.OpenFile(o.base+p.side, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
			return 0, err
		}
		if o.sides == nil {
			o.sides = make(map[string]*os.File)
		}
		o.sides[p.side] = file
	}
	return file.Write(p.text)
}

// replaceFile writes all of a text or, if the disk is full for example, leaves the file as it is.
func replaceFile(name string, text []byte) (n int, err error) {
	if err := os.WriteFile(name+".new", text, 0o600); err != nil {
		_ = os.Remove(name + ".new")
		return 0, err
	}
	if err := os.Rename(name+".new", name); err != nil {
		return 0, err
	}
	return len(text), nil
}

// fail logs the first of several failures in a row.
func (o *output) fail(err error) {
	if !o.failed {
		o.owner.logger.Error("Write failed; holding and retrying up to 8 MiB, then events are lost and counted",
			zap.String("file", o.path()), zap.Error(err))
	}
	o.failed = true
}

// close drops what still cannot be written.
func (o *output) close() {
	o.retry()
	for i := range o.held {
		o.owner.lost(whereWrite, o.held[i].events)
	}
	if err := o.logger.Close(); err != nil {
		o.fail(err)
	}
	for _, file := range o.sides {
		if err := file.Close(); err != nil {
			o.fail(err)
		}
	}
}
