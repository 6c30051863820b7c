// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Manual writes the manual pages of weft and its commands into a folder.
//
//	go run ./cmd/weft/internal/manual build/man
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/weft-otel/weft/cmd/weft/internal/commands"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// write writes a page for each command. Its date is SOURCE_DATE_EPOCH, so that a build can be reproduced; without it, it is empty.
func write(folder string) error {
	header := doc.GenManHeader{Section: "1", Source: "Weft", Manual: "Weft Manual", Date: new(time.Time)}
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
		*header.Date = time.Unix(seconds, 0).UTC()
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	root := commands.Root(&commands.Program{})
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, &header, folder)
}
