// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/weft-otel/weft/internal/recording/formats"
)

// mark identifies a file by its head and records how many of its events were delivered. It is kept across restarts.
type mark struct {
	Head   string `json:"head"`   // hexadecimal; up to formats.SeedSize bytes, which identify a file
	Seed   string `json:"seed"`   // the head when the file was first read, from which session IDs are derived
	Events uint64 `json:"events"` // delivered; an aggregate and the end of a session count as one event each
	Batch  uint64 `json:"batch"`  // last batch of the current session
	Before uint64 `json:"before"` // events in all batches up to that one
	Size   int64  `json:"size"`   // of the file when the mark was saved
	Done   bool   `json:"done"`   // the file was read to its end
}

func (m *mark) seed() []byte {
	b, _ := hex.DecodeString(m.Seed) // encoded by headOf
	return b
}

// begin sets the head of a file that has no saved mark. The file may have been empty when it was opened.
func (m *mark) begin(file *os.File) error {
	if m.Size > 0 {
		return nil
	}
	head, err := headOf(file)
	m.Head, m.Seed = head, head
	return err
}

// errDone means that the file was read to its end before.
var errDone = errors.New("read before")

// load finds the saved mark of the file at a path. It returns errDone if nothing is left to read.
func (m *mark) load(ctx context.Context, client storage.Client, path string, file *os.File) error {
	head, err := headOf(file)
	if err != nil {
		return err
	}
	m.Head, m.Seed = head, head
	data, err := client.Get(ctx, path)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	var saved mark
	if json.Unmarshal(data, &saved) != nil || saved.Head == "" || !strings.HasPrefix(head, saved.Head) {
		return nil // no mark, or that of another file
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if saved.Done && saved.Size == info.Size() {
		return errDone
	}
	*m = saved
	return nil
}

// save stores the mark.
func (m *mark) save(ctx context.Context, client storage.Client, path string, file *os.File) error {
	if len(m.Head) < hex.EncodedLen(formats.SeedSize) { // the file was short and may have grown
		if head, err := headOf(file); err == nil {
			m.Head = head
		}
	}
	if info, err := file.Stat(); err == nil {
		m.Size = info.Size()
	}
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return client.Set(ctx, path, data)
}

// headOf returns the start of a file, in hexadecimal.
func headOf(file *os.File) (string, error) {
	head := make([]byte, formats.SeedSize)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return hex.EncodeToString(head[:n]), nil
}
