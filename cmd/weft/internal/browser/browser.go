// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package browser answers: how does a page get in front of the user? It starts the browser of the desktop.
package browser

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Open opens a URL in the user's browser, and does not wait for it. The browser gets a file that leads to the URL, which only this user can read:
// other users see the command lines of all processes, and the URL may contain a token. The caller removes the file with done once it ends, also
// after an error, which says why there is no browser.
func Open(ctx context.Context, url string) (done func(), err error) {
	done = func() {}
	name, args, err := command(runtime.GOOS, os.Getenv)
	if err != nil {
		return done, err
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return done, fmt.Errorf("no browser: %w", err)
	}
	file, done, err := leadingTo(url)
	if err != nil {
		return done, fmt.Errorf("no browser: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, append(args, file)...) // it outlives this program
	if err := cmd.Start(); err != nil {
		return done, fmt.Errorf("cannot start a browser: %w", err)
	}
	go func() { _ = cmd.Wait() }() // no zombie
	return done, nil
}

// leadingTo writes a file that leads to a URL.
func leadingTo(url string) (path string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "weft-page-") // only this user may look into it
	if err != nil {
		return "", func() {}, err
	}
	path, remove = filepath.Join(dir, "page.html"), func() { _ = os.RemoveAll(dir) }
	url = html.EscapeString(url)
	content := `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=` + url + `"><a href="` + url + `">Open the page</a>` + "\n"
	return path, remove, os.WriteFile(path, []byte(content), 0o600)
}

// command is the program that opens a file. On Linux, BROWSER has precedence, and xdg-open needs a desktop.
func command(system string, getenv func(string) string) (name string, args []string, err error) {
	switch system {
	case "darwin":
		return "open", nil, nil
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}, nil
	}
	if name := getenv("BROWSER"); name != "" {
		return name, nil, nil
	}
	if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
		return "", nil, errors.New("no browser: neither DISPLAY nor WAYLAND_DISPLAY is set")
	}
	return "xdg-open", nil, nil
}
