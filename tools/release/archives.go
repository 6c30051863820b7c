// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"

	"github.com/weft-otel/weft/tools/release/internal/archive"
)

var (
	systems    = []string{"linux", "darwin", "windows"}
	collectors = []string{"weft-collector", "weft-collector-full"}
)

// machine is the name that C and Java use for a processor.
func machine(processor string) string {
	return map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[processor]
}

// repo is a file of the repository.
func (r release) repo(path string) string { return filepath.Join(r.root, filepath.FromSlash(path)) }

// program is a program that was built for a platform.
func (r release) program(system, processor, name string) string {
	return filepath.Join(r.bin, system+"-"+processor, name)
}

// archives writes the commands, the collectors and the agent as archives.
func (r release) archives() error {
	texts := []archive.File{{Source: r.repo("LICENSE"), Name: "LICENSE", Mode: 0o644}, {Source: r.repo("README.md"), Name: "README.md", Mode: 0o644}}
	write := func(name, platform, kind, notices string, files ...archive.File) error {
		files = append(files, archive.File{Source: notices, Name: thirdParty, Mode: 0o644})
		return archive.Write(filepath.Join(r.out, name+"_"+r.version+"_"+platform+kind), append(files, texts...), r.time)
	}
	for _, processor := range r.processors {
		for _, system := range systems {
			name, kind := "weft", ".tar.gz"
			if system == "windows" {
				name, kind = "weft.exe", ".zip"
			}
			file := archive.File{Source: r.program(system, processor, name), Name: name, Mode: 0o755}
			if err := write("weft", system+"_"+processor, kind, r.noticesOf(system, processor, "weft"), file); err != nil {
				return err
			}
		}
		configs, err := filepath.Glob(r.repo("config/*.yaml"))
		if err != nil {
			return err
		}
		for _, name := range collectors {
			files := []archive.File{{Source: r.program("linux", processor, name), Name: name, Mode: 0o755}}
			for _, path := range append(configs, r.repo("config/README.md")) {
				files = append(files, archive.File{Source: path, Name: "config/" + filepath.Base(path), Mode: 0o644})
			}
			if err := write(name, "linux_"+processor, ".tar.gz", r.noticesOf("linux", processor, name), files...); err != nil {
				return err
			}
		}
	}
	agent := []archive.File{
		{Source: r.repo("build/weft-otel.jar"), Name: "weft-otel.jar", Mode: 0o644},
		{Source: r.repo("agent/README.md"), Name: "agent.md", Mode: 0o644},
	}
	for _, libc := range []string{"linux", "linux-musl"} {
		for _, processor := range r.processors {
			name := "libweft-" + libc + "-" + machine(processor) + ".so"
			agent = append(agent, archive.File{Source: r.repo("build/dist/" + name), Name: name, Mode: 0o755})
		}
	}
	return write("weft-agent", "linux", ".tar.gz", r.repo("agent/"+thirdParty), agent...)
}
