// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Command agentcopy is the only program in the image with the agent, where it is named cp: how do the agent's files get from an init
// container into the application's? It understands what init containers run, among them those of the OpenTelemetry operator:
// cp -r DIR/. DEST. There is no shell in the image.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const usage = "usage: cp [-r|-R|-a] SOURCE... DEST"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cp:", err)
		os.Exit(1)
	}
}

// run copies files, and with an option folders, as cp of coreutils does. Rights are kept within the umask, owners and times are not.
func run(args []string) error {
	recursive := false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-r", "-R", "-a":
			recursive = true
		case "--":
		default:
			return fmt.Errorf("unknown option %q; %s", args[0], usage)
		}
		end := args[0] == "--"
		args = args[1:]
		if end {
			break
		}
	}
	if len(args) < 2 {
		return errors.New(usage)
	}
	sources, dest := args[:len(args)-1], args[len(args)-1]
	info, err := os.Stat(dest)
	into := err == nil && info.IsDir()
	if len(sources) > 1 && !into {
		return fmt.Errorf("%s is not a folder: create it, or name one source", dest)
	}
	for _, source := range sources {
		target := dest
		// The contents of DIR/. are copied into DEST itself.
		if name := filepath.Base(source); into && name != ".." && !strings.HasSuffix(source, "/.") && source != "." {
			target = filepath.Join(dest, name)
		}
		if err := copyTree(source, target, recursive); err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies a file or a folder. Links within the tree are not followed, so that nothing outside of it is copied.
func copyTree(source, target string, recursive bool) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return copyFile(source, target, info.Mode().Perm())
	}
	if !recursive {
		return fmt.Errorf("%s is a folder: add -r", source)
	}
	return filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		to := filepath.Join(target, relative)
		info, err := entry.Info()
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.MkdirAll(to, info.Mode().Perm()|0o700)
		case info.Mode().IsRegular():
			return copyFile(path, to, info.Mode().Perm())
		default:
			return fmt.Errorf("%s is neither a file nor a folder", path)
		}
	})
}

// copyFile replaces the target at once, so that a JVM never maps half a library, and one that has mapped the old file keeps it.
func copyFile(source, target string, mode fs.FileMode) (err error) {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.CreateTemp(filepath.Dir(target), ".cp-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(out.Name()) // the first error counts
		}
	}()
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Chmod(mode), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), target)
}
