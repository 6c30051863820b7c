// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package profiles

import (
	"io"
	"os"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
)

// open detects the format of a source, and decompresses it.
func open(source *replay.Source) (format recording.Format, r io.Reader, free func(), err error) {
	limit := formats.Limit{Bytes: source.MaxUnpacked, Option: replay.UnpackedOption}
	file, ok := source.Reader.(*os.File)
	if !ok || source.Path == "" || !isRegular(file) {
		format, r, _, free, err = formats.OpenStream(source.Reader, "", limit)
		return format, r, free, err
	}
	format, r, free, err = formats.Open(file, "", limit)
	if err == nil && format.Name == "native" && r == io.Reader(file) {
		r = source.Span.Part(file, r)
	}
	return format, r, free, err
}

func isRegular(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular()
}
