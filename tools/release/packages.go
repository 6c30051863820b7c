// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the format
)

var formats = []string{"deb", "rpm"}

// packages writes the packages weft-collector, and weft with the agent, for each package manager and processor.
func (r release) packages() error {
	for _, format := range formats {
		for _, processor := range r.processors {
			for _, info := range []*nfpm.Info{r.collectorPackage(processor), r.commandPackage(processor)} {
				if err := r.writePackage(info, format); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// collectorPackage is the collector as a service. Its configuration survives upgrades, and a removal until it is purged.
func (r release) collectorPackage(processor string) *nfpm.Info {
	const docs = "/usr/share/doc/weft-collector/"
	info := r.info("weft-collector", processor, "OpenTelemetry Collector that shows why the threads of a JVM wait")
	info.Contents = files.Contents{
		r.content(r.program("linux", processor, "weft-collector"), "/usr/bin/weft-collector", 0o755),
		r.content(r.packaging("weft-collector.service"), "/usr/lib/systemd/system/weft-collector.service", 0o644),
		r.content(r.packaging("sysusers.conf"), "/usr/lib/sysusers.d/weft-collector.conf", 0o644),
		r.config("collector.yaml"),
		r.config("collector.env"),
		r.content(r.repo("LICENSE"), docs+"copyright", 0o644),
		r.content(r.noticesOf("linux", processor, "weft-collector"), docs+thirdParty, 0o644),
		r.content(r.repo("config/README.md"), docs+"examples/README.md", 0o644),
	}
	examples, _ := filepath.Glob(r.repo("config/*.yaml")) // the pattern is valid
	for _, path := range examples {
		info.Contents = append(info.Contents, r.content(path, docs+"examples/"+filepath.Base(path), 0o644))
	}
	info.Scripts = nfpm.Scripts{
		PostInstall: r.packaging("postinstall.sh"), PreRemove: r.packaging("preremove.sh"), PostRemove: r.packaging("postremove.sh"),
	}
	return info
}

// commandPackage is the command and the agent. The library for musl is for containers of this host.
func (r release) commandPackage(processor string) *nfpm.Info {
	const libraries = "/usr/lib/weft/"
	info := r.info("weft", processor, "Shows why the threads of a JVM wait: the command and the agent")
	native := r.repo("build/dist/libweft-linux-" + machine(processor) + ".so")
	musl := r.repo("build/dist/libweft-linux-musl-" + machine(processor) + ".so")
	info.Contents = files.Contents{
		r.content(r.program("linux", processor, "weft"), "/usr/bin/weft", 0o755),
		r.content(native, libraries+"libweft.so", 0o644),
		r.content(musl, libraries+"libweft-musl.so", 0o644),
		r.content(r.repo("build/weft-otel.jar"), libraries+"weft-otel.jar", 0o644),
		r.content(r.repo("LICENSE"), "/usr/share/doc/weft/copyright", 0o644),
		r.content(r.noticesOf("linux", processor, "weft"), "/usr/share/doc/weft/"+thirdParty, 0o644),
		r.content(r.repo("agent/README.md"), "/usr/share/doc/weft/agent.md", 0o644),
	}
	return info
}

// info has the version split, so that a package manager takes 0.1.0-dev for older than 0.1.0.
func (r release) info(name, processor, description string) *nfpm.Info {
	return nfpm.WithDefaults(&nfpm.Info{
		Name: name, Arch: processor, Platform: "linux", Version: r.version, Release: "1", Section: "devel", Priority: "optional",
		Maintainer: "The Weft Authors <weft-otel@users.noreply.github.com>", Description: description, Homepage: "https://github.com/weft-otel/weft",
		License: "Apache-2.0", MTime: r.time, Overridables: nfpm.Overridables{RPM: nfpm.RPM{BuildHost: "localhost"}},
	})
}

func (r release) packaging(name string) string { return r.repo("tools/release/packaging/" + name) }

func (r release) content(source, target string, mode os.FileMode) *files.Content {
	return &files.Content{
		Source: source, Destination: target,
		FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.time},
	}
}

// config is a file that its owner may edit. It may contain credentials, so only root and, after postinstall.sh, the collector read it.
func (r release) config(name string) *files.Content {
	c := r.content(r.packaging(name), "/etc/weft/"+name, 0o640)
	c.Type = files.TypeConfigNoReplace
	return c
}

func (r release) writePackage(info *nfpm.Info, format string) (err error) {
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(r.out, packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	return errors.Join(packager.Package(info, out), out.Close())
}
