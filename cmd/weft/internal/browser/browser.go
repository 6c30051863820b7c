// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package browser answers: how does a page get in front of the user? It starts the browser of the desktop.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// Open opens a URL in the user's browser, and does not wait for it. The error says why there is none.
func Open(ctx context.Context, url string) error {
	name, args, err := command(runtime.GOOS, os.Getenv)
	if err != nil {
		return err
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("no browser: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, append(args, url)...) // it outlives this program
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot start a browser: %w", err)
	}
	go func() { _ = cmd.Wait() }() // no zombie
	return nil
}

// command is the program that opens a URL. On Linux, BROWSER has precedence, and xdg-open needs a desktop.
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
