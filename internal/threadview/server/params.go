// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Problem is the error of a request.
type Problem struct {
	Status    int
	Message   string
	Parameter string
}

func problem(status int, format string, args ...any) *Problem {
	return &Problem{Status: status, Message: fmt.Sprintf(format, args...)}
}

// params reads the parameters of a request, and keeps the first error. Parameters that are never read are errors, too.
type params struct {
	values url.Values
	read   map[string]struct{}
	wrong  *Problem
}

// maxText is the longest text that a parameter may have.
const maxText = 4096

func newParams(values url.Values) *params {
	return &params{values: values, read: make(map[string]struct{})}
}

func (p *params) fail(name, format string, args ...any) {
	if p.wrong == nil {
		p.wrong = &Problem{Status: http.StatusBadRequest, Parameter: name, Message: name + ": " + fmt.Sprintf(format, args...)}
	}
}

// done returns the first error. It is called after all parameters are read.
func (p *params) done() *Problem {
	if p.wrong != nil {
		return p.wrong
	}
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if _, ok := p.read[name]; !ok {
			p.fail(shorten(name), "unknown parameter; want one of %s", strings.Join(slices.Sorted(maps.Keys(p.read)), ", "))
		}
	}
	return p.wrong
}

func shorten(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "..."
	}
	return s
}

// all returns the values of a parameter that may be repeated.
func (p *params) all(name string) []string {
	p.read[name] = struct{}{}
	list := p.values[name]
	for _, v := range list {
		if len(v) > maxText {
			p.fail(name, "longer than %d bytes", maxText)
			return nil
		}
	}
	if len(list) > 100 {
		p.fail(name, "given %d times; at most 100", len(list))
		return nil
	}
	return list
}

// text returns the value of a parameter, or an empty one.
func (p *params) text(name string) string {
	list := p.all(name)
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	p.fail(name, "given %d times; at most once", len(list))
	return ""
}

// number returns an integer within limits, or a default.
func (p *params) number(name string, without, low, high int64) int64 {
	s := p.text(name)
	if s == "" {
		return without
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < low || n > high {
		p.fail(name, "want an integer from %d to %d, got %q", low, high, shorten(s))
		return without
	}
	return n
}

// choice returns one of several words, by default the first.
func (p *params) choice(name string, words ...string) string {
	s := p.text(name)
	if s == "" {
		return words[0]
	}
	if !slices.Contains(words, s) {
		p.fail(name, "want one of %s, got %q", strings.Join(words, ", "), shorten(s))
		return words[0]
	}
	return s
}

// words returns indices of comma-separated words in a list, or nil.
func (p *params) words(name string, known []string) []int {
	s := p.text(name)
	if s == "" {
		return nil
	}
	var out []int
	for word := range strings.SplitSeq(s, ",") {
		i := slices.Index(known, strings.TrimSpace(word))
		if i < 0 {
			p.fail(name, "want some of %s, got %q", strings.Join(known, ", "), shorten(word))
			return nil
		}
		out = append(out, i)
	}
	return out
}

// matches reads a parameter that may be repeated, and returns whether a text is one of its values; without the parameter, every text is.
func (p *params) matches(name string) func(string) bool {
	list := p.all(name)
	_, given := p.values[name]
	return func(s string) bool { return !given || slices.Contains(list, s) }
}

// ids reads comma-separated ids and ranges of ids such as 1,5-9, and returns whether an id is one of them; without the parameter, every id is.
func (p *params) ids(name string) func(id uint64) bool {
	s := p.text(name)
	_, given := p.values[name]
	if s == "" {
		return func(uint64) bool { return !given }
	}
	type idRange struct{ first, last uint64 }
	var list []idRange
	for word := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(word), "-")
		if !isRange {
			to = from
		}
		first, err1 := strconv.ParseUint(from, 10, 64)
		last, err2 := strconv.ParseUint(to, 10, 64)
		if err1 != nil || err2 != nil || first > last {
			p.fail(name, "want ids and ranges such as 1,5-9, got %q", shorten(word))
			break
		}
		list = append(list, idRange{first, last})
	}
	return func(id uint64) bool {
		return slices.ContainsFunc(list, func(r idRange) bool { return id >= r.first && id <= r.last })
	}
}
