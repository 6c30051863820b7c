# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# Builds the agent for all supported machines with zig's C compiler, which includes the headers and stubs of each libc. The
# oldest supported glibc is that of 2012.
GLIBC := 2.17
ZIG_VERSION := 0.17.1
ZIG := $(BUILD)/zig/ziglang/zig
DIST := $(BUILD)/dist
DISTS := $(DIST)/libweft-linux-x86_64.so $(DIST)/libweft-linux-aarch64.so \
	$(DIST)/libweft-linux-musl-x86_64.so $(DIST)/libweft-linux-musl-aarch64.so

.PHONY: dist agents disttest
dist: $(DISTS)

$(ZIG):
	../scripts/need.sh pip3 unzip
	@mkdir -p $(BUILD)/zig
	../scripts/retry.sh pip3 download --quiet --no-deps --only-binary :all: --dest $(BUILD)/zig ziglang==$(ZIG_VERSION)
	unzip -qo $(BUILD)/zig/ziglang-$(ZIG_VERSION)-*.whl -d $(BUILD)/zig
	@rm $(BUILD)/zig/*.whl
	chmod +x $@

target = $(if $(findstring musl,$1),$(lastword $(subst -, ,$1))-linux-musl,$(lastword $(subst -, ,$1))-linux-gnu.$(GLIBC))

$(DIST)/libweft-%.so: $(SOURCES) $(HEADERS) Makefile dist.mk $(ZIG)
	@mkdir -p $(DIST)
	$(ZIG) cc -target $(call target,$*) $(CPPFLAGS) $(SHIPPED) $(WARNINGS) \
		$(LINKED) -o $@ $(SOURCES) -pthread -ldl

# What the command contains (bundled/): the same without symbols, which gdb still finds in $(DIST). Without names and times in the
# archives, the bytes depend on the sources and compilers only.
BUNDLED := $(DISTS:$(DIST)/%=bundled/%.gz)
agents: $(BUNDLED)
	@ls -l $(BUNDLED)

bundled/%.so.gz: $(DIST)/%.so | $(OBJ)
	@../scripts/need.sh llvm-strip
	llvm-strip -o $(OBJ)/$*.stripped $<
	gzip -9nc $(OBJ)/$*.stripped >$@

# The tests without a JVM, with musl, on both processors; no JVM for musl is available. Not position-independent: qemu 7
# cannot load static position-independent programs.
MUSL := -static -no-pie -Wno-unused-command-line-argument
$(foreach machine,x86_64 aarch64,$(eval \
	$(call VARIANT,musl-$(machine),$(ZIG) cc -target $(machine)-linux-musl,$(MUSL),$(ZIG) ar,$(ZIG))))

MUSL_TESTS := $(addprefix $(OBJ)/,buffer_musl-x86_64 sender_musl-x86_64 buffer_musl-aarch64)

# Counts how often two threads both miss each other's store: see scripts/emulate.sh.
.PHONY: store-buffering
store-buffering: $(ZIG) | $(OBJ)
	@../scripts/need.sh cc qemu-aarch64
	$(CC) -O2 -o $(OBJ)/store_buffering test/store_buffering.c -pthread
	$(ZIG) cc -target aarch64-linux-musl -O2 -static -o $(OBJ)/store_buffering_aarch64 test/store_buffering.c
	@echo "natively: $$($(OBJ)/store_buffering)"
	@echo "emulated: $$(qemu-aarch64 $(OBJ)/store_buffering_aarch64)"
	@echo "emulated on one processor: $$(../scripts/emulate.sh $(OBJ)/store_buffering_aarch64)"

# Checks the flags and the glibc symbol versions, runs a JVM of the other processor, and the C tests with musl.
disttest: dist $(MUSL_TESTS) $(OBJ)/fake_receiver $(CLASSES)/.compiled
	$(MAKE) -C .. --no-print-directory build/weft-otel.jar
	../scripts/jres.sh $(JRES) aarch64
	test/hardened.sh $(DISTS)
	@for lib in $(filter-out %musl%,$(wordlist 1,2,$(DISTS))); do \
		newest=$$(readelf -V $$lib | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -1); \
		echo "$$lib needs $$newest"; \
		test "$$(printf '%s\nGLIBC_$(GLIBC)\n' $$newest | sort -V | tail -1)" = GLIBC_$(GLIBC) || exit 1; \
	done
	@for t in $(filter %-x86_64,$(MUSL_TESTS)); do echo $$t && $$t || exit 1; done
	@for t in $(filter %-aarch64,$(MUSL_TESTS)); do echo $$t && ../scripts/emulate.sh $$t || exit 1; done
	test/jvmtest.sh $(abspath $(DIST)/libweft-linux-aarch64.so) $(abspath $(OBJ)/fake_receiver) $(abspath $(CLASSES)) $(abspath $(JRES)/aarch64)
