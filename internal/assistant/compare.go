// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/why"
	"github.com/weft-otel/weft/internal/wording"
)

type compareIn struct {
	inRange
	limited

	Before         string `json:"before,omitempty" jsonschema:"session to compare with, as session; default: the same one"`
	BeforeFrom     string `json:"before_from,omitempty" jsonschema:"start of the range to compare with; default: that of its history"`
	BeforeTo       string `json:"before_to,omitempty" jsonschema:"end of the range to compare with; default: the start of the range, or the end of the history of the other session"`
	Requests       int64  `json:"requests,omitempty" jsonschema:"number of requests in the range, to compare the time per request; needs before_requests"`
	BeforeRequests int64  `json:"before_requests,omitempty" jsonschema:"number of requests in the range to compare with"`
}

func (s *tools) compare(ctx context.Context, a *answer, in compareIn) error {
	most, err := in.or(10)
	if err != nil {
		return err
	}
	r, err := s.in(ctx, in.inRange)
	if err != nil {
		return err
	}
	before := r.Session
	if in.Before != "" {
		if before, err = s.session(ctx, inSession{in.Before}); err != nil {
			return fmt.Errorf("before: %w", err)
		}
	}
	q := r.query("before", before.ID)
	for name, text := range map[string]string{"before_from": in.BeforeFrom, "before_to": in.BeforeTo} {
		if text == "" {
			continue
		}
		at, err := why.Moment(before, text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		q.Set(name, strconv.FormatInt(at, 10))
	}
	for name, n := range map[string]int64{"requests": in.Requests, "before_requests": in.BeforeRequests} {
		if n != 0 {
			q.Set(name, strconv.FormatInt(n, 10))
		}
	}
	c, err := s.page.Compare(ctx, r.ID, q)
	if err != nil {
		return err
	}
	a.link = a.linkTo(r.Session, "range", view(r.from, r.to), "view", view(r.from, r.to))
	r.head(a)
	a.line("Compared with session %s (%s) from %s to %s, threads wait %s per %s, before %s: %s.", before.ID[:8], service(before), why.Offset(c.BeforeFrom),
		why.Offset(c.BeforeTo), rate(c.Sum.AfterRate), c.Unit, rate(c.Sum.BeforeRate), verdict(&c.Sum))
	shown, changed := 0, c.Total-c.Same
	for i := range c.Changes {
		row := &c.Changes[i]
		if row.Verdict == "same" || shown == most {
			continue
		}
		shown++
		a.line("%d. %s: %s %s: %s per %s, before %s; %s, before %d", shown, verdict(row), object(row.Object, row.Kind), place(row.Function, ""), rate(row.AfterRate), c.Unit,
			rate(row.BeforeRate), plural(int(row.After.Count), "wait"), row.Before.Count)
	}
	if c.Same > 0 {
		a.line("%d of %s did not change by more than chance, or are less than 1 %% of all.", c.Same, plural(c.Total, "kind"))
	}
	a.more += changed - shown
	return nil
}

func verdict(c *viewapi.WaitChange) string {
	if c.Verdict == "worse" || c.Verdict == "better" {
		return c.Verdict + " by " + wording.Percent(max(c.Difference, -c.Difference)/max(c.BeforeRate, 1))
	}
	return c.Verdict
}

func rate(ns float64) string { return wording.Duration(time.Duration(ns)) }
