// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// SampleLabel is an attribute of a sample of a profile.
type SampleLabel struct{ Key, Value string }

// SampleLabels returns the attributes of a sample, in a fixed order. Each has few values.
func SampleLabels(a *profile.Account, sym *symbols.Table, f profile.Family, s *profile.Sample) []SampleLabel {
	labels := make([]SampleLabel, 0, 5)
	put := func(key, value string) {
		if value != "" {
			labels = append(labels, SampleLabel{key, value})
		}
	}
	put(attrWaitKind, s.Wait.String())
	if s.Class != jvmthread.NoClass {
		put(attrLockClass, sym.Class(s.Class))
	}
	if s.Lock != contention.NoText {
		put(attrLockName, a.Text(s.Lock))
	}
	if s.Pool != contention.NoText {
		put(attrPool, a.Text(s.Pool))
	}
	if f == profile.Mutex && !s.Rest {
		put(attrHolderState, s.Doing.String())
	}
	return labels
}

// ServiceLabel returns the name of the service of a resource as an attribute of samples.
func ServiceLabel(res pcommon.Resource) SampleLabel {
	name, _ := res.Attributes().Get(attrServiceName)
	return SampleLabel{attrServiceName, name.AsString()}
}
