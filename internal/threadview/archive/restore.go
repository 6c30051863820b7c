// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadview/fill"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// Restored counts what was restored.
type Restored struct {
	Sessions, Files int
	Events          uint64
	Problems        int // invalid places in files, which were skipped
}

// Restore loads all sessions into a store. It skips files that cannot be read, and returns their errors.
func (a *Archive) Restore(store *store.Store, cfg engine.Config) (Restored, error) {
	a.mu.Lock()
	bySession := make(map[string][]*file)
	var order []string
	for _, f := range a.files {
		if bySession[f.session] == nil {
			order = append(order, f.session)
		}
		bySession[f.session] = append(bySession[f.session], f)
	}
	a.mu.Unlock()
	var out Restored
	var errs []error
	for _, name := range order {
		raw, err := hex.DecodeString(name)
		if err != nil {
			continue // cannot happen: names are checked
		}
		r := &restorer{store: store, cfg: cfg, id: jvmthread.SessionID(raw), symbols: symbols.New(symbols.DefaultLimits())}
		var current *file
		p := failure.Contain(func() {
			for _, f := range bySession[name] {
				current = f
				if err := r.read(f.path); err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", f.path, err))
				}
				out.Files++
			}
			r.close()
		})
		if p != nil {
			errs = append(errs, r.fail(), a.setAside(current, p))
		}
		out.Events += r.events
		out.Problems += r.problems
		if r.events > 0 {
			out.Sessions++
		}
	}
	return out, errors.Join(errs...)
}

// restorer is the recording.Sink of one session.
type restorer struct {
	store   *store.Store
	cfg     engine.Config
	id      jvmthread.SessionID
	symbols *symbols.Table

	session  *fill.Session // nil: no session yet
	engine   *drive.Session
	events   uint64
	problems int
	ended    window.Cut
	end      jvmthread.Time // NoTime: not known
}

var errOther = errors.New("contains a session other than its name")

func (r *restorer) read(path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read-only
	d := native.NewDecoder(recording.Options{File: path, Symbols: r.symbols}, r)
	if _, err := io.Copy(d, in); err != nil {
		return err
	}
	return d.Close()
}

// Session starts a session, or continues it with its next file.
func (r *restorer) Session(s *recording.Session) error {
	if s.ID != r.id {
		return errOther
	}
	if r.session != nil && r.ended == "" {
		return nil // its next file
	}
	r.close()
	meta := make(store.Meta, len(s.Attributes))
	for _, a := range s.Attributes {
		meta[a.Key] = a.Value
	}
	r.cfg.Phase = window.Phase(r.id, r.cfg.Window)
	r.engine, r.ended, r.end = drive.New(r.cfg, r.symbols), "", jvmthread.NoTime
	r.session = fill.Open(r.store, r.id, meta, r.engine.Engine, r.symbols)
	return nil
}

// Batch adds events.
func (r *restorer) Batch(b *recording.Batch) error {
	r.events += uint64(len(b.Events))
	r.engine.Batch(b.Events, b.Lost, b.Watermark, r.session.Window)
	return nil
}

// Problem counts a problem.
func (r *restorer) Problem(recording.Problem) error {
	r.problems++
	return nil
}

// End ends the session.
func (r *restorer) End(e recording.End) error {
	r.ended, r.end = window.CutEnd, e.Time
	if e.Reason == threadpdata.EndLost {
		r.ended = window.CutLost
	}
	return nil
}

// fail ends a session after a panic. The windows before it stay.
func (r *restorer) fail() error {
	if p := failure.Contain(func() {
		if r.session != nil {
			r.session.Close(window.CutFailed)
		}
	}); p != nil {
		return p
	}
	return nil
}

func (r *restorer) close() {
	if r.session == nil {
		return
	}
	why := cmp.Or(r.ended, window.CutShutdown)
	r.engine.Close(r.end, why, r.session.Window)
	r.session.Close(why)
	r.session = nil
}
