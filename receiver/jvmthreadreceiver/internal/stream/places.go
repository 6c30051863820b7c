// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// places are the directories of the default socket. protocol/README.md defines them; agents try them in the same order.
type places struct {
	shared  string // exists if an administrator has created it for the collector
	runtime string // of the collector's user alone
	open    string // for all users
}

const socketName = "weft.sock"

func defaultPlaces() places {
	p := places{shared: "/run/weft", runtime: os.Getenv("XDG_RUNTIME_DIR"), open: "/tmp"}
	if !filepath.IsAbs(p.runtime) {
		p.runtime = "/run/user/" + strconv.Itoa(os.Geteuid())
	}
	return p
}

// endpoint returns the first socket that the collector can create, and agents with it can reach: with a mode for other users, that is not
// the one in the user's own directory.
func (p places) endpoint(mode fs.FileMode) string {
	const others = 0o077
	dir := p.open
	switch {
	case mayCreateIn(p.shared):
		dir = p.shared
	case mode&others == 0 && isOwn(p.runtime) && checkSocketPath(filepath.Join(p.runtime, socketName)) == nil:
		dir = p.runtime
	}
	return "unix://" + filepath.Join(dir, socketName)
}

// isOwn reports whether only this user can create files in the directory.
func isOwn(dir string) bool {
	const othersWrite = 0o022
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && info.Mode()&othersWrite == 0 && owner(info) == os.Geteuid()
}

// exposure says who else may replace the socket, or is empty. An agent that trusts only its own user is safe from that, but it does not
// connect then.
func exposure(path string) string {
	const groupWrites, othersWrite = 0o020, 0o002
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return ""
	case info.Mode()&othersWrite != 0 && info.Mode()&fs.ModeSticky == 0:
		return fmt.Sprintf("any user can replace it, since %s is writable by all; use a folder of the collector's user", dir)
	case owner(info) != 0 && owner(info) != os.Geteuid():
		return fmt.Sprintf("user %d can replace it, who owns %s; use a folder of the collector's user", owner(info), dir)
	case info.Mode()&groupWrites != 0 && info.Mode()&fs.ModeSticky == 0:
		return fmt.Sprintf("any member of the group of %s can replace it; use a folder that only the collector's user can write to", dir)
	}
	return ""
}
