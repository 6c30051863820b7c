// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync"

	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// sites remembers which code of the application waits at the stacks of a session. It may be used concurrently. The number of stacks of a
// session is limited.
type sites struct {
	rules *waits.Rules
	known sync.Map // *waits.Site by StackID
}

// Site returns which code waits at a stack.
func (sn *Snapshot) Site(id StackID) *waits.Site {
	if site, ok := sn.sites.known.Load(id); ok {
		return site.(*waits.Site)
	}
	if int(id) >= len(sn.Stacks) {
		return new(waits.Site)
	}
	site := sn.sites.rules.Site(symbols.Text(sn.Stacks[id]))
	sn.sites.known.Store(id, &site)
	return &site
}
