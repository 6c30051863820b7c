// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/viewapi"
)

// isDumped reports whether thread dumps are all that is known of a session.
func isDumped(s *viewapi.Session) bool { return s.Attributes[threadpdata.AttrDumps] != "" }
