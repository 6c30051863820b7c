// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/viewapi"
)

// Origin returns the start of a recording: time 0 of the page.
func Origin(s *viewapi.Session) (time.Time, error) {
	ns, err := strconv.ParseInt(s.Origin, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("origin of the session %q: want nanoseconds since 1970", s.Origin)
	}
	return time.Unix(0, ns).UTC(), nil
}

// ParseTime returns a time in nanoseconds since the start of a recording. The text is an offset from that, such as 12.5s or 1m30s, or a
// time with a date as in RFC 3339.
func ParseTime(text string, origin time.Time) (int64, error) {
	if d, err := time.ParseDuration(text); err == nil {
		if d < 0 {
			return 0, fmt.Errorf("time %q: before the start of the recording; want an offset from that, such as 12.5s", text)
		}
		return int64(d), nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, fmt.Errorf("time %q: want an offset from the start of the recording, such as 12.5s, or a time such as %s",
			text, origin.Format(time.RFC3339))
	}
	d := t.Sub(origin)
	switch {
	case d < 0:
		return 0, fmt.Errorf("time %q: before the start of the recording at %s", text, origin.Format(time.RFC3339Nano))
	case !origin.Add(d).Equal(t): // centuries later
		return 0, fmt.Errorf("time %q: too long after the start of the recording at %s", text, origin.Format(time.RFC3339Nano))
	}
	return int64(d), nil
}

// CheckTimes reports times that no recording has: texts that are none.
func CheckTimes(from, to string) error {
	for _, t := range []struct{ name, text string }{{"--from", from}, {"--to", to}} {
		if t.text == "" {
			continue
		}
		if _, err := Moment(&viewapi.Session{Origin: "0"}, t.text); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

// Moment returns a time in nanoseconds since the start of a session. The text is as of ParseTime, or an offset from the end of the known history,
// such as -30s.
func Moment(s *viewapi.Session, text string) (int64, error) {
	if d, err := time.ParseDuration(text); err == nil && strings.HasPrefix(text, "-") {
		return max(s.To+int64(d), 0), nil
	}
	origin, err := Origin(s)
	if err != nil {
		return 0, err
	}
	return ParseTime(text, origin)
}

// Range returns the part of a recording between two times, each of which may be empty. It is limited to the history that is known and kept,
// since a thread spends no known time outside it.
func Range(s *viewapi.Session, from, to string) (begin, end int64, err error) {
	begin, end = s.From, s.To
	if from != "" {
		if begin, err = Moment(s, from); err != nil {
			return 0, 0, fmt.Errorf("from: %w", err)
		}
	}
	if to != "" {
		if end, err = Moment(s, to); err != nil {
			return 0, 0, fmt.Errorf("to: %w", err)
		}
	}
	if begin >= end {
		return 0, 0, fmt.Errorf("from %s to %s: want a time to that is later than from", Offset(begin), Offset(end))
	}
	from, to = Offset(begin), Offset(end)
	if begin, end = max(begin, s.From), min(end, s.To); begin >= end {
		return 0, 0, fmt.Errorf("from %s to %s: no data; the history is kept from %s to %s", from, to, Offset(s.From), Offset(s.To))
	}
	return begin, end, nil
}

// Offset is the inverse of ParseTime: 12.5s.
func Offset(ns int64) string {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	text := fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9)
	return sign + strings.TrimRight(strings.TrimRight(text, "0"), ".") + "s"
}
