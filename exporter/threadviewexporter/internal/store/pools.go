// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import "strings"

// Pools returns, by thread, the name of the pool that it belongs to: its name with a star in place of each number, if another thread has the same; else it
// is empty. Nobody may write to the list.
func (sn *Snapshot) Pools() []string {
	sn.poolsOnce.Do(func() {
		sn.pools = make([]string, len(sn.Threads))
		count := make(map[string]int)
		for i := range sn.Threads {
			if t := &sn.Threads[i]; t.Known && t.Name != "" {
				sn.pools[i] = starred(t.Name)
				count[sn.pools[i]]++
			}
		}
		for i, p := range sn.pools {
			if p == "" || count[p] < 2 {
				sn.pools[i] = ""
			}
		}
	})
	return sn.pools
}

// starred is a name with a star in place of each number; empty if it has none.
func starred(name string) string {
	if !strings.ContainsAny(name, "0123456789") {
		return ""
	}
	out := make([]byte, 0, len(name))
	digits := false
	for i := range len(name) {
		if digit := name[i] >= '0' && name[i] <= '9'; digit != digits || !digit {
			if digit {
				out = append(out, '*')
			} else {
				out = append(out, name[i])
			}
			digits = digit
		}
	}
	return string(out)
}
