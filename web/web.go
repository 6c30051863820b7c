// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package web answers: what is the page made of? It embeds the files that build.mjs writes from src; they are kept in the repository, so that
// nobody needs Node to build a collector.
package web

import (
	"embed"
	"io/fs"
)

//go:generate go run ./internal/gentypes ../exporter/threadviewexporter/internal/api src/lib/types.ts

//go:embed dist
var files embed.FS

// Page returns the files of the page, index.html among them. Their names never change, so whoever serves them has browsers ask whether the
// content has.
func Page() fs.FS {
	page, err := fs.Sub(files, "dist")
	if err != nil {
		panic(err) // the name is no valid path: that is our bug
	}
	return page
}
