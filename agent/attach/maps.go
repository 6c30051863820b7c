// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"bytes"
	"path"
	"strings"
)

// images are the files that a process has mapped, as far as they matter here. Paths are as /proc shows them: relative to the root of this
// program or of the process's mount namespace.
type images struct {
	jvm      image
	agent    image  // the first copy, which passes requests on to the one in use
	perfData string // HotSpot's counters
	libc     string // glibc or musl; empty if unknown
	openJ9   bool
}

type image struct {
	path    string
	deleted bool // no file has this path any more, or another one has it
}

func (i *images) isHotSpot() bool { return i.jvm.path != "" && !i.openJ9 }

// parseMaps parses /proc/PID/maps, see proc_pid_maps(5).
func parseMaps(maps []byte, nspid string) images {
	var found images
	var read image   // the first agent that is mapped without the right to execute it
	emulated := true // code of libjvm.so is not mapped as executable: qemu translates it
	for line := range bytes.Lines(maps) {
		at := bytes.IndexByte(line, '/')
		if at < 0 {
			continue
		}
		rights := bytes.Fields(line[:at])
		name, deleted := strings.CutSuffix(strings.TrimSuffix(string(line[at:]), "\n"), " (deleted)")
		name = strings.ReplaceAll(name, "\\012", "\n") // the only character that is escaped
		dir, base := path.Split(name)
		executable := len(rights) > 1 && bytes.IndexByte(rights[1], 'x') >= 0
		switch {
		case base == "libjvm.so":
			if found.jvm.path == "" {
				found.jvm = image{name, deleted}
			}
			emulated = emulated && !executable
		case strings.HasPrefix(base, "libj9vm"):
			found.openJ9 = true
		case isAgent(base) && executable && found.agent.path == "":
			found.agent = image{name, deleted}
		case isAgent(base) && read.path == "":
			read = image{name, deleted}
		case base == nspid && strings.HasPrefix(path.Base(dir), "hsperfdata_"):
			found.perfData = name
		case libcOf(base) == musl:
			found.libc = musl // also if a replacement for glibc is on top of it
		case libcOf(base) == glibc && found.libc == "":
			found.libc = glibc
		}
	}
	if emulated && found.agent.path == "" {
		found.agent = read
	}
	return found
}

// isAgent recognizes the names that builds of the library and its copies have.
func isAgent(base string) bool {
	return strings.HasPrefix(base, "libweft") && strings.HasSuffix(base, ".so")
}
