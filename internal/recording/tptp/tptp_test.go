// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp_test

import (
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/tptp"
	"github.com/weft-otel/weft/internal/threadtest"
)

var format = tptp.Format()

// read decodes a trace and prints its events and problems, one per line.
func read(t *testing.T, trace string, opts recording.Options) (events, problems []string, c *threadtest.Collector) {
	t.Helper()
	opts.Symbols, opts.File = symbols.New(symbols.DefaultLimits()), "x.trcxml"
	c, stats, err := threadtest.Decode(&format, opts, []byte(trace), 0)
	threadtest.CheckDecoded(t, "trace", c, stats, err)
	for _, ev := range c.Events {
		events = append(events, threadtest.EventText(ev, opts.Symbols))
	}
	for _, p := range c.Problems {
		problems = append(problems, p.Error())
	}
	return events, problems, c
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: want - got +:\n%s", what, diff)
	}
}

// everyElement contains each element with each attribute of its DTD.
const everyElement = `<?xml version="1.0" encoding="UTF-8"?>
<TRACE>
<threadStart transientThreadId="1" threadId="1" time="1.000000001" groupName="main" parentName="system" transientObjIdRef="100" objIdRef="100" threadName="main" collationValue="c" traceIdRef="t"/>
<callStart threadId="1" time="1.1" objIdRef="77"/>
<threadStart threadId="5" time="1.2" groupName="main" objIdRef="77" threadName="a &lt;pool&gt; &#x2602;&#13;"/>
<monContendedEnter threadIdRef="5" time="2" objIdRef="4711" threadOwner="1"><annotation/></monContendedEnter>
<monContendedEntered threadIdRef="5" time="2.5" objIdRef="4711"></monContendedEntered>
<monWait threadIdRef="5" time="3" objIdRef="4711" timeout="1500"/>
<callNotify threadId="1" time="3.1" objIdRef="4711" isNotifyAll="0"/>
<callNotify threadId="1" time="3.2" objIdRef="4711" isNotifyAll="1"/>
<monWaited threadIdRef="5" time="3.3" objIdRef="4711" timeout="1500" isTimedOut="1"/>
<monWait threadIdRef="5" time="4" objIdRef="-1" timeout="10"/>
<callInterrupt threadId="1" time="4.1" objIdRef="77"/>
<monWaited threadIdRef="5" time="4.2" objIdRef="-1" timeout="10" isTimedOut="0"/>
<threadInterrupted threadId="5" time="4.3"/>
<monWait threadIdRef="1" time="5" objIdRef="77" timeout="0"/>
<threadEnd transientThreadIdRef="5" threadIdRef="5" time="6" collationValue="c" traceIdRef="t"/>
<monWaited threadIdRef="1" time="6.5" objIdRef="77" timeout="0" isTimedOut="0"/>
</TRACE>
`

var everyEvent = []string{
	`1000000001 threadStart thread=1 peer=0 arg=0 lock=/0 flags=0 stack=""`,
	`1100000000 startCalled thread=1 peer=5 arg=0 lock=/0 flags=0 stack=""`,
	`1200000000 threadStart thread=5 peer=0 arg=0 lock=/0 flags=0 stack=""`,
	`2000000000 contendedEnter thread=5 peer=1 arg=0 lock=/1267 flags=0 stack=""`,
	`2500000000 contendedEntered thread=5 peer=0 arg=0 lock=/1267 flags=0 stack=""`,
	`3000000000 wait thread=5 peer=0 arg=1500000000 lock=/1267 flags=0 stack=""`,
	`3100000000 notify thread=1 peer=0 arg=0 lock=/1267 flags=0 stack=""`,
	`3200000000 notifyAll thread=1 peer=0 arg=0 lock=/1267 flags=0 stack=""`,
	`3300000000 waited thread=5 peer=0 arg=0 lock=/1267 flags=1 stack=""`,
	`4000000000 sleepStart thread=5 peer=0 arg=10000000 lock=/0 flags=0 stack=""`,
	`4100000000 interruptCalled thread=1 peer=5 arg=0 lock=/0 flags=0 stack=""`,
	`4200000000 sleepEnd thread=5 peer=0 arg=0 lock=/0 flags=2 stack=""`,
	`4300000000 interrupted thread=5 peer=0 arg=0 lock=/0 flags=2 stack=""`,
	`5000000000 joinStart thread=1 peer=5 arg=0 lock=/4d flags=0 stack=""`,
	`6000000000 threadEnd thread=5 peer=0 arg=0 lock=/0 flags=0 stack=""`,
	`6500000000 waited thread=1 peer=0 arg=0 lock=/4d flags=0 stack=""`,
}

func TestEveryElement(t *testing.T) {
	events, problems, c := read(t, everyElement, recording.Options{})
	same(t, "problems", []string(nil), problems)
	same(t, "events", everyEvent, events)
	if th := c.Threads[5]; th.Name != "a <pool> ☂\r" || th.Group != "main" {
		t.Errorf("got thread %+v", th)
	}
	if th := c.Threads[1]; th.Foreign != "parentName=system\ncollationValue=c\ntraceIdRef=t" {
		t.Errorf("got thread %+v", th)
	}
}

func encode16(s string, order func(uint16) []byte, mark bool) string {
	var b []byte
	if mark {
		b = order(0xFEFF)
	}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, order(u)...)
	}
	return string(b)
}

func little(u uint16) []byte { return []byte{byte(u), byte(u >> 8)} }
func big(u uint16) []byte    { return []byte{byte(u >> 8), byte(u)} }

// The same trace, as other tools may write it.
func TestFormatVariants(t *testing.T) {
	head, body, _ := strings.Cut(everyElement, "<TRACE>\n")
	body, _, _ = strings.Cut(body, "</TRACE>")
	for name, trace := range map[string]string{
		"a fragment":             body,
		"no end of the root":     head + "<TRACE>" + body,
		"two documents":          head + "<TRACE></TRACE>" + head + "<TRACE>" + body + "</TRACE>",
		"another root":           "<a:x xmlns:a='b'><y z='>'>" + body + "</y></a:x>",
		"prefixes":               strings.NewReplacer("<mon", "<t:mon", "</mon", "</t:mon", "<call", "<t:call", "<thread", "<t:thread").Replace(everyElement),
		"titles as names":        strings.NewReplacer("callStart", "threadStartCalled", "callInterrupt", "threadInterruptCalled", "callNotify", "monNotifyCalled").Replace(everyElement),
		"single quotes":          strings.ReplaceAll(everyElement, `"`, `'`),
		"space everywhere":       strings.NewReplacer(`="`, " =\n\t\"", "/>", "\n/>").Replace(everyElement),
		"no empty elements":      strings.NewReplacer("/></monContendedEnter>", "></annotation></monContendedEnter>", "/>\n", "></x>\n").Replace(everyElement),
		"words for truth":        strings.NewReplacer(`All="1"`, `All="true"`, `All="0"`, `All="false"`).Replace(everyElement),
		"comments and a doctype": head + "<!DOCTYPE TRACE [<!ELEMENT monWait ((annotation)*)> <!ENTITY a \"<monWait>\">]>" + strings.ReplaceAll(body, "\n", "<!-- <monWait time='x'> -- ->-->\n<?p <threadEnd?><![CDATA[<threadEnd/>]]>"),
		"only transient ids":     strings.NewReplacer(` threadId="1" time="1.0`, ` time="1.0`, ` objIdRef="100"`, "", ` threadIdRef="5" time="6`, ` time="6`).Replace(everyElement),
		"UTF-8 with a mark":      "\xEF\xBB\xBF" + everyElement,
		"UTF-16 little":          encode16(everyElement, little, true),
		"UTF-16 big":             encode16(everyElement, big, true),
		"UTF-16 without a mark":  encode16(everyElement, little, false),
		"other elements":         strings.ReplaceAll(everyElement, "\n<mon", "\n<classDef name='a' classId='4'/><methodEntry time='x'>text &amp; text</methodEntry>\n<mon"),
	} {
		t.Run(name, func(t *testing.T) {
			events, problems, _ := read(t, trace, recording.Options{})
			same(t, "problems", []string(nil), problems)
			same(t, "events", everyEvent, events)
		})
	}
}

func TestEncodings(t *testing.T) {
	for declared, name := range map[string]string{
		"ISO-8859-1": "Z\xfcrich", "windows-1252": "Z\xfcrich", "utf-8": "Zürich", "US-ASCII": "Z&#252;rich", "latin1": "Z\xfcrich",
	} {
		_, problems, c := read(t, `<?xml version='1.0' encoding='`+declared+`' standalone='yes'?><threadStart threadId="1" time="1" threadName="`+name+`"/>`, recording.Options{})
		same(t, declared, []string(nil), problems)
		same(t, declared, "Zürich", c.Threads[1].Name)
	}
	events, problems, _ := read(t, `<?xml version="1.0" encoding="EBCDIC-CP-US"?>`+"\n"+`<threadEnd threadIdRef="1" time="1"/>`, recording.Options{})
	same(t, "unknown", []string{`x.trcxml:1 (byte 0): unknown encoding "EBCDIC-CP-US"; reading the trace as UTF-8; convert the trace to UTF-8, for example with iconv`}, problems)
	same(t, "unknown", 1, len(events))
}

func TestUnitsAndOrigins(t *testing.T) {
	for _, c := range []struct {
		at    string
		times recording.Times
		want  string
	}{
		{"1229421042.398", recording.Times{}, "1229421042398000000 "},
		{"1229421042398.5", recording.Times{Unit: time.Millisecond}, "1229421042398500000 "},
		{"17", recording.Times{Unit: 1}, "17 "},
		{"1.5", recording.Times{Origin: 1_000_000_000}, "2500000000 "},
		{"-1.5", recording.Times{First: 7}, "7 "},
		{"1e3", recording.Times{}, "1000000000000 "},
	} {
		events, problems, _ := read(t, `<threadEnd threadIdRef="1" time="`+c.at+`"/>`, recording.Options{Times: c.times})
		if len(problems) > 0 || len(events) != 1 || !strings.HasPrefix(events[0], c.want) {
			t.Errorf("time %s, %+v: got %q and problems %v", c.at, c.times, events, problems)
		}
	}
}

func TestIDs(t *testing.T) {
	events, problems, _ := read(t, `<monContendedEnter threadIdRef="0x1F" time="1" objIdRef="5000000000" threadOwner="-1"/>
<monContendedEnter threadIdRef="0" time="2" objIdRef="" threadOwner="0"/><monContendedEnter threadIdRef="3" time="3" threadOwner="0"/>
<monWaited threadIdRef="3" time="4"/><monWait threadIdRef="3" time="5" objIdRef="-1"/><monWaited threadIdRef="3" time="6"/>`, recording.Options{})
	same(t, "problems", []string(nil), problems)
	same(t, "events", []string{
		`1000000000 contendedEnter thread=2893745258021844190 peer=0 arg=0 lock=/b4328bb1 flags=0 stack=""`,
		`2000000000 contendedEnter thread=17179869184 peer=17179869184 arg=0 lock=/0 flags=0 stack=""`,
		`3000000000 contendedEnter thread=3 peer=17179869184 arg=0 lock=/0 flags=0 stack=""`,
		`4000000000 waited thread=3 peer=0 arg=0 lock=/0 flags=0 stack=""`,
		`5000000000 sleepStart thread=3 peer=0 arg=0 lock=/0 flags=0 stack=""`,
		`6000000000 sleepEnd thread=3 peer=0 arg=0 lock=/0 flags=0 stack=""`,
	}, events)
}

func TestBadElementsAreSkipped(t *testing.T) {
	events, problems, _ := read(t, strings.Join([]string{
		`<threadEnd threadIdRef="1" time="1"/>`,
		`<threadEnd threadIdRef="1" time="x"/>`,
		`<threadEnd time="2"/>`,
		`<threadEnd threadIdRef="1"/>`,
		`<monWaited threadIdRef="1" time="2" isTimedOut="maybe"/>`,
		`<monWaited threadIdRef=1 time="2"/>`,
		`<monWaited threadIdRef="1 time="2"/>`,
		`<monWaited threadIdRef="1" time="2`,
		`<monWaited threadIdRef="1" time="2" / >`,
		`<monWaited threadIdRef="1" time>`,
		`<>< threadEnd></><monWait`,
		`<x y=z><!bad]]> garbage &amp &#0; & </nowhere`,
		`<threadEnd threadIdRef="1" time="3"`,
		`/>`,
		`<threadEnd threadIdRef="1" time="4"`,
	}, "\n"), recording.Options{})
	same(t, "problems", []string{
		`x.trcxml:2 (byte 38): invalid time "x"; skipping the element; correct the trace`,
		`x.trcxml:3 (byte 76): missing thread; skipping the element; correct the trace`,
		`x.trcxml:4 (byte 98): missing time; using that of the previous event`,
		`x.trcxml:5 (byte 127): invalid isTimedOut "maybe": want 1 or 0; skipping the element; correct the trace`,
		`x.trcxml:6 (byte 184): <monWaited> has an attribute "threadIdRef" without quotes; skipping to the next tag; correct the trace`,
		`x.trcxml:7 (byte 220): <monWaited> has an attribute "2" without a value; skipping to the next tag; correct the trace`,
		`x.trcxml:8 (byte 257): <monWaited> has an attribute "time" without a closing quote; skipping to the next tag; correct the trace`,
		`x.trcxml:9 (byte 292): <monWaited> has a slash between attributes; skipping to the next tag; correct the trace`,
		`x.trcxml:10 (byte 332): <monWaited> has an attribute "time" without a value; skipping to the next tag; correct the trace`,
		`x.trcxml:11 (byte 365): a tag has no name; skipping to the next tag; correct the trace`,
		`x.trcxml:11 (byte 367): a tag has no name; skipping to the next tag; correct the trace`,
		`x.trcxml:11 (byte 382): <monWait> has an attribute "" without a name; skipping to the next tag; correct the trace`,
		`x.trcxml:12 (byte 391): <x> has an attribute "y" without quotes; skipping to the next tag; correct the trace`,
		`x.trcxml:12 (byte 427): an end tag is not closed; skipping to the next tag; correct the trace`,
		`x.trcxml:15 (byte 476): the trace ends inside a tag; it may be truncated`,
	}, problems)
	same(t, "events", 3, len(events))
}

func TestCorruptTraces(t *testing.T) {
	t.Parallel()
	reported := threadtest.Corrupt(t, &format, func() recording.Options { return recording.Options{} }, []byte(everyElement), 2)
	if reported < len(everyElement) {
		t.Errorf("only %d of %d flipped bits were reported", reported, 8*len(everyElement))
	}
}

// endless is a reader that repeats a text.
type endless struct {
	text string
	left int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n+len(e.text) <= len(p) && e.left > 0 {
		n += copy(p[n:], e.text)
		e.left -= int64(len(e.text))
	}
	return n, nil
}

// Input without an end does not affect what follows: tags, attributes, comments, declarations, nested elements, references.
func TestHostileTraces(t *testing.T) {
	t.Parallel()
	size := int64(64 << 20)
	if testing.Short() || threadtest.Race {
		size = 4 << 20
	}
	for name, part := range map[string]struct{ before, again, after string }{
		"a value":       {`<monWait time="`, "x", `"/>`},
		"a name":        {`<`, "x", `/>`},
		"attributes":    {`<monWait`, " a='b'", `/>`},
		"a comment":     {`<!--`, "<-- ", `-->`},
		"a declaration": {`<!DOCTYPE a [`, "<!ENTITY b '&b;&b;'>", `]>`},
		"nesting":       {`<a>`, "<a b='c'>", `</a>`},
		"references":    {`<threadStart threadName="`, "&lol;&#1;&amp;", `"/>`},
		"a note":        {`<threadInterrupted threadId="1" time="1"><annotation name="weft.stack">`, "at a.B.c(D.java:1)\n", `</annotation></threadInterrupted>`},
		"white space":   {``, "\n", ``},
		"characters":    {`<![CDATA[`, "]]]", `]]>`},
		"an end tag":    {`</`, "x", `>`},
		"less than":     {``, "<", ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &threadtest.Collector{}
			d := format.New(recording.Options{File: "x", MaxProblems: 10}, c)
			src := io.MultiReader(strings.NewReader(`<threadEnd threadIdRef="1" time="1"/>`+part.before), &endless{part.again, size},
				strings.NewReader(part.after+`<threadEnd threadIdRef="2" time="2"/>`))
			if _, err := io.CopyBuffer(d, struct{ io.Reader }{src}, make([]byte, 256<<10)); err != nil {
				t.Fatal(err)
			}
			err := d.Close()
			threadtest.CheckDecoded(t, name, c, d.Stats(), err)
			if n := len(c.Events); n < 2 || c.Events[n-1].Thread != 2 {
				t.Errorf("got %d events, problems %v", n, c.Problems)
			}
		})
	}
}

func TestMatch(t *testing.T) {
	for text, want := range map[string]bool{
		everyElement: true, "<TRACE>": true, "  \n<monWait time='1'/>": true, encode16(everyElement, little, true): true, "\xEF\xBB\xBF<TRACE>": true,
		"": false, "<html><body>": false, "1,ThreadEnded,A\n<TRACE>": false, "<trace>": false,
	} {
		if got := format.Match([]byte(text)); got != want {
			t.Errorf("Match(%.30q) = %t, want %t", text, got, want)
		}
	}
}

// An element without a class is about the same lock as one of the same object that states the class.
func TestOneObjectIsOneLock(t *testing.T) {
	events, _, _ := read(t, `<monContendedEnter threadIdRef="5" time="2" objIdRef="7"><annotation name="weft.class">com.acme.Lock</annotation></monContendedEnter>
<monContendedEntered threadIdRef="5" time="3" objIdRef="7"/>
<callNotify threadId="5" time="4" objIdRef="8"/>`, recording.Options{})
	same(t, "events", []string{
		`2000000000 contendedEnter thread=5 peer=0 arg=0 lock=com.acme.Lock/7 flags=0 stack=""`,
		`3000000000 contendedEntered thread=5 peer=0 arg=0 lock=com.acme.Lock/7 flags=0 stack=""`,
		`4000000000 notify thread=5 peer=0 arg=0 lock=/8 flags=0 stack=""`,
	}, events)
}

// A thread keeps the id of its object if events with it were passed on before the thread started.
func TestLateThreadStart(t *testing.T) {
	var trace strings.Builder
	trace.WriteString(`<callStart threadId="1" time="1" objIdRef="77"/>`)
	for range 10 {
		trace.WriteString(`<callNotify threadId="1" time="2" objIdRef="8"/>`)
	}
	trace.WriteString(`<threadStart threadId="5" time="3" objIdRef="77"/>`)
	for reorder, want := range map[int]string{4: "thread=8589934593", 20: "thread=5"} {
		events, _, _ := read(t, trace.String(), recording.Options{Reorder: reorder})
		if last := events[len(events)-1]; !strings.Contains(last, want) || !strings.Contains(events[0], strings.Replace(want, "thread", "peer", 1)) {
			t.Errorf("reorder %d: got %s and %s, want %s in both", reorder, events[0], last, want)
		}
	}
}
