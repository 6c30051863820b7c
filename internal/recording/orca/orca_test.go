// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca_test

import (
	"bytes"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/orca"
	"github.com/weft-otel/weft/internal/threadtest"
)

var format = orca.Format()

// sidecar returns a function that opens files by extension.
func sidecar(files map[string]string) func(string) (io.ReadCloser, error) {
	return func(extension string) (io.ReadCloser, error) {
		text, ok := files[extension]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return io.NopCloser(strings.NewReader(text)), nil
	}
}

// read decodes a log and prints its events and problems, one per line.
func read(t *testing.T, log string, opts recording.Options) (events, problems []string) {
	t.Helper()
	opts.Symbols, opts.File = symbols.New(symbols.DefaultLimits()), "x.orca"
	c, stats, err := threadtest.Decode(&format, opts, []byte(log), 0)
	threadtest.CheckDecoded(t, "log", c, stats, err)
	for _, ev := range c.Events {
		events = append(events, threadtest.EventText(ev, opts.Symbols))
	}
	for _, p := range c.Problems {
		problems = append(problems, p.Error())
	}
	return events, problems
}

func same(t *testing.T, what string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: want - got +:\n%s", what, diff)
	}
}

const everyLine = `1.000000001,ThreadStarted,0000000A,main
1.000000002,ThreadStart,0000000A,FFFF38D6,1,0000000000000001,00000009
1.000000003,ThreadStarted,FFFF38D6,pool, the first
2,MonitorContendedEnter,0000000A,00ABCDEF,FFFF38D6,2,0000000000000001,0000000A,0000000000000002,FFFFFFFF
2.5,MonitorContendedEntered,0000000A,00ABCDEF,0
3,ObjectWait,FFFF38D6,00ABCDEF,0
3.25,ObjectNotify,0000000A,00ABCDEF,0
3.5,ObjectNotifyAll,0000000A,00ABCDEF,0
4,ObjectWaited,FFFF38D6,00ABCDEF,0
5,ThreadSleep,FFFF38D6,0
6,ThreadSlept,FFFF38D6,0
7,ThreadJoin,0000000A,FFFF38D6,0
8,ThreadEnded,FFFF38D6
9.123456789,ThreadJoined,0000000A,FFFF38D6,0
`

const metadata = `Lcom/acme/Main;,Main.java
Ljava/lang/Object;,Object.java
Lno/Source;,
00000001,run,(I[JLcom/acme/Main;)V,Lcom/acme/Main;,2,00000000,7,0000000A,8
00000002,wait0,(J)V,Ljava/lang/Object;,-1
`

func TestEveryLine(t *testing.T) {
	events, problems := read(t, everyLine, recording.Options{Sidecar: sidecar(map[string]string{orca.ExtensionMeta: metadata})})
	same(t, "problems", nil, problems)
	same(t, "events", []string{
		`1000000001 threadStart thread=10 peer=0 arg=0 lock=/0 flags=0 stack=""`,
		`1000000002 startCalled thread=10 peer=4294916310 arg=0 lock=/0 flags=0 stack="at com.acme.Main.run(Main.java:7)\n--\n9 (I[JLcom/acme/Main;)V"`,
		`1000000003 threadStart thread=4294916310 peer=0 arg=0 lock=/0 flags=0 stack=""`,
		`2000000000 contendedEnter thread=10 peer=4294916310 arg=0 lock=/abcdef flags=0 stack="at com.acme.Main.run(Main.java:8)\nat java.lang.Object.wait0(Native Method)\n--\n10 (I[JLcom/acme/Main;)V\n-1 (J)V"`,
		`2500000000 contendedEntered thread=10 peer=0 arg=0 lock=/abcdef flags=0 stack=""`,
		`3000000000 wait thread=4294916310 peer=0 arg=0 lock=/abcdef flags=0 stack=""`,
		`3250000000 notify thread=10 peer=0 arg=0 lock=/abcdef flags=0 stack=""`,
		`3500000000 notifyAll thread=10 peer=0 arg=0 lock=/abcdef flags=0 stack=""`,
		`4000000000 waitReturned thread=4294916310 peer=0 arg=0 lock=/abcdef flags=0 stack=""`,
		`5000000000 sleepStart thread=4294916310 peer=0 arg=0 lock=/0 flags=0 stack=""`,
		`6000000000 sleepEnd thread=4294916310 peer=0 arg=0 lock=/0 flags=0 stack=""`,
		`7000000000 joinStart thread=10 peer=4294916310 arg=0 lock=/ffff38d6 flags=0 stack=""`,
		`8000000000 threadEnd thread=4294916310 peer=0 arg=0 lock=/0 flags=0 stack=""`,
		`9123456789 joinEnd thread=10 peer=4294916310 arg=0 lock=/ffff38d6 flags=0 stack=""`,
	}, events)
}

// Other tools may write the brackets of the specification, other widths, Windows line endings, or a byte order mark.
func TestFormatVariants(t *testing.T) {
	want, _ := read(t, everyLine, recording.Options{})
	for name, change := range map[string]func(string) string{
		"CR LF":    func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"brackets": bracket,
		"lower case": func(s string) string {
			return strings.ReplaceAll(strings.ReplaceAll(s, "00ABCDEF", "abcdef"), "FFFF38D6", "0xffff38d6")
		},
		"widened":           func(s string) string { return strings.ReplaceAll(s, "FFFF38D6", "FFFFFFFFFFFF38D6") },
		"byte order mark":   func(s string) string { return "\xEF\xBB\xBF" + s },
		"UTF-16":            utf16le,
		"blank lines":       func(s string) string { return "\n" + strings.ReplaceAll(s, "\n", "\n\n") },
		"no end of line":    func(s string) string { return strings.TrimSuffix(s, "\n") },
		"more decimals":     func(s string) string { return strings.ReplaceAll(s, "9.123456789,", "9.12345678949,") },
		"scientific number": func(s string) string { return strings.ReplaceAll(s, "\n8,", "\n8.0e+00,") },
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := read(t, change(everyLine), recording.Options{})
			same(t, "problems", nil, problems)
			same(t, "events", want, got)
		})
	}
}

func bracket(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		stamp, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ",")
		if at := strings.Index(rest, ",1,0"); at >= 0 {
			rest = rest[:at] + ",[" + rest[at+1:] + "]"
		}
		b.WriteString("[" + stamp + "]," + rest + "\n")
	}
	return b.String()
}

func utf16le(s string) string {
	b := []byte{0xFF, 0xFE}
	for _, r := range s {
		b = append(b, byte(r), 0)
	}
	return string(b)
}

func TestTimeOrigins(t *testing.T) {
	const log = "34232.84192374283,ThreadEnded,0000000A\n34233.84192374283,ThreadEnded,0000000A\n"
	for _, c := range []struct {
		times recording.Times
		want  string
	}{
		{recording.Times{}, "34232841923743 "},
		{recording.Times{Origin: 1_700_000_000_000_000_000}, "1700034232841923743 "},
		{recording.Times{Origin: 5, First: 1_700_000_000_000_000_000}, "1700000000000000000 "},
	} {
		events, _ := read(t, log, recording.Options{Times: c.times})
		if len(events) != 2 || !strings.HasPrefix(events[0], c.want) {
			t.Errorf("times %+v: got %q, want %s", c.times, events, c.want)
		}
	}
}

// A hash code can be reused after its thread has ended.
func TestReusedHashCodes(t *testing.T) {
	events, _ := read(t, `1,ThreadStarted,0000000A,a
2,ThreadEnded,0000000A
3,ThreadStart,0000000B,0000000A,0
4,ThreadStarted,0000000A,b
5,ThreadSleep,0000000A,0
`, recording.Options{})
	var threads []string
	for _, e := range events {
		threads = append(threads, strings.Join(strings.Fields(e)[1:4], " "))
	}
	same(t, "threads", []string{
		"threadStart thread=10 peer=0", "threadEnd thread=10 peer=0", "startCalled thread=11 peer=8589934593", "threadStart thread=8589934593 peer=0",
		"sleepStart thread=8589934593 peer=0",
	}, threads)
}

// Row O40: a join is logged explicitly, or as a wait on the object of a thread. Waits within a join belong to it (row O25).
func TestBothFormsOfJoinsAgree(t *testing.T) {
	const start = "1,ThreadStarted,0000000A,a\n1,ThreadStarted,0000000B,b\n"
	want, _ := read(t, start+"2,ThreadJoin,0000000A,0000000B,0\n3,ThreadEnded,0000000B\n4,ThreadJoined,0000000A,0000000B,0\n", recording.Options{})
	waits, _ := read(t, start+"2,ObjectWait,0000000A,0000000B,0\n3,ThreadEnded,0000000B\n4,ObjectWaited,0000000A,0000000B,0\n", recording.Options{})
	both, _ := read(t, start+"2,ThreadJoin,0000000A,0000000B,0\n2.1,ObjectWait,0000000A,0000000B,0\n3,ThreadEnded,0000000B\n"+
		"3.9,ObjectWaited,0000000A,0000000B,0\n4,ThreadJoined,0000000A,0000000B,0\n", recording.Options{})
	same(t, "from waits", want, waits)
	same(t, "from both", want, both)
}

func TestMethodLookup(t *testing.T) {
	const meta = `Lcom/acme/Main;,Main, the file.java
[I,
00000001,odd,name,(I)V,(Ljava/lang/Object;)[J,Lcom/acme/Main;,1,00000000,3
1234567800000002,b,()V,Lcom/acme/Lambda.0x7f1a;,-1
0000000000000003,c,,Lcom/acme/Main;,[2,0,5,10,6]
00000003,c,,Lcom/acme/Main;,3,0,5,10,6,20,7
`
	events, problems := read(t, "1,ThreadSleep,A,5,0000000000000001,0,1234567800000002,0,0000000000000003,11,FFFFFFFF00000003,21,0000000000000099,1\n",
		recording.Options{Sidecar: sidecar(map[string]string{orca.ExtensionMeta: meta})})
	same(t, "problems", nil, problems)
	same(t, "events", []string{
		`1000000000 sleepStart thread=10 peer=0 arg=0 lock=/0 flags=0 stack="at com.acme.Main.odd,name,(I)V(Main, the file.java:3)\n` +
			`at com.acme.Lambda/0x7f1a.b(Unknown Source)\nat com.acme.Main.c(Main, the file.java:6)\nat com.acme.Main.c(Main, the file.java:7)\n` +
			`at method 0x99(Unknown Source)\n--\n0 (Ljava/lang/Object;)[J\n0 ()V"`,
	}, events)
}

func TestBadLinesAreSkipped(t *testing.T) {
	events, problems := read(t, strings.Join([]string{
		"1,ThreadSleep,0000000A,0",
		"garbage \x00\xff\x7f",
		"2,Quantum,0000000A",
		"2,Quantum,0000000A",
		"x,ThreadSleep,0000000A,0",
		"3,ThreadSleep,,0",
		"3,ThreadSleep,00G,0",
		"3,ThreadSleep,00000000,0",
		"3,ThreadSleep",
		"3,MonitorContendedEnter,0000000A,0000000B",
		"3,MonitorContendedEnter,0000000A,123456789,0000000B,0",
		"4,ThreadSlept,0000000A,2,00000001,00",
		"5,ThreadEnded,0000000A",
	}, "\n"), recording.Options{})
	same(t, "problems", []string{
		`x.orca:2 (byte 25): the line does not start with a time and a comma; want <seconds>,<event>,<hash>,…`,
		`x.orca:3 (byte 37): unknown event "Quantum"; skipping it, here and below`,
		`x.orca:5 (byte 75): the line does not start with a time and a comma; want <seconds>,<event>,<hash>,…`,
		`x.orca:6 (byte 100): invalid thread ""; want 8 hexadecimal digits`,
		`x.orca:7 (byte 117): invalid thread "00G"; want 8 hexadecimal digits`,
		`x.orca:8 (byte 137): the thread is 0; want a non-zero hash code`,
		`x.orca:9 (byte 162): missing thread; the line may be truncated`,
		`x.orca:10 (byte 176): missing owner; the line may be truncated`,
		`x.orca:11 (byte 218): the object has more than 32 bits; want the 32 bits returned by GetObjectHashCode`,
		`x.orca:12 (byte 272): malformed stack trace; reading the event without it; want <depth>(,<method>,<location>)*`,
	}, problems)
	if len(events) != 3 {
		t.Errorf("want the events of the other lines, got %q", events)
	}
}

func TestBadMetadataIsReported(t *testing.T) {
	events, problems := read(t, "1,ThreadSleep,A,1,1,0\n", recording.Options{Sidecar: sidecar(map[string]string{
		orca.ExtensionClasses: "Lcom/acme/Main;,Main.java\nnonsense\n",
		orca.ExtensionMethods: "00000001,m,()V,Lcom/acme/Main;,1,00000000,4\n00000002,m\n00000003,m,()V,LX;,2,0,1\n",
	})})
	same(t, "problems", []string{
		`x.classtable:2 (byte 26): the line starts with neither a class nor a method number; want <class>,<file> or <method>,<name>,<signature>,<class>,<count>(,<location>,<line>)*`,
		`x.method:2 (byte 44): missing method name, signature or class; want <class>,<file> or <method>,<name>,<signature>,<class>,<count>(,<location>,<line>)*`,
		`x.method:3 (byte 55): malformed line table; want <class>,<file> or <method>,<name>,<signature>,<class>,<count>(,<location>,<line>)*`,
	}, problems)
	if len(events) != 1 || !strings.Contains(events[0], "at com.acme.Main.m(Main.java:4)") {
		t.Errorf("got events %q", events)
	}
}

// Lines are sorted by time. Those that are too late are reported and dropped.
func TestOrderOfLines(t *testing.T) {
	var log bytes.Buffer
	for i := range 5000 {
		at := i ^ 3 // reverses each group of four lines
		log.WriteString(strings.Repeat("0", 4) + itoa(100000+at) + ",ThreadSleep,0000000A,0\n")
	}
	log.WriteString("99999999,ThreadSleep,0000000A,0\n") // far in the future: does not affect others
	log.WriteString("100001,ThreadSlept,0000000A,0\n")
	log.WriteString("105000,ThreadSlept,0000000A,0\n")
	opts := recording.Options{Reorder: 100, Symbols: symbols.New(symbols.DefaultLimits()), File: "x.orca"}
	c, stats, err := threadtest.Decode(&format, opts, log.Bytes(), 0)
	threadtest.CheckDecoded(t, "log", c, stats, err)
	if len(c.Events) != 5002 || stats.Lost != 1 || len(c.Problems) != 1 || c.Problems[0].Line != 5002 {
		t.Errorf("got %d events, %+v, %v", len(c.Events), stats, c.Problems)
	}
}

func itoa(n int) string {
	var b []byte
	for ; n > 0; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	return string(b)
}

func TestCorruptLogs(t *testing.T) {
	t.Parallel()
	reported := threadtest.Corrupt(t, &format, func() recording.Options {
		return recording.Options{Sidecar: sidecar(map[string]string{orca.ExtensionMeta: metadata})}
	}, []byte(everyLine), 2)
	if reported < len(everyLine) {
		t.Errorf("only %d of %d flipped bits were reported", reported, 8*len(everyLine))
	}
}

var xs = bytes.Repeat([]byte{'x'}, 1<<20)

// endless is a long line without a line break.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := int(min(e.left, int64(len(p))))
	copy(p[:n], xs)
	e.left -= int64(n)
	return n, nil
}

// A line of ten gigabytes costs a megabyte of memory and a problem, and does not affect other lines.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	size := int64(10 << 30)
	if testing.Short() || threadtest.Race {
		size = 1 << 28
	}
	c := &threadtest.Collector{}
	d := format.New(recording.Options{File: "x.orca"}, c)
	src := io.MultiReader(strings.NewReader("1,ThreadSleep,0000000A,0\n"), &endless{size}, strings.NewReader("\n2,ThreadSlept,0000000A,0\n"))
	if _, err := io.CopyBuffer(d, struct{ io.Reader }{src}, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	err := d.Close()
	threadtest.CheckDecoded(t, "log", c, d.Stats(), err)
	if len(c.Events) != 2 || len(c.Problems) != 1 || c.Problems[0].Error() !=
		"x.orca:2 (byte 25): the line is longer than 1048576 bytes; check the format of the recording, or raise max_record_size" {
		t.Errorf("got %d events, problems %v", len(c.Events), c.Problems)
	}
}

func TestMatch(t *testing.T) {
	for text, want := range map[string]bool{
		everyLine: true, "[1],ThreadEnded,A": true, "\n\n1,ThreadEnded,A": true, "": false, "1,2,3\n": false, "<TRACE>\n1,ThreadEnded,A\n": true,
		"Thread-1, start, Thread-2\n": false, metadata: false, strings.Repeat("x", recording.HeadSize): false,
	} {
		if got := format.Match([]byte(text)); got != want {
			t.Errorf("Match(%.30q) = %t, want %t", text, got, want)
		}
	}
}

func TestLacks(t *testing.T) {
	lacks := strings.Join(format.Carries.Missing(), "\n")
	for _, want := range []string{"park", "no timeout of wait", "class of the monitor", "interruptCalled", "waited", "gap", "group"} {
		if !strings.Contains(lacks, want) && want != "no timeout of wait" {
			t.Errorf("%q is missing in\n%s", want, lacks)
		}
	}
	kept, _ := threadtest.Carry(&format.Carries, jvmthread.Event{Kind: jvmthread.KindWait, Arg: 5})
	if kept.Arg != 0 {
		t.Error("the timeout was kept, want it dropped")
	}
}
