// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"fmt"
	"os"
)

// Spool returns a temporary file to unpack recordings to, for random access. Release closes and removes it.
func Spool() (file *os.File, release func(), err error) {
	if file, err = os.CreateTemp("", "weft-*.unpacked"); err != nil {
		return nil, nil, fmt.Errorf("create a temporary file to unpack the recording: %w", err)
	}
	_ = os.Remove(file.Name()) // now, in case the process is killed; systems that cannot do so need the one below
	return file, func() {
		_ = file.Close() // is lost in any case
		_ = os.Remove(file.Name())
	}, nil
}
