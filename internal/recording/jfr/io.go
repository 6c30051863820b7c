// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"net"
	"strconv"
	"unicode/utf8"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// verbs begin what a thread does while it waits for input or output. Agents use the same words.
var verbs = [numKinds]string{
	kindSocketRead:  "reading from ",
	kindSocketWrite: "writing to ",
	kindFileRead:    "reading from ",
	kindFileWrite:   "writing to ",
	kindFileForce:   "syncing ",
}

// maxIOName limits the name of a file or a peer in bytes. The end of a path matters most.
const maxIOName = 200

func (k eventKind) isIO() bool { return verbs[k] != "" }

// io makes a record a wait for input or output. Such waits are parks at a lock whose class says what the thread does, as for agents.
func (n *names) io(r *record, v *values) {
	r.event.Kind = jvmthread.KindPark
	if n.brief {
		return
	}
	var of string
	switch r.kind {
	case kindFileRead, kindFileWrite, kindFileForce:
		of = n.file(v)
	default:
		of = n.peer(v)
	}
	r.event.Lock.Class = n.symbols.InternClass(verbs[r.kind] + of)
}

// file returns the path of a file. The JDK has none for a stream of a file descriptor.
func (n *names) file(v *values) string {
	switch path := n.text(v.text[slotName.text()]); path {
	case "", "N/A":
		return "a file"
	default:
		return shortened(path)
	}
}

// peer returns the address and the port at the other end of a socket. The name is for peers without an address, such as that of a proxy.
func (n *names) peer(v *values) string {
	host := n.text(v.text[slotName.text()])
	if host == "" {
		host = n.text(v.text[slotValue.text()])
	}
	switch port := v.n[slotPort]; {
	case host == "":
		return "a socket"
	case port <= 0 || port > 65535: // a Unix domain socket has none
		return shortened(host)
	default:
		return net.JoinHostPort(shortened(host), strconv.FormatInt(port, 10))
	}
}

// shortened returns the end of a name that is too long.
func shortened(name string) string {
	if len(name) <= maxIOName {
		return name
	}
	end := name[len(name)-maxIOName:]
	for end != "" && !utf8.RuneStart(end[0]) {
		end = end[1:]
	}
	return "…" + end
}
