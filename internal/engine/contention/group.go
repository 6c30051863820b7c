// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"strings"

	"github.com/weft-otel/weft/internal/engine/waits"
)

// VirtualThreads is the group of the virtual threads of which neither the start nor a name is known.
const VirtualThreads = "virtual threads"

const maxGroupName = 256 // bytes; requests and links name groups

// VirtualGroup names what a virtual thread does, so that people see a few groups instead of 100,000 threads: the method of the application that
// started it; else the pool of its name; else the method of a library that started it; else VirtualThreads. start is the site of that call, nil
// if it is not known.
func VirtualGroup(start *waits.Site, name string) string {
	switch {
	case start != nil && start.Own && start.Function != "":
		return shortGroup(start.Function)
	case name != "":
		return shortGroup(Pool(name))
	case start != nil && start.Function != "":
		return shortGroup(start.Function)
	}
	return VirtualThreads
}

func shortGroup(name string) string {
	if len(name) > maxGroupName {
		return strings.ToValidUTF8(name[:maxGroupName], "")
	}
	return name
}
