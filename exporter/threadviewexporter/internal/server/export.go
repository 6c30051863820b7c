// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/export"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// fileTime bounds how long a download may take.
const fileTime = 10 * time.Minute

// exported are the tables that can be downloaded, and the field of their rows in an answer.
func exported() map[string]struct {
	make func(*query) (any, *Problem)
	rows string
} {
	return map[string]struct {
		make func(*query) (any, *Problem)
		rows string
	}{
		"threads": {(*query).threads, "Threads"},
		"classes": {(*query).classes, "Classes"},
		"callers": {(*query).callers, "Callers"},
		"locks":   {(*query).locks, "Locks"},
		"path":    {(*query).path, "Segments"},
		"log":     {(*query).log, "Lines"},
	}
}

// export returns a table as a file.
func (v *View) export(w http.ResponseWriter, r *http.Request) *Problem {
	sn, p := v.snapshot(r)
	if p != nil {
		return p
	}
	done, p := v.enter(r.Context(), v.files)
	if p != nil {
		return p
	}
	defer done()
	values := r.URL.Query()
	own := newParams(url.Values{"table": values["table"], "format": values["format"]})
	table := own.choice("table", "threads", "classes", "callers", "locks", "path", "log", "intervals")
	format := own.choice("format", "csv", "json")
	if p := own.done(); p != nil {
		return p
	}
	values.Del("table")
	values.Del("format")
	q := newQuery(v, sn, values)
	q.file, q.most = true, 1<<31-1
	var rows rowWriter = &csvRows{}
	if format == "json" {
		rows = &jsonRows{}
	}
	var write func() error
	if table == "intervals" {
		sel := q.selected()
		p = q.done()
		write = func() error { return q.writeIntervals(w, rows, sel) }
	} else {
		t := exported()[table]
		var out any
		out, p = t.make(q)
		write = func() error { return writeRows(w, rows, reflect.ValueOf(out).FieldByName(t.rows)) }
	}
	if p == nil {
		attach(w, sn, table+"."+format)
		v.finish(0, write())
	}
	return p
}

// download returns a session in the format of another tool.
func (v *View) download(w http.ResponseWriter, r *http.Request) *Problem {
	sn, p := v.snapshot(r)
	if p != nil {
		return p
	}
	q := newQuery(v, sn, r.URL.Query())
	format := q.choice("format", "native", "otlp", "perfetto")
	if p := q.done(); p != nil {
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
		err = export.Spans(r.Context(), out, part, v.cfg.TraceWindow)
	default:
		err = export.Perfetto(r.Context(), out, part)
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

// rowWriter writes rows of one type.
type rowWriter interface {
	begin(w io.Writer, row reflect.Type) error
	add(row reflect.Value) error
	end() error
}

func writeRows(w io.Writer, to rowWriter, rows reflect.Value) error {
	if err := to.begin(w, rows.Type().Elem()); err != nil {
		return err
	}
	for i := range rows.Len() {
		if err := to.add(rows.Index(i)); err != nil {
			return err
		}
	}
	return to.end()
}

// jsonRows writes a list of objects as in the API.
type jsonRows struct {
	w *bufio.Writer
	n int
}

func (j *jsonRows) begin(w io.Writer, _ reflect.Type) error {
	j.w = bufio.NewWriterSize(w, 1<<16)
	return j.w.WriteByte('[')
}

func (j *jsonRows) add(row reflect.Value) error {
	body, err := json.Marshal(row.Interface())
	if err != nil {
		return err
	}
	between := "\n"
	if j.n++; j.n > 1 {
		between = ",\n"
	}
	_, _ = j.w.WriteString(between) // an error stays
	_, err = j.w.Write(body)
	return err
}

func (j *jsonRows) end() error {
	_, _ = j.w.WriteString("\n]\n")
	return j.w.Flush()
}

// csvRows writes a line for each row, with a column for each number and text; names of nested ones have dots. Lists are omitted, except those
// with one element per state. An apostrophe is put before text that a spreadsheet would read as a formula.
type csvRows struct {
	w       *csv.Writer
	columns []column
	line    []string
}

type column struct {
	name string
	path fieldPath
}

func (c *csvRows) begin(w io.Writer, row reflect.Type) error {
	c.w = csv.NewWriter(w)
	c.columns = columnsOf(row, "", nil)
	names := make([]string, len(c.columns))
	for i := range c.columns {
		names[i] = c.columns[i].name
	}
	c.line = make([]string, len(names))
	return c.w.Write(names)
}

func columnsOf(t reflect.Type, name string, path fieldPath) (out []column) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && tag != "" {
				tag = name + "." + tag
			}
			if f.Anonymous {
				tag = name
			}
			out = append(out, columnsOf(f.Type, tag, append(slices.Clip(path), i))...)
		}
	case reflect.Slice:
		if t.Elem() == reflect.TypeFor[api.StateTime]() {
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

func (c *csvRows) add(row reflect.Value) error {
	for i := range c.columns {
		c.line[i] = cell(row, c.columns[i].path)
	}
	return c.w.Write(c.line)
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
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

func (c *csvRows) end() error {
	c.w.Flush()
	return c.w.Error()
}

// IntervalRow is a row of the exported table of intervals.
type IntervalRow struct {
	Thread  api.ThreadRef `json:"thread"`
	Seq     uint32        `json:"seq"`
	State   string        `json:"state"`
	From    int64         `json:"from"`
	To      int64         `json:"to"`
	Lock    api.LockRef   `json:"lock"`
	Peer    api.ThreadRef `json:"peer"` // owner of the lock, or the thread that is joined
	Timeout int64         `json:"timeout"`
	Stack   uint32        `json:"stack"`
	Marks   int           `json:"marks"`
}

func (q *query) writeIntervals(w io.Writer, rows rowWriter, sel selection) error {
	if err := rows.begin(w, reflect.TypeFor[IntervalRow]()); err != nil {
		return err
	}
	for _, i := range sel.list {
		ref := q.threadRef(i)
		c := q.sn.Walk(i, q.from, q.to)
		for c.Next() {
			iv := c.Interval()
			row := IntervalRow{
				Thread: ref, Seq: uint32(iv.Seq), State: iv.State.String(), From: q.rel(iv.Start), To: q.rel(iv.End), Lock: q.lockRef(iv.Lock),
				Timeout: iv.Timeout, Stack: uint32(iv.Stack), Marks: laneMarks(iv.State, iv.Marks),
			}
			if iv.Peer != 0 {
				row.Peer = q.threadRef(iv.Peer)
			}
			if err := rows.add(reflect.ValueOf(row)); err != nil {
				return err
			}
		}
		if q.ctx != nil && q.ctx.Err() != nil {
			return q.ctx.Err()
		}
	}
	return rows.end()
}
