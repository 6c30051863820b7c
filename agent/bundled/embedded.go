// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build bundled

package bundled

import (
	"embed"
	"fmt"

	"github.com/weft-otel/weft/agent/attach"
)

//go:embed libweft-linux-x86_64.so.gz libweft-linux-aarch64.so.gz libweft-linux-musl-x86_64.so.gz libweft-linux-musl-aarch64.so.gz
var packed embed.FS

func library(p attach.Platform) (string, error) {
	name := fmt.Sprintf("libweft-%v.so", p)
	content, err := packed.ReadFile(name + ".gz")
	if err != nil {
		return "", fmt.Errorf("no agent for %v; build one with make -C agent, and specify its path", p)
	}
	return unpack(name, content)
}
