# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# The pieces of a release, in build/release. The Makefile in the root includes this file.
RELEASE := build/release
BIN := build/release-bin
RELEASE_LDFLAGS := -s -w
# Both collectors run on these processors; the command reads files and serves the page everywhere.
PROCESSORS ?= amd64 arm64
COLLECTORS := $(foreach arch,$(PROCESSORS),$(BIN)/linux-$(arch)/weft-collector $(BIN)/linux-$(arch)/weft-collector-full)
COMMANDS := $(foreach arch,$(PROCESSORS),$(BIN)/linux-$(arch)/weft $(BIN)/darwin-$(arch)/weft $(BIN)/windows-$(arch)/weft.exe)
COPIERS := $(foreach arch,$(PROCESSORS),$(BIN)/linux-$(arch)/cp)
# The command contains the agent's libraries if there is a package that embeds them. BUNDLED= leaves them out.
BUNDLED ?= $(if $(wildcard agent/bundled),bundled)

released = CGO_ENABLED=0 GOOS=$(word 1,$(subst -, ,$(notdir $(@D)))) GOARCH=$(word 2,$(subst -, ,$(notdir $(@D)))) \
	$(GO) build

$(BIN)/%/weft-collector: build/collector/.written always
	$(released) -C $(<D) -trimpath -ldflags='$(RELEASE_LDFLAGS)' -o $(CURDIR)/$@ .

$(BIN)/%/weft-collector-full: build/collector-full/.written always
	$(released) -C $(<D) -trimpath -ldflags='$(RELEASE_LDFLAGS)' -o $(CURDIR)/$@ .

$(filter $(BIN)/linux-%,$(COMMANDS)): $(if $(BUNDLED),agents)
$(COMMANDS): always
	$(released) -trimpath $(if $(findstring linux,$@),$(addprefix -tags=,$(BUNDLED))) -ldflags='$(RELEASE_LDFLAGS) -X main.version=$(VERSION)' -o $@ ./cmd/weft

$(COPIERS): always
	$(released) -C tools/release -trimpath -ldflags='$(RELEASE_LDFLAGS)' -o $(CURDIR)/$@ ./agentcopy

.PHONY: release-binaries
release-binaries: $(COLLECTORS) $(COMMANDS) $(COPIERS)

# What the extension's users see in their editors.
build/otel-javadoc/index.html: build/weft-otel.jar
	rm -rf $(@D)
	$(JAVA_HOME)/bin/javadoc -quiet -notimestamp -Xdoclint:none -cp 'build/otel/*' -d $(@D) $$(find agent/otel/src -name '*.java')

SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)

# RELEASE_KEY is the PEM file with the key that signs the sums.
.PHONY: release-snapshot-pieces
release-snapshot-pieces: release-binaries dist build/weft-otel.jar build/otel-javadoc/index.html build/collector-full/.written web/node_modules/.installed
	rm -rf $(RELEASE)
	@mkdir -p $(RELEASE)
	scripts/sbom.sh $(RELEASE)/weft.cdx.json
	$(GO) build -C tools/release -o $(CURDIR)/$(BIN)/release .
	SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) $(BIN)/release -version=$(VERSION) -processors='$(PROCESSORS)' $(if $(RELEASE_KEY),-key=$(RELEASE_KEY)) notices archives packages images maven sums
