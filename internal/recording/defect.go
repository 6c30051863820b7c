// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"fmt"
	"strings"

	"github.com/weft-otel/weft/internal/failure"
)

// Contain calls do, which passes a file to a decoder. A panic becomes an error that wraps the failure.Panic and has the position; the decoder is
// not to be used any longer. An empty name is omitted.
func Contain(file string, d Decoder, do func() error) (err error) {
	p := failure.Contain(func() { err = do() })
	if p == nil {
		return err
	}
	at := Problem{File: file, Byte: d.Stats().Bytes, What: "a defect in Weft", Remedy: "please report it with the file"}
	return fmt.Errorf("%s: %w", strings.TrimSpace(at.Error()), p)
}
