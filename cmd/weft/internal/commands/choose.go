// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"errors"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weft-otel/weft/agent/attach"
)

// choice is which JVMs a NAME may mean. Anybody can start a process that calls itself like another one, so it means those of one user.
type choice struct {
	user    account
	several bool // the command takes several JVMs
	all     bool // that match, whoever their user is
}

// account is the value of --user; empty: who runs this program.
type account struct {
	name string
	uid  int
}

func (a *account) String() string { return a.name }

// Type is what help shows as the value.
func (*account) Type() string { return "name" }

// Set accepts users of this machine, and numbers, since those of containers have no name here.
func (a *account) Set(name string) error {
	id := name
	if u, err := user.Lookup(name); err == nil {
		id = u.Uid
	}
	uid, err := strconv.Atoi(id)
	if err != nil || uid < 0 {
		return errors.New("want the name or number of a user, as weft list shows it")
	}
	*a = account{name, uid}
	return nil
}

func (c *choice) addFlags(flags *pflag.FlagSet, several bool) {
	c.several = several
	flags.Var(&c.user, "user", "a NAME means JVMs of this user (default: who runs weft)")
	if several {
		flags.BoolVar(&c.all, "all", false, "a NAME means all JVMs that match, of all users unless --user is given")
	}
}

// find returns the only JVM that a word means. Options are those for its agent.
func (c *choice) find(ctx context.Context, word string, options []string) (attach.JVM, error) {
	found, err := c.list(ctx, []string{word}, options)
	if err != nil {
		return attach.JVM{}, err
	}
	return found[0], nil
}

// list returns the JVMs that words mean, at least one.
func (c *choice) list(ctx context.Context, words, options []string) ([]attach.JVM, error) {
	running, err := attach.List(ctx)
	if err != nil {
		return nil, err
	}
	return c.among(running, words, options, os.Geteuid())
}

// credentials are options that only the JVM that they are for may see.
var credentials = []string{"headers", "token-file", "key-file"}

// among is list for the JVMs that run, and who runs this program.
func (c *choice) among(running []attach.JVM, words, options []string, self int) (chosen []attach.JVM, _ error) {
	secret := slices.IndexFunc(options, func(option string) bool {
		key, _, _ := strings.Cut(option, "=")
		return slices.Contains(credentials, key)
	})
	for _, word := range words {
		found, err := c.match(running, word, self)
		if err != nil {
			return nil, err
		}
		if _, err := strconv.Atoi(word); err != nil && secret >= 0 && found[0].UID != self {
			return nil, usagef("%s: %q is a JVM of another user: give its process ID", secretOf(options[secret]), word)
		}
		chosen = append(chosen, found...)
	}
	if secret >= 0 && len(chosen) > 1 {
		return nil, usagef("%s: give one JVM, not %d: %s", secretOf(options[secret]), len(chosen), names(chosen))
	}
	return chosen, nil
}

func secretOf(option string) string {
	key, _, _ := strings.Cut(option, "=")
	return "option " + key + " is a credential"
}

// match returns the JVMs that a word means, at least one.
func (c *choice) match(running []attach.JVM, word string, self int) (found []attach.JVM, _ error) {
	if pid, err := strconv.Atoi(word); err == nil {
		if pid < 1 {
			return nil, usagef("%q is not a process ID", word)
		}
		if i := slices.IndexFunc(running, func(jvm attach.JVM) bool { return jvm.PID == pid }); i >= 0 {
			return running[i : i+1], nil
		}
		return []attach.JVM{{PID: pid}}, nil // attaching says what is wrong with it
	}
	uid := self
	if c.user.name != "" {
		uid = c.user.uid
	}
	var others []attach.JVM
	for i := range running {
		switch jvm := &running[i]; {
		case !strings.Contains(strings.ToLower(jvm.MainClass), strings.ToLower(word)):
		case jvm.UID == uid, c.all && c.user.name == "":
			found = append(found, *jvm)
		default:
			others = append(others, *jvm)
		}
	}
	switch {
	case len(found) > 1 && !c.all && c.several:
		return nil, usagef("%q is in the names of %d JVMs: %s; give process IDs, or --all", word, len(found), names(found))
	case len(found) > 1 && !c.all:
		return nil, usagef("%q is in the names of %d JVMs: %s; give the process ID of one", word, len(found), names(found))
	case len(found) > 0:
		return found, nil
	case len(others) > 0:
		return nil, usagef("%q is in the names of JVMs of other users only: %s; give a process ID, or --user", word, names(others))
	case len(running) == 0:
		return nil, usagef("no JVM is running here (%q is not a process ID)", word)
	}
	return nil, usagef("no JVM has %q in its main class: there are %s", word, names(running))
}
