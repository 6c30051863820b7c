// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.uber.org/zap"
)

// mark is what is remembered of a file: which one it is, by how it begins, and how many of its events were handed on.
type mark struct {
	Head   string `json:"head"`   // hexadecimal; as much as was there, and at most markSize
	Seed   string `json:"seed"`   // the head when it was first read: the ids of sessions are made of it
	Events uint64 `json:"events"` // handed on; an aggregate and the end of a session count as one each
	Batch  uint64 `json:"batch"`  // the last of the session at hand
	Before uint64 `json:"before"` // events in all batches up to that one
	Size   int64  `json:"size"`   // when it was read to its end
	Done   bool   `json:"done"`
}

func (m *mark) seed() []byte {
	b, _ := hex.DecodeString(m.Seed) // it was encoded here
	return b
}

// begin notes how a file begins of which nothing is remembered: now that it can be read. It may have been empty when it was opened.
func (m *mark) begin(file *os.File) error {
	if m.Size > 0 {
		return nil
	}
	head, err := headOf(file)
	m.Head, m.Seed = head, head
	return err
}

// markSize is how much of the head of a file tells it from others.
const markSize = 256

// recall finds out what was remembered of the file; errDone says that all of it was read.
func (f *recordingFile) recall(ctx context.Context) error {
	head, err := headOf(f.file)
	if err != nil {
		return err
	}
	f.mark.Head, f.mark.Seed = head, head
	if f.files.storage == nil {
		return nil
	}
	data, err := f.files.storage.Get(ctx, f.path)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	var before mark
	if json.Unmarshal(data, &before) != nil || before.Head == "" || !strings.HasPrefix(head, before.Head) {
		return nil // nothing, or of another file
	}
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if before.Done && before.Size == info.Size() {
		return errDone
	}
	f.mark = before
	return nil
}

// headOf returns how a file begins, in hexadecimal.
func headOf(file *os.File) (string, error) {
	head := make([]byte, markSize)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return hex.EncodeToString(head[:n]), nil
}

// remember notes how far the file was read. That it cannot is told: after a restart events may come twice.
func (f *recordingFile) remember(ctx context.Context, done bool) {
	if f.files.storage == nil {
		return
	}
	f.mark.Done = done
	if len(f.mark.Head) < hex.EncodedLen(markSize) { // it was short, and may have grown
		if head, err := headOf(f.file); err == nil {
			f.mark.Head = head
		}
	}
	if r := f.replay; r.seen >= f.mark.Events {
		f.mark.Events = r.seen
		if r.session != nil {
			f.mark.Batch, f.mark.Before = r.session.last, r.session.before
		}
	}
	if info, err := f.file.Stat(); err == nil {
		f.mark.Size = info.Size()
	}
	data, err := json.Marshal(&f.mark)
	if err == nil {
		err = f.files.storage.Set(ctx, f.path, data)
	}
	if err != nil {
		f.log.Warn("Cannot remember how far a recording was read", zap.Error(err))
	}
}
