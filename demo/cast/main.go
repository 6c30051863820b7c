// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Command cast answers: what does a first look at a JVM with weft top look like? It runs the sample exchange, types the commands in a shell, and
// writes what the terminal shows as an asciicast, to be played by asciinema. make cast starts it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

func main() {
	out := flag.String("o", "docs/images/top.cast", "file to write")
	weft := flag.String("weft", "build/standalone/weft", "the command")
	java := flag.String("java", "java", "the program that runs the exchange")
	classes := flag.String("classes", "build/demo/classes", "folder of the compiled exchange")
	flag.Parse()
	if err := record(*out, *weft, *java, *classes); err != nil {
		fmt.Fprintln(os.Stderr, "cast:", err)
		os.Exit(1)
	}
}

// record runs the exchange and writes the recording of a look at it.
func record(out, weft, java, classes string) error {
	weft, err := filepath.Abs(weft)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	exchange := exec.CommandContext(ctx, java, "-cp", classes, "com.acme.orders.Exchange", "3600")
	if err := exchange.Start(); err != nil {
		return err
	}
	defer func() {
		cancel()
		_ = exchange.Wait() // it was killed
	}()
	shell := exec.CommandContext(ctx, "sh", "-i")
	// The command may be in a folder that says where it was built.
	bin, err := os.MkdirTemp("", "cast")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(bin) }()
	if err := os.Symlink(weft, filepath.Join(bin, "weft")); err != nil {
		return err
	}
	shell.Dir = bin
	shell.Env = []string{"TERM=xterm-256color", "PS1=$ ", "PATH=" + bin + ":/usr/bin:/bin"}
	s, err := open(shell)
	if err != nil {
		return err
	}
	firstLook(s)
	events, err := s.close()
	if err != nil {
		return err
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := write(file, header{Version: 2, Width: columns, Height: rows, Title: "weft top", Env: map[string]string{"TERM": "xterm-256color"}}, events); err != nil {
		return err
	}
	return file.Close()
}

// firstLook is what a newcomer types: which JVM, who waits there, for what, and where the holder is.
func firstLook(s *session) {
	const glance, read = 1500 * time.Millisecond, 4 * time.Second
	s.until("$")
	s.look(glance)
	s.write("weft list\r")
	s.until("com.acme.orders.Exchange")
	s.look(glance)
	s.write("weft top Exchange\r")
	s.until("holding")
	s.look(2 * read)
	s.press("3") // locks
	s.until("[3 locks]")
	s.look(read)
	s.press("\r") // stacks of the waiter and of the holder
	s.look(2 * read)
	s.press("\x1b")
	s.look(glance)
	s.press("4") // threads
	s.until("[4 threads]")
	s.look(read)
	s.write("/matcher")
	s.press("\r")
	s.look(read)
	s.press("q")
	s.until("weft top Exchange") // the shell's screen again
	s.look(glance)
	s.write("exit\r")
}
