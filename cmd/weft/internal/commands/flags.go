// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// format is the value of --format.
type format string

const (
	formatText format = "text"
	formatJSON format = "json"
)

func (f *format) String() string { return string(*f) }

// Type is what help shows as the value.
func (*format) Type() string { return "text|json" }

// Set accepts the formats.
func (f *format) Set(text string) error {
	if text != string(formatText) && text != string(formatJSON) {
		return fmt.Errorf("want %s or %s", formatText, formatJSON)
	}
	*f = format(text)
	return nil
}

func formatFlag(flags *pflag.FlagSet, what string) *format {
	f := formatText
	flags.Var(&f, "format", what)
	return &f
}

// writeJSON writes a value for programs.
func (p *Program) writeJSON(value any) error {
	encoder := json.NewEncoder(p.Out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// positive is a duration above zero.
type positive time.Duration

func (d *positive) String() string { return time.Duration(*d).String() }

// Type is what help shows as the value.
func (*positive) Type() string { return "duration" }

// Set accepts durations above zero.
func (d *positive) Set(text string) error {
	got, err := time.ParseDuration(text)
	if err != nil || got <= 0 {
		return errors.New("want a duration above zero, such as 10s")
	}
	*d = positive(got)
	return nil
}

func durationFlag(flags *pflag.FlagSet, name, short string, normally time.Duration, what string) *time.Duration {
	d := positive(normally)
	flags.VarP(&d, name, short, what)
	return (*time.Duration)(&d)
}

// size is a number of bytes with a unit: 512m, 2g.
type size int64

var sizes = []struct {
	letter string
	bytes  int64
}{{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}}

func (s *size) String() string {
	for _, u := range slices.Backward(sizes) {
		if n := int64(*s); n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.letter
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type is what help shows as the value.
func (*size) Type() string { return "size" }

// Set accepts numbers of bytes up to a tebibyte.
func (s *size) Set(text string) error {
	const most = 1 << 40
	factor := int64(1)
	digits := strings.ToLower(text)
	for _, u := range sizes {
		if rest, found := strings.CutSuffix(digits, u.letter); found {
			digits, factor = rest, u.bytes
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > most/factor {
		return errors.New("want a number of bytes such as 512m or 2g")
	}
	*s = size(n * factor)
	return nil
}

// agentOptions are the words KEY=VALUE of a command line, with commas or spaces between them, as after -agentpath.
func agentOptions(words []string) (options []string, _ error) {
	for _, word := range words {
		for option := range strings.SplitSeq(word, ",") {
			if option == "" {
				continue
			}
			if key, value, found := strings.Cut(option, "="); !found || key == "" || value == "" {
				return nil, usagef("invalid option %q: want KEY=VALUE, such as depth=8", option)
			}
			options = append(options, option)
		}
	}
	return options, nil
}

// needsOne requires an argument.
func needsOne(missing string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("%s", missing)
		}
		return nil
	}
}
