// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Command release answers: what is a release of Weft made of? It packs programs that make has built; it builds nothing itself.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/tools/release/internal/checksum"
)

// release is what all pieces of a release have in common.
type release struct {
	root    string    // of the repository
	bin     string    // folder with a folder of programs for each platform: linux-amd64
	out     string    // folder of the pieces
	version string    // without the leading v
	time    time.Time // of all files: that of the commit

	processors []string // as Go names them
}

// pieces are the arguments of the program, in the order in which they are made.
var pieces = []struct {
	name  string
	write func(release) error
}{
	{"notices", release.notices},
	{"archives", release.archives},
	{"packages", release.packages},
	{"images", release.images},
	{"maven", release.maven},
	{"sums", func(r release) error { return checksum.Write(r.out) }},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var names []string
	for _, piece := range pieces {
		names = append(names, piece.name)
	}
	flags := flag.NewFlagSet("release [flags] PIECE...", flag.ContinueOnError)
	var r release
	flags.StringVar(&r.root, "root", ".", "`folder` of the repository")
	flags.StringVar(&r.bin, "bin", "build/release-bin", "`folder` of the programs, below the root")
	flags.StringVar(&r.out, "out", "build/release", "`folder` for the pieces, below the root")
	flags.StringVar(&r.version, "version", "", "version, without the leading v")
	only := flags.String("processors", "amd64 arm64", "`names` of the processors, as Go names them")
	key := flags.String("key", "", "PEM `file` with the private key that signs the sums; none: they are not signed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r.processors = strings.Fields(*only)
	if r.version == "" || strings.HasPrefix(r.version, "v") {
		return fmt.Errorf("invalid version %q (want one like 0.1.0-dev)", r.version)
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w (want the seconds since 1970 of the commit)", err)
	}
	r.time = time.Unix(seconds, 0).UTC()
	for _, path := range []*string{&r.bin, &r.out} {
		if !filepath.IsAbs(*path) {
			*path = filepath.Join(r.root, *path)
		}
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, name := range flags.Args() {
		i := slices.Index(names, name)
		if i < 0 {
			return fmt.Errorf("unknown piece %q (want one of %s)", name, strings.Join(names, ", "))
		}
		if err := pieces[i].write(r); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if *key == "" {
		return nil
	}
	if !slices.Contains(flags.Args(), "sums") {
		return errors.New("-key signs the sums: name the piece sums, too")
	}
	return checksum.Sign(r.out, *key)
}
