// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"io"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/dump"
)

// Join makes one source of all files that are thread dumps: those of a JVM are one session. Other sources stay, and those that cannot be opened.
func Join(sources []Source) (joined []Source) {
	first := -1
	for i := range sources {
		switch isDump := sources[i].isDump(); {
		case isDump && first >= 0:
			joined[first].More = append(joined[first].More, sources[i])
			continue
		case isDump:
			first = len(joined)
		}
		joined = append(joined, sources[i])
	}
	return joined
}

// isDump reports whether a source is a file that can be read again, with thread dumps.
func (s *Source) isDump() bool {
	file := s.File()
	if file == nil {
		return false
	}
	in, err := s.open()
	if err == nil {
		in.free()
	}
	_, seekErr := file.Seek(0, io.SeekStart)
	return err == nil && seekErr == nil && in.format.Name == dump.Name
}

// Follow passes a source to the decoder of the one before.
func (s *Source) Follow(decoder recording.Decoder) error {
	joiner, ok := decoder.(recording.Joiner)
	if !ok {
		return fmt.Errorf("%s: cannot continue a recording", s.Name)
	}
	in, err := s.open()
	if err != nil {
		return err
	}
	defer in.free()
	if err := joiner.Next(s.Name); err != nil {
		return err
	}
	_, err = io.Copy(decoder, in.reader)
	return err
}
