// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// carried recognizes carriers that several components bring, by the ID of their span. It remembers at least the last maxCarried.
type carried struct {
	shared atomic.Bool // there are several components
	mu     sync.Mutex
	recent map[carrierKey]struct{}
	before map[carrierKey]struct{}
}

type carrierKey struct {
	session jvmthread.SessionID
	span    pcommon.SpanID
}

// maxCarried bounds the carriers by which one component may be ahead of another, at 24 bytes each: 1,000 JVMs send 10,000 a second.
const maxCarried = 1 << 14

// forget undoes the effect of again on a carrier that was not processed after all.
func (c *carried) forget(session jvmthread.SessionID, span pcommon.SpanID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.recent, carrierKey{session, span})
	delete(c.before, carrierKey{session, span})
}

// again reports whether a carrier was seen before.
func (c *carried) again(session jvmthread.SessionID, span pcommon.SpanID) bool {
	if !c.shared.Load() {
		return false
	}
	key := carrierKey{session, span}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.recent[key]; ok {
		return true
	}
	if _, ok := c.before[key]; ok {
		return true
	}
	if len(c.recent) >= maxCarried {
		c.recent, c.before = c.before, c.recent
		clear(c.recent)
	}
	if c.recent == nil {
		c.recent = make(map[carrierKey]struct{})
	}
	c.recent[key] = struct{}{}
	return false
}
