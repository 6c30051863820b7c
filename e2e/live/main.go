// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Command live runs the end-to-end tests one by one. A test that fails is run twice more: it is flaky if it passes both times, otherwise it has
// failed. What a failed run leaves is kept below build/failed, and all runs are counted in build/ledger.json, which is printed at the end. The
// exit status is 0 if no test has failed; flaky ones are only reported.
//
//	make e2e
//	go run ./e2e/live -run 'Killed' -count 25
//	go run ./e2e/live -run TestStress -- -stress=10m
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	s := suite{out: os.Stdout, dir: "e2e"}
	flag.StringVar(&s.pattern, "run", ".", "tests to run, as a regular expression")
	flag.StringVar(&s.except, "skip", "", "tests to leave out, as a regular expression")
	flag.IntVar(&s.count, "count", 1, "how often each test is run")
	flag.DurationVar(&s.limit, "limit", time.Hour, "how long a run may take until it counts as hanging")
	flag.StringVar(&s.failed, "failed", "build/failed", "folder for what failed runs leave")
	flag.StringVar(&s.file, "ledger", "build/ledger.json", "file that counts all runs")
	list := flag.Bool("list", false, "only list the tests")
	flag.Parse()
	s.flags = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := s.prepare(ctx)
	if err == nil {
		err = s.runAll(ctx, *list)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

// suite is a program with tests, and how to run them.
type suite struct {
	program, dir    string // the compiled tests, and the folder where they run
	pattern, except string
	count           int
	limit           time.Duration
	failed, file    string   // where results go
	flags           []string // for the tests
	classes         string   // folder of compiled Java programs
	out             io.Writer
}

// prepare compiles the tests.
func (s *suite) prepare(ctx context.Context) (err error) {
	for _, path := range []*string{&s.failed, &s.file} { // the tests run in another folder
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if s.program, err = filepath.Abs("build/e2e.test"); err != nil {
		return err
	}
	compile := exec.CommandContext(ctx, "go", "test", "-c", "-o", s.program, "./"+s.dir)
	compile.Stdout, compile.Stderr = s.out, s.out
	return compile.Run()
}

// runAll runs the tests and prints the ledger. It returns an error if a test has failed.
func (s *suite) runAll(ctx context.Context, list bool) error {
	tests, err := s.tests(ctx)
	if err != nil {
		return err
	}
	if list {
		_, err = fmt.Fprintln(s.out, strings.Join(tests, "\n"))
		return err
	}
	if s.classes, err = os.MkdirTemp("", "weft-classes-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.classes) //nolint:errcheck // a temporary folder
	l, err := openLedger(s.file)
	if err != nil {
		return err
	}
	var failed []string
	for range s.count {
		for _, test := range tests {
			v, err := s.judge(ctx, test)
			if err != nil {
				return err
			}
			v.report(s.out)
			if v.result() == hasFailed {
				failed = append(failed, test)
			}
			if err := l.add(v); err != nil {
				return err
			}
		}
	}
	if err := l.print(s.out); err != nil || len(failed) == 0 {
		return err
	}
	return fmt.Errorf("%d failed: %s; see %s", len(failed), strings.Join(failed, ", "), s.failed)
}

// tests lists the chosen tests in the order of their files.
func (s *suite) tests(ctx context.Context) (names []string, err error) {
	list := exec.CommandContext(ctx, s.program, "-test.list", s.pattern, "-test.skip", s.except)
	list.Dir = s.dir
	out, err := list.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("cannot list the tests: %w\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "Test") {
			names = append(names, line)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no test matches %q", s.pattern)
	}
	return names, nil
}

// judge runs a test, and twice more if it fails.
func (s *suite) judge(ctx context.Context, test string) (*verdict, error) {
	folder := filepath.Join(s.failed, test)
	if err := os.RemoveAll(folder); err != nil {
		return nil, err
	}
	v := &verdict{test: test, folder: folder, load: loadAverage()}
	const attempts = 3
	for n := 1; n <= attempts; n++ {
		r, err := s.run(ctx, test, filepath.Join(folder, fmt.Sprint("run-", n)))
		if err = cmp.Or(ctx.Err(), err); err != nil { // an interrupted run does not count
			return nil, err
		}
		v.runs = append(v.runs, r)
		if n == 1 && r.passed {
			return v, os.RemoveAll(folder)
		}
	}
	return v, nil
}
