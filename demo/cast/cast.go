// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// event is output at a time since the start.
type event struct {
	at   time.Duration
	text string
}

// header is the first line of a recording: asciicast version 2, https://docs.asciinema.org/manual/asciicast/v2/.
type header struct {
	Version int               `json:"version"`
	Width   int               `json:"width"`
	Height  int               `json:"height"`
	Title   string            `json:"title,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// write writes a recording, of which lines of JSON follow the header: time in seconds, "o" for output, and text.
func write(to io.Writer, h header, events []event) error {
	lines := json.NewEncoder(to)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(h); err != nil {
		return err
	}
	for _, e := range events {
		if err := lines.Encode([]any{e.at.Round(time.Millisecond).Seconds(), "o", e.text}); err != nil {
			return err
		}
	}
	return nil
}

// read reads a recording.
func read(from io.Reader) (h header, events []event, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		if number == 1 {
			if err = json.Unmarshal(lines.Bytes(), &h); err == nil && h.Version != 2 {
				err = fmt.Errorf("version %d", h.Version)
			}
			if err != nil {
				return h, nil, fmt.Errorf("line 1: not the header of asciicast version 2: %w", err)
			}
			continue
		}
		var seconds float64
		var kind, text string
		if err = json.Unmarshal(lines.Bytes(), &[]any{&seconds, &kind, &text}); err == nil && kind != "o" {
			err = fmt.Errorf("event %q", kind)
		}
		if err != nil {
			return h, nil, fmt.Errorf("line %d: not output: %w", number, err)
		}
		events = append(events, event{time.Duration(seconds * float64(time.Second)), text})
	}
	return h, events, lines.Err()
}
