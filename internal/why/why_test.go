// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/golden"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// stacks are those of stack=1, stack=2, ... in a history.
var stacks = []string{
	"at com.acme.Book.add(Book.java:7)\n- lock Book.lock\nat com.acme.Shop.buy(Shop.java:20)\n",
	"at java.lang.Thread.sleep(Native Method)\nat com.acme.Report.write(Report.java:30)\n",
	"at com.acme.Account.settle(Account.java:4)\nat com.acme.Bank.run(Bank.java:2)\n",
	"at jdk.internal.misc.Unsafe.park(Native Method)\nat com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:162)\n" +
		"at com.acme.Shop.pay(Shop.java:31)\n",
}

// pageOf returns a client of a page that shows a history in the text form of threadtest. The names of threads are those in the text unless
// there is another one.
func pageOf(t *testing.T, text string, names map[string]string) (client *page.Client, session string) {
	t.Helper()
	h, err := threadtest.Parse(text)
	require.NoError(t, err)
	sym := h.Symbols()
	for _, stack := range stacks {
		sym.InternStack(stack)
	}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 2 {
			name, ok := names[fields[1]]
			if !ok {
				name = fields[1]
			}
			sym.SetThread(jvmthread.Thread{ID: h.Thread(fields[1]), Name: name})
		}
	}
	st := store.New(math.MaxInt64, nil)
	id := jvmthread.SessionID{15: 1}
	s := st.Open(id, nil)
	e := drive.New(engine.DefaultConfig(), sym)
	e.Add(ordering.Batch{Number: 1, Watermark: h.Events[len(h.Events)-1].Time + 1, Events: h.Events})
	e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) { s.Append(w, sym) })
	s.Close(window.CutEnd)
	view := server.New(st, server.Config{})
	t.Cleanup(view.Close)
	return page.Of(view.Handler()), id.String()
}

// Each file has events and queries of the API, each of which is followed by what is printed for a terminal of a width.
func TestPrint(t *testing.T) {
	golden.Each(t, "testdata/*.txt", func(t *testing.T, file string) {
		t.Helper()
		names, bodies := golden.Read(t, file)
		c, session := pageOf(t, bodies["events"], nil)
		for i, name := range names {
			query, ok := strings.CutPrefix(name, "query ")
			if !ok {
				continue
			}
			q, err := url.ParseQuery(query)
			require.NoError(t, err)
			width, err := strconv.Atoi(q.Get("width"))
			require.NoError(t, err)
			q.Del("width")
			why, err := c.Why(t.Context(), session, q)
			require.NoError(t, err)
			var b strings.Builder
			require.NoError(t, Print(&b, &why, width))
			bodies[names[i]] = b.String()
		}
		golden.Compare(t, file, golden.Join(names, bodies))
	})
}

const blocked = `
0 holder threadStart
0 waiter threadStart
1000 holder sleepStart stack=2
2000 waiter contendedEnter lock=com.acme.Book owner=holder stack=1
9000 holder sleepEnd
9900 waiter contendedEntered lock=com.acme.Book
10000 waiter yield
`

// The JSON is the answer of the page, whatever the names.
func TestPrintJSON(t *testing.T) {
	c, session := pageOf(t, blocked, map[string]string{"holder": "report <\u202e\x1b[2J>"})
	want, err := c.Why(t.Context(), session, page.Query{"thread": {"2"}})
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, PrintJSON(&b, &want))
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		assert.Equal(t, printable.Text(line), line)
	}
	assert.Contains(t, b.String(), "report <")
	var got viewapi.Why
	require.NoError(t, json.Unmarshal([]byte(b.String()), &got))
	assert.Equal(t, want, got)
}

// A name cannot clear the terminal, begin a line or hide.
func TestHostileNamesStayInTheirLine(t *testing.T) {
	const hostile = "\x1b[2J\u009b2J\u202e\u200b\x7f\r\nFORGED"
	c, session := pageOf(t, blocked, map[string]string{"holder": hostile, "waiter": hostile + "2"})
	for _, width := range []int{0, 30, 80} {
		why, err := c.Why(t.Context(), session, page.Query{"thread": {"2"}})
		require.NoError(t, err)
		for i := range why.Steps {
			s := &why.Steps[i]
			s.Doing += hostile
			for k := range s.Waits {
				s.Waits[k].Title, s.Waits[k].Method, s.Waits[k].Line = hostile, hostile, hostile
			}
		}
		why.Text += hostile
		var b strings.Builder
		require.NoError(t, Print(&b, &why, width))
		for line := range strings.SplitSeq(b.String(), "\n") {
			assert.Equal(t, line, printable.Text(line))
			assert.NotRegexp(t, "^ *FORGED", line)
		}
		assert.Contains(t, b.String(), "FORGED")
	}
	_, err := Thread(t.Context(), c, session, hostile)
	require.NoError(t, err)
	_, err = Thread(t.Context(), c, session, "FORGED")
	require.ErrorContains(t, err, "2 threads match")
	assert.Equal(t, err.Error(), printable.Text(err.Error()))
}

func TestThread(t *testing.T) {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "0 exec-%d threadStart\n", i+1)
	}
	b.WriteString("0 a.c threadStart\n0 abc threadStart\n0 twin-a threadStart\n0 twin-b threadStart\n0 seven threadStart\n")
	names := map[string]string{"twin-a": "twin", "twin-b": "twin", "seven": "77", "exec-12": "exec-1*"}
	c, session := pageOf(t, b.String()+"1000 abc yield\n", names)
	for _, test := range []struct {
		text string
		id   uint64
		err  string
	}{
		{text: "3", id: 3},
		{text: "exec-1", id: 1}, // not one of those that only begin like it
		{text: "exec-7", id: 7},
		{text: "c-7", id: 7},
		{text: "a.c", id: 13}, // not a pattern
		{text: "bc", id: 14},
		{text: "77", id: 17}, // no such ID
		{text: "exec-1*", id: 12},
		{text: "", err: "thread: want a name or an ID"},
		{text: "boss", err: `thread "boss": not found; want an ID, a name, or a part of one`},
		{text: "99999999999999999999", err: `thread "99999999999999999999": not found; want an ID, a name, or a part of one`},
		{text: "twin", err: `thread "twin": 2 threads match: twin (ID 15), twin (ID 16); give a whole name that only one has, or an ID`},
		{text: "exec-", err: `thread "exec-": 12 threads match: exec-1 (ID 1), exec-1* (ID 12), exec-10 (ID 10), ` +
			`exec-11 (ID 11), exec-2 (ID 2), and 7 more; give a whole name that only one has, or an ID`},
	} {
		ref, err := Thread(t.Context(), c, session, test.text)
		if test.err != "" {
			require.EqualError(t, err, test.err)
			continue
		}
		require.NoError(t, err, test.text)
		assert.Equal(t, test.id, ref.ID, test.text)
		assert.NotEmpty(t, ref.Name)
	}
	_, err := Thread(t.Context(), c, strings.Repeat("f", 32), "abc")
	require.ErrorContains(t, err, "not found")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Thread(cancelled, c, session, "abc")
	require.ErrorIs(t, err, context.Canceled)
}

func TestParseTime(t *testing.T) {
	origin := time.Date(2026, 3, 4, 10, 30, 0, 500, time.UTC)
	const want = "want an offset from the start of the recording, such as 12.5s, or a time such as 2026-03-04T10:30:00Z"
	for text, want := range map[string]int64{
		"12.5s": 12_500_000_000, "0": 0, "1m30s": 90_000_000_000, "7ns": 7, "1.000000001s": 1_000_000_001, "2026-03-04T10:30:01Z": 999_999_500,
		"2026-03-04T11:30:00.0000005+01:00": 0, "2026-03-04T10:30:00.123456789Z": 123_456_289,
	} {
		got, err := ParseTime(text, origin)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for text, message := range map[string]string{
		"":                     `time "": ` + want,
		"12.5":                 `time "12.5": ` + want,
		"10:31":                `time "10:31": ` + want,
		"-1s":                  `time "-1s": before the start of the recording; want an offset from that, such as 12.5s`,
		"2026-03-04T10:30:00Z": `time "2026-03-04T10:30:00Z": before the start of the recording at 2026-03-04T10:30:00.0000005Z`,
		"9999-01-01T00:00:00Z": `time "9999-01-01T00:00:00Z": too long after the start of the recording at 2026-03-04T10:30:00.0000005Z`,
	} {
		_, err := ParseTime(text, origin)
		require.EqualError(t, err, message, text)
	}
	for _, ns := range []int64{0, 1, 999_999_999, 1_000_000_000, 12_500_000_000, 10_000_000_000, math.MaxInt64} {
		got, err := ParseTime(Offset(ns), origin)
		require.NoError(t, err)
		assert.Equal(t, ns, got)
	}
	assert.Equal(t, "-1.5s", Offset(-1_500_000_000))
}

func TestRange(t *testing.T) {
	s := &viewapi.Session{Origin: "1772620200000000000", From: 2_000_000_000, To: 10_000_000_000}
	for _, test := range []struct {
		from, to   string
		begin, end int64
		err        string
	}{
		{begin: 2_000_000_000, end: 10_000_000_000},
		{from: "3s", to: "4.5s", begin: 3_000_000_000, end: 4_500_000_000},
		{from: "1s", to: "1h", begin: 2_000_000_000, end: 10_000_000_000},
		{from: "2026-03-04T10:30:03Z", begin: 3_000_000_000, end: 10_000_000_000},
		{from: "4s", to: "4s", err: "from 4s to 4s: want a time to that is later than from"},
		{from: "1h", err: "from 3600s to 10s: want a time to that is later than from"},
		{from: "1s", to: "1.5s", err: "from 1s to 1.5s: no data; the history is kept from 2s to 10s"},
		{from: "x", err: `from: time "x": want an offset from the start of the recording, such as 12.5s, or a time such as 2026-03-04T10:30:00Z`},
		{from: "-5s", to: "-1.5s", begin: 5_000_000_000, end: 8_500_000_000},
		{from: "-1h", begin: 2_000_000_000, end: 10_000_000_000},
		{to: "-1h", err: "from 2s to 0s: want a time to that is later than from"},
	} {
		begin, end, err := Range(s, test.from, test.to)
		if test.err != "" {
			require.EqualError(t, err, test.err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, []int64{test.begin, test.end}, []int64{begin, end})
	}
	_, _, err := Range(&viewapi.Session{Origin: "soon"}, "1s", "")
	require.ErrorContains(t, err, `"soon"`)
}
