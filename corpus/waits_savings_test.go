// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"time"

	"github.com/weft-otel/weft/corpus/spantest"
)

// savings is by how much main would end earlier without the waits for locks of a class. Scenarios can share a class.
type savings struct{ least, most, got time.Duration }

// compare compares with the bounds that the program knows.
func (s savings) compare() (want, got string) {
	got = s.got.Round(time.Millisecond).String()
	if s.got >= s.least && s.got <= s.most {
		return got, got
	}
	return s.least.Round(time.Millisecond).String() + " to " + s.most.Round(time.Millisecond).String(), got
}

// lockClass returns the class of what a scenario waits for.
func lockClass(o *spantest.Output, service string, c *waitCase) string {
	for i := range c.Waits {
		if spans := waitsDuring(o, service, &c.Waits[i]); len(spans) > 0 {
			return spans[0].Text("weft.lock.class")
		}
	}
	return ""
}

// savings returns the savings by class, as the program knows them and as the roots state them.
func savingsOf(o *spantest.Output, service string, truth []waitCase) map[string]savings {
	all := make(map[string]savings)
	for i := range truth {
		c := &truth[i]
		if !spantest.IsContended(c.Kind) {
			continue
		}
		class := lockClass(o, service, c)
		s := all[class]
		s.least += time.Duration(c.SavesLeast)
		s.most += time.Duration(c.SavesMost)
		all[class] = s
	}
	for _, root := range o.Roots(service) {
		for _, event := range root.Events().All() {
			if event.Name() == "weft.lock" {
				class, _ := event.Attributes().Get("weft.lock.class")
				s := all[class.AsString()]
				s.got += time.Duration(spantest.Number(event.Attributes(), "weft.what_if.saved"))
				all[class.AsString()] = s
			}
		}
	}
	return all
}
