// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package web embeds the files of the page, which build.mjs writes from src. They are committed, so that building a collector does not require Node.
package web

import (
	"embed"
	"io/fs"
)

//go:generate go run ./internal/gentypes ../internal/viewapi src/lib/types.ts

//go:embed dist
var files embed.FS

// Page returns the files of the page, including index.html. Their names never change, so servers must have browsers revalidate them.
func Page() fs.FS {
	page, err := fs.Sub(files, "dist")
	if err != nil {
		panic(err) // the name is invalid: a bug
	}
	return page
}
