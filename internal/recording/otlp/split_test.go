// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/recording/otlp"
)

func TestSplitter(t *testing.T) {
	const request, long = `{"resourceSpans":[{"x":"\"}"}]}`, `{"resourceSpans":["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]}`
	for _, test := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \n\n", nil},
		{request, []string{"1 0 " + request}},
		{"\n\n" + request + "\r\n" + request + "\n", []string{"3 2 " + request, "4 " + strconv.Itoa(4+len(request)) + " " + request}},
		{request + request, []string{"1 0 " + request, "1 " + strconv.Itoa(len(request)) + " " + request}},
		{request[:10] + request, []string{`1 0 truncated {"resource`, "1 10 " + request}},
		{request[:26] + request, []string{`1 0 truncated {"resourceSpans":[{"x":"\"`, "1 26 " + request}},
		{request[:26] + "\n" + request, []string{`1 0 truncated {"resourceSpans":[{"x":"\"`, "2 27 " + request}},
		{request[:26], []string{`1 0 truncated {"resourceSpans":[{"x":"\"`}},
		{"{ \n\"resourceSpans\" :\n[\n]\n}" + request, []string{"1 0 { \n\"resourceSpans\" :\n[\n]\n}", "5 26 " + request}},
		{"oops\n{}\n", []string{"1 0 oops", "2 5 {}"}},
		{"oops" + request, []string{"1 0 oops", "1 4 " + request}},
		{long + "\n" + request, []string{"1 0 longer than 50 bytes", "2 " + strconv.Itoa(len(long)+1) + " " + request}},
		{strings.Repeat("x", 100) + "\nshort\n", []string{"1 0 longer than 50 bytes"}},
		{long, []string{"1 0 longer than 50 bytes"}},
	} {
		for piece := 1; piece <= max(1, len(test.text)); piece++ {
			var got []string
			s := otlp.NewSplitter(50, func(r *otlp.Request) {
				what := string(r.Text)
				if r.Truncated {
					what = "truncated " + what
				}
				if r.Err != nil {
					what = r.Err.Error()
				}
				got = append(got, fmt.Sprintf("%d %d %s", r.Line, r.Byte, what))
			})
			for rest := test.text; rest != ""; {
				n := min(piece, len(rest))
				_, err := s.Write([]byte(rest[:n]))
				require.NoError(t, err)
				rest = rest[n:]
			}
			s.Close()
			require.Equal(t, test.want, got, "%q in pieces of %d", test.text, piece)
			assert.EqualValues(t, 1+strings.Count(test.text, "\n"), s.Line())
		}
	}
}
