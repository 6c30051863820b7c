// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wiretext

import (
	"errors"
	"fmt"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

func (p *parser) openAggregate(l *line) {
	p.aggregate = &wire.Aggregate{
		BatchHeader: l.batchHeader(),
		Aggregate: jvmthread.Aggregate{
			From: jvmthread.Time(l.signed("from")), To: jvmthread.Time(l.signed("to")),
			Scale: int32(l.signedNumber("scale", l.string("scale"), 32)),
		},
	}
}

func (p *parser) series(l *line) error {
	if p.aggregate == nil {
		return errors.New("outside an aggregate")
	}
	if len(l.words) < 2 {
		return errors.New("missing kind")
	}
	kind, ok := jvmthread.ParseKind(l.words[1])
	if !ok {
		return fmt.Errorf("unknown kind %q", l.words[1])
	}
	s := jvmthread.Series{
		Kind: kind, Class: jvmthread.ClassID(l.unsigned("class", 32)), Stack: jvmthread.StackID(l.unsigned("stack", 32)),
		Sum: l.signed("sum"), Max: l.signed("max"), Zero: l.unsigned("zero", 64),
		Offset: int32(l.signedNumber("offset", l.string("offset"), 32)),
	}
	if text := l.string("buckets"); text != "" {
		for part := range strings.SplitSeq(text, ",") {
			s.Buckets = append(s.Buckets, l.number("buckets", part, 64))
		}
	}
	words := 2
	if len(l.words) > words && l.words[words] == "overflow" {
		s.Overflow = true
		words++
	}
	p.aggregate.Series = append(p.aggregate.Series, s)
	return l.done(words)
}
