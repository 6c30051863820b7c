// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import "github.com/weft-otel/weft/internal/jvmthread"

// CutAfter shortens the time after which incidents are cut.
func (f *Finder) CutAfter(d jvmthread.Time) { f.cutAfter, f.cutAgainAfter = d, 2*d }
