// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/orca"
	"github.com/weft-otel/weft/internal/threadtest"
)

// follow decodes pieces of a log, appending to the metadata before each piece.
func follow(t *testing.T, pieces ...[2]string) (events, problems []string) {
	t.Helper()
	meta := map[string]string{}
	c := &threadtest.Collector{}
	opts := recording.Options{File: "x.orca", Symbols: symbols.New(symbols.DefaultLimits()), Sidecar: sidecar(meta)}
	d := format.New(opts, c)
	for _, piece := range pieces {
		meta[orca.ExtensionMeta] += piece[0]
		if _, err := io.WriteString(d, piece[1]); err != nil {
			t.Fatal(err)
		}
		if err := d.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for _, ev := range c.Events {
		events = append(events, opts.Symbols.Stack(ev.Stack))
	}
	for _, p := range c.Problems {
		problems = append(problems, p.Error())
	}
	return events, problems
}

func sleep(second int, stack string) string {
	return fmt.Sprintf("%d,ThreadSleep,0000000A,1,%s\n%d.5,ThreadSlept,0000000A,0\n", second, stack, second)
}

// A followed log refers to methods and lines that were added to the metadata after it was opened.
func TestGrowingMetadata(t *testing.T) {
	const known = "00000001,one,,Lcom/acme/Main;,1,00000007,7\n"
	events, problems := follow(t,
		[2]string{"Lcom/acme/Main;,Main.java\n" + known, sleep(1, "1,7")},
		[2]string{"", sleep(2, "2,9")},
		[2]string{"00000002,two,,Lcom/acme/Main;,1,00000009,9\n", sleep(3, "2,9")},
		[2]string{"00000001,one,,Lcom/acme/Main;,2,00000007,7,0000000C,12\n", sleep(4, "1,C")},
	)
	same(t, "problems", nil, problems)
	same(t, "events", []string{
		"at com.acme.Main.one(Main.java:7)", "", "at method 0x2(Unknown Source)", "", "at com.acme.Main.two(Main.java:9)", "",
		"at com.acme.Main.one(Main.java:12)", "",
	}, events)
}

// An incomplete line of metadata is reported, and read once it is complete.
func TestIncompleteMetadataLine(t *testing.T) {
	events, problems := follow(t,
		[2]string{"00000002,two,,Lcom/acme/Main;,1,00000009,9\n00000001,o", sleep(1, "2,9")},
		[2]string{"", sleep(2, "2,9")},
		[2]string{"n", sleep(3, "2,9")},
		[2]string{"e,,Lcom/acme/Main;,1,00000007,7\nnonsense\n", sleep(4, "1,7")},
	)
	const remedy = "; want <class>,<file> or <method>,<name>,<signature>,<class>,<count>(,<location>,<line>)*"
	same(t, "problems", []string{
		"x.meta:2 (byte 43): missing method name, signature or class" + remedy,
		"x.meta:2 (byte 43): missing method name, signature or class" + remedy,
		"x.meta:3 (byte 86): the line starts with neither a class nor a method number" + remedy,
	}, problems)
	same(t, "the last event", []string{"at com.acme.Main.one(:7)"}, events[6:7])
}

// The final metadata of a recording replace those of the growing one. They are read from their start.
func TestReplacedMetadata(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.method")
	c := &threadtest.Collector{}
	opts := recording.Options{File: "x.orca", Symbols: symbols.New(symbols.DefaultLimits()), Sidecar: func(extension string) (io.ReadCloser, error) {
		if extension != orca.ExtensionMethods {
			return nil, fs.ErrNotExist
		}
		return os.Open(name)
	}}
	d := format.New(opts, c)
	const one, two = "00000001,one,,Lcom/acme/Main;,1,00000007,7\n", "00000002,two,,Lcom/acme/Main;,2,00000008,8,00000009,9\n"
	for i, methods := range []string{one, two + one} {
		if err := errors.Join(os.WriteFile(name+".new", []byte(methods), 0o600), os.Rename(name+".new", name)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(d, sleep(i+1, fmt.Sprintf("%d,%d", i+1, 7+i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil || len(c.Problems) > 0 || len(c.Events) != 4 {
		t.Fatalf("got %v, problems %v, %d events", err, c.Problems, len(c.Events))
	}
	if got := opts.Symbols.Stack(c.Events[2].Stack); got != "at com.acme.Main.two(:8)" {
		t.Errorf("got %q", got)
	}
}
