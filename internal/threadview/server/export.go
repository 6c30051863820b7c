// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/export"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// fileTime bounds how long a download may take.
const fileTime = 10 * time.Minute

// export returns a table as a file.
func (v *View) export(w http.ResponseWriter, r *http.Request, sn *store.Snapshot) *Problem {
	if p := evicted(sn); p != nil {
		return p
	}
	done, p := v.enter(r.Context(), v.files)
	if p != nil {
		return p
	}
	defer done()
	values := r.URL.Query()
	own := newParams(url.Values{"table": values["table"], "format": values["format"]})
	table := own.choice("table", "threads", "classes", "callers", "kinds", "holders", "compare", "locks", "path", "requests", "log", "intervals")
	format := own.choice("format", "csv", "json")
	if p := own.done(); p != nil {
		return p
	}
	values.Del("table")
	values.Del("format")
	q := newQuery(v, sn, values)
	q.file, q.most = true, 1<<31-1
	rows, p := v.rows(r.Context(), q, table)
	if p != nil {
		return p
	}
	attach(w, sn, table+"."+format)
	if format == "json" {
		v.finish(0, writeJSON(w, rows))
	} else {
		v.finish(0, writeCSV(w, rows))
	}
	return nil
}

// download returns a session in the format of another tool.
func (v *View) download(w http.ResponseWriter, r *http.Request, sn *store.Snapshot) *Problem {
	q := newQuery(v, sn, r.URL.Query())
	format := q.choice("format", "native", "otlp", "perfetto")
	if p := cmp.Or(q.done(), evicted(sn)); p != nil {
		return p
	}
	done, p := v.enter(r.Context(), v.files)
	if p != nil {
		return p
	}
	defer done()
	part := export.Range{Snapshot: sn, From: q.from, To: q.to}
	attach(w, sn, map[string]string{"native": "recording.weft", "otlp": "spans.json", "perfetto": "threads.pftrace"}[format])
	out := bufio.NewWriterSize(w, 1<<16)
	var err error
	switch format {
	case "native":
		err = export.Native(r.Context(), out, part)
	case "otlp":
		err = export.Spans(r.Context(), out, part, cmp.Or(v.cfg.TraceWindow, engine.DefaultConfig().Window))
	default:
		err = export.NewPerfetto(out).Write(r.Context(), part)
	}
	if err == nil {
		err = out.Flush()
	}
	v.finish(0, err)
	return nil
}

// attach marks a response as a file, which may take longer than the server's time-out.
func attach(w http.ResponseWriter, sn *store.Snapshot, name string) {
	h := w.Header()
	kind := "application/octet-stream"
	switch {
	case strings.HasSuffix(name, ".json"):
		kind = "application/json"
	case strings.HasSuffix(name, ".csv"):
		kind = "text/csv; charset=utf-8"
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(fileTime)) // otherwise the server's time-out applies
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", `attachment; filename="weft-`+sn.ID.String()[:8]+"-"+name+`"`)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}

// rows are the rows of a table, all of one type.
type rows struct {
	row reflect.Type
	all iter.Seq[reflect.Value]
}

// rows returns the rows of a table that can be downloaded. An expensive one waits for its turn.
func (v *View) rows(ctx context.Context, q *query, table string) (rows, *Problem) {
	if a := answers()[table]; a.isHeavy(q.values) {
		done, p := v.enter(ctx, v.heavy)
		if p != nil {
			return rows{}, p
		}
		defer done()
	}
	return q.rows(table)
}

// rows returns the rows of a table that can be downloaded. The intervals are read while they are written, since they can be millions.
func (q *query) rows(table string) (rows, *Problem) {
	if table == "intervals" {
		sel := q.selected()
		return rows{reflect.TypeFor[IntervalRow](), q.intervalRows(sel)}, q.done()
	}
	a := answers()[table]
	out, p := a.make(q)
	if p != nil {
		return rows{}, p
	}
	list := reflect.ValueOf(out).FieldByName(a.rows)
	return rows{list.Type().Elem(), func(yield func(reflect.Value) bool) {
		for _, row := range list.Seq2() {
			if !yield(row) {
				return
			}
		}
	}}, nil
}

// writeJSON writes a list of objects as in the API.
func writeJSON(w io.Writer, r rows) error {
	out := bufio.NewWriterSize(w, 1<<16)
	_ = out.WriteByte('[') // an error stays
	between := "\n"
	for row := range r.all {
		body, err := json.Marshal(row.Interface())
		if err != nil {
			return err
		}
		_, _ = out.WriteString(between)
		if _, err := out.Write(body); err != nil {
			return err
		}
		between = ",\n"
	}
	_, _ = out.WriteString("\n]\n")
	return out.Flush()
}

// writeCSV writes a line for each row, with a column for each number and text; names of nested ones have dots. Lists are omitted, except those
// with one element per state. An apostrophe is put before text that a spreadsheet would read as a formula.
func writeCSV(w io.Writer, r rows) error {
	out := csv.NewWriter(w)
	columns := columnsOf(r.row, "", nil)
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i] = c.name
	}
	_ = out.Write(line) // an error stays
	for row := range r.all {
		for i, c := range columns {
			line[i] = cell(row, c.path)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

type column struct {
	name string
	path fieldPath
}

func columnsOf(t reflect.Type, name string, path fieldPath) (out []column) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if !f.Anonymous {
				sub := strings.TrimPrefix(name+"."+jsonName(f), ".")
				out = append(out, columnsOf(f.Type, sub, append(slices.Clip(path), f.Index...))...)
			}
		}
	case reflect.Slice:
		switch t.Elem() {
		case reflect.TypeFor[string]():
			out = append(out, column{name, path})
		case reflect.TypeFor[viewapi.StateTime]():
			for s := range jvmthread.NumStates {
				out = append(out, columnsOf(t.Elem(), name+"."+jvmthread.State(s).String(), append(slices.Clip(path), s))...)
			}
		}
	case reflect.Map, reflect.Interface, reflect.Func:
	default:
		out = append(out, column{name, path})
	}
	return out
}

func cell(row reflect.Value, path fieldPath) string {
	v, ok := path.of(row)
	if !ok {
		return ""
	}
	switch {
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10)
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool())
	}
	s := v.String()
	if list, ok := reflect.TypeAssert[[]string](v); ok {
		s = strings.Join(list, ", ")
	}
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// IntervalRow is a row of the exported table of intervals.
type IntervalRow struct {
	Thread  viewapi.ThreadRef `json:"thread"`
	Seq     uint32            `json:"seq"`
	State   string            `json:"state"`
	Wait    string            `json:"wait"` // kind, or empty
	From    int64             `json:"from"`
	To      int64             `json:"to"`
	Lock    viewapi.LockRef   `json:"lock"`
	Peer    viewapi.ThreadRef `json:"peer"` // owner of the lock, or the thread that is joined
	Timeout int64             `json:"timeout"`
	Stack   uint32            `json:"stack"`
	Marks   int               `json:"marks"`
}

func (q *query) intervalRows(sel selection) iter.Seq[reflect.Value] {
	return func(yield func(reflect.Value) bool) {
		for _, i := range sel.list {
			ref := q.threadRef(i)
			c := q.sn.Walk(i, q.from, q.to)
			for c.Next() {
				iv := c.Interval()
				row := IntervalRow{
					Thread: ref, Seq: uint32(iv.Seq), State: iv.State.String(), Wait: iv.Wait.String(), From: q.rel(iv.Start), To: q.rel(iv.End), Lock: q.lockRef(iv.Lock),
					Timeout: max(0, iv.Timeout), Stack: uint32(iv.Stack), Marks: laneMarks(iv.State, iv.Marks),
				}
				if iv.Peer != 0 {
					row.Peer = q.threadRef(iv.Peer)
				}
				if !yield(reflect.ValueOf(row)) {
					return
				}
			}
		}
	}
}
