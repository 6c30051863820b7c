// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/agent/attach"
)

// Names mean JVMs of one user, and credentials reach one JVM that the user has named beyond doubt.
func TestChosenJVMs(t *testing.T) {
	const root, bob = 0, 4711
	running := []attach.JVM{
		{PID: 10, UID: root, MainClass: "com.acme.Loop"},
		{PID: 11, UID: root, MainClass: "com.acme.Shop"},
		{PID: 12, UID: root, MainClass: "com.acme.ShopTwo"},
		{PID: 20, UID: bob, MainClass: "Loop_orders.py"}, // not what it seems
		{PID: 21, UID: bob, MainClass: "com.acme.Cart"},
	}
	for _, test := range []struct {
		flags, words, options string
		want                  []int
		problem               string
	}{
		{words: "loop", want: []int{10}},
		{words: "loop", options: "headers=a=b", want: []int{10}},
		{words: "LOOP 21", want: []int{10, 21}},
		{words: "20", options: "token-file=/t", want: []int{20}},
		{words: "20 21", options: "depth=3 key-file=/k", problem: "option key-file is a credential: give one JVM, not 2: 20 (Loop_orders.py), 21 (com.acme.Cart)"},
		{words: "shop", problem: `"shop" is in the names of 2 JVMs: 11 (com.acme.Shop), 12 (com.acme.ShopTwo); give process IDs, or --all`},
		{words: "cart", problem: `"cart" is in the names of JVMs of other users only: 21 (com.acme.Cart); give a process ID, or --user`},
		{words: "cat", problem: `no JVM has "cat" in its main class: there are 10 (com.acme.Loop), `},
		{words: "-1", problem: `"-1" is not a process ID`},
		{words: "99", want: []int{99}},
		{flags: "--all", words: "loop", want: []int{10, 20}},
		{flags: "--all", words: "shop", want: []int{11, 12}},
		{flags: "--all", words: "loop", options: "headers=a=b", problem: "option headers is a credential: give one JVM, not 2: "},
		{flags: "--user=4711", words: "loop", want: []int{20}},
		{flags: "--user=4711 --all", words: "o", want: []int{20, 21}},
		{flags: "--user=4711", words: "loop", options: "headers=a=b", problem: `option headers is a credential: "loop" is a JVM of another user: give its process ID`},
		{flags: "--all", words: "cart", options: "headers=a=b", problem: `option headers is a credential: "cart" is a JVM of another user: give its process ID`},
		{flags: "--user=root", words: "loop", options: "ca-file=/c", want: []int{10}},
	} {
		var c choice
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		c.addFlags(flags, true)
		require.NoError(t, flags.Parse(strings.Fields(test.flags)))
		got, err := c.among(running, strings.Fields(test.words), strings.Fields(test.options), root)
		var pids []int
		for i := range got {
			pids = append(pids, got[i].PID)
		}
		assert.Equal(t, test.want, pids, test)
		if test.problem == "" {
			require.NoError(t, err, test)
		} else {
			require.ErrorContains(t, err, test.problem, test)
			require.ErrorAs(t, err, new(usageError))
		}
	}
	c := choice{several: false}
	_, err := c.among(running, []string{"shop"}, nil, root)
	require.ErrorContains(t, err, "give the process ID of one")
	_, err = c.among(nil, []string{"shop"}, nil, root)
	require.ErrorContains(t, err, "no JVM is running here")
	require.ErrorContains(t, new(account).Set("no such user"), "want the name or number of a user")
}
