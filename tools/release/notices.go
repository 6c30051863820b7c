// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/weft-otel/weft/tools/release/internal/notices"
)

// thirdParty is the file in each piece that has the licenses and notices of others.
const thirdParty = "THIRD-PARTY.txt"

// linked returns the packages that each program for a platform is built from. The image of a collector also has certificates.
func (r release) linked(system, processor string) map[string][]notices.Package {
	at := func(dir, path string) notices.Package {
		return notices.Package{Dir: r.repo(dir), Path: path, System: system, Processor: processor}
	}
	all := map[string][]notices.Package{"weft": {at(".", "./cmd/weft")}}
	if system != "linux" {
		return all
	}
	all["cp"] = []notices.Package{at("tools/release", "./agentcopy")}
	for name, dir := range map[string]string{"weft-collector": "build/collector", "weft-collector-full": "build/collector-full"} {
		collector := at(dir, ".")
		all[name] = []notices.Package{collector}
		all[name+"-image"] = []notices.Package{collector, at("tools/release", "golang.org/x/crypto/x509roots/fallback/bundle")}
	}
	return all
}

// notices writes whose work each program contains, next to the program.
func (r release) notices() error {
	for _, processor := range r.processors {
		for _, system := range systems {
			for name, packages := range r.linked(system, processor) {
				parts, err := notices.Of(r.root, packages...)
				if err != nil {
					return err
				}
				text, err := notices.Write(parts)
				if err != nil {
					return fmt.Errorf("%s for %s-%s: %w", name, system, processor, err)
				}
				path := r.noticesOf(system, processor, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return err
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// noticesOf is the file that notices writes for a program.
func (r release) noticesOf(system, processor, name string) string {
	return r.program(system, processor, name+"."+thirdParty)
}
