// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Command mutation answers: would the gate notice a fault? It puts each fault of faults.txt into a copy of the checkout, one at a time, runs
// the tests of the gate that could notice it, nearest first, and prints which one did. It exits with 1 if more than -missed faults are not
// noticed, and with 2 if a fault does not fit the source any more.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	only := flag.String("run", "", "only faults whose title matches this regular expression")
	missed := flag.Int("missed", 2, "how many faults may go unnoticed")
	flag.Parse()
	code, err := check(*only, *missed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(2)
	}
	os.Exit(code)
}

func check(only string, allowed int) (int, error) {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return 0, err
	}
	root, err := output("git", "rev-parse", "--show-toplevel")
	if err != nil {
		return 0, err
	}
	faults, err := readFaults(filepath.Join(root, "tools/mutation/faults.txt"))
	if err != nil {
		return 0, err
	}
	copied, err := copyTree(root)
	if err != nil {
		return 0, err
	}
	faults = slices.DeleteFunc(faults, func(f fault) bool { return !pattern.MatchString(f.title) })
	if err := passes(copied, faults); err != nil {
		return 0, err
	}
	ran, unnoticed := 0, 0
	for i := range faults {
		f := &faults[i]
		began := time.Now()
		by, err := f.noticed(copied)
		if err != nil {
			return 0, err
		}
		if ran++; by == "" {
			unnoticed++
			by = "NOT NOTICED"
		}
		fmt.Printf("%3d  %-90s %5.0f s  %s\n", ran, f.title, time.Since(began).Seconds(), by)
	}
	fmt.Printf("%d of %d faults were noticed\n", ran-unnoticed, ran)
	if unnoticed > allowed {
		return 1, nil
	}
	return 0, nil
}

// copyTree copies the files that git knows, and what the tests need of the build, into a folder that later runs use again: a fixed path
// keeps Go's cache of results valid.
func copyTree(root string) (string, error) {
	copied := filepath.Join(root, "build/mutation")
	const script = `mkdir -p "$0" && git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- -cf - | tar -xf - -C "$0" &&
		mkdir -p "$0"/build "$0"/web && ln -sfn "$PWD"/web/node_modules "$0"/web/node_modules`
	cmd := exec.Command("sh", "-c", script, copied)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("copy the checkout: %w\n%s", err, out)
	}
	return copied, nil
}

// passes runs the tests without a fault: what fails then would seem to notice each one.
func passes(copied string, faults []fault) error {
	ran := make(map[string]bool)
	for i := range faults {
		for _, command := range faults[i].commands() {
			if ran[command] {
				continue
			}
			ran[command] = true
			cmd := exec.Command("sh", "-c", command)
			cmd.Dir = copied
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s fails without a fault: %s", command, firstFailure(string(out)))
			}
		}
	}
	return nil
}

// noticed puts the fault into the copy and returns the first command that fails, or an empty string.
func (f *fault) noticed(root string) (by string, err error) {
	path := filepath.Join(root, f.file)
	before, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	after, err := f.apply(string(before))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, []byte(after), 0o600); err != nil {
		return "", err
	}
	defer func() {
		if failed := os.WriteFile(path, before, 0o600); err == nil {
			err = failed
		}
	}()
	for _, command := range f.commands() {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err == nil {
			continue
		}
		if bytes.Contains(out, []byte("[build failed]")) {
			return "", fmt.Errorf("fault %q does not compile:\n%s", f.title, out)
		}
		return command + ": " + firstFailure(string(out)), nil
	}
	return "", nil
}

// commands returns the parts of the gate that could notice the fault, the nearest first.
func (f *fault) commands() []string {
	switch filepath.Ext(f.file) {
	case ".c", ".h":
		return []string{"make -s -C agent test", "make -s counttest"}
	case ".ts", ".tsx":
		return []string{"npm --prefix web run --silent check"}
	default:
		return []string{"go test ./" + filepath.Dir(f.file), "go test ./internal/engine/... ./corpus/...", "go test $(go list ./... | grep -v '/e2e$')"}
	}
}

var failure = regexp.MustCompile(`(?m)^(\s*--- FAIL: \S+|not ok .*|.*: failed: .*|panic: .*|.*Assertion.*|.*error TS.*)`)

// firstFailure abbreviates the output of a test.
func firstFailure(out string) string {
	return strings.TrimSpace(failure.FindString(out))
}

func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	return strings.TrimSpace(string(out)), err
}
