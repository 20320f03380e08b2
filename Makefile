# SPDX-License-Identifier: Apache-2.0
# A thin face on Meson: each target is one line of work. README.md and CONTRIBUTING.md say what each is for.

BUILD := build
# A toolkit has a folder of its own: bin/, include/, lib64/ and others.
PREFIX ?= /usr/local/millrace
# Tools of Debian's own come first, so that a Python or compiler elsewhere does not get in the way.
export PATH := /usr/bin:/bin:$(PATH)

.PHONY: all setup build demo test test-clients test-replays bench check install uninstall docs wheel wheel-clang deb reproducible sbom clean
all: build

setup:
	@scripts/setup.sh build

$(BUILD)/build.ninja: | setup
	@echo "millrace: configuring"
	@mkdir -p $(BUILD) && [ -w $(BUILD) ] || { echo "millrace: cannot write to $(BUILD); 'make BUILD=FOLDER' builds elsewhere"; exit 1; }
	@meson setup $(BUILD) >$(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; exit 1; }

build: $(BUILD)/build.ninja
	@echo "millrace: building"
	@ninja -C $(BUILD) --quiet

demo: build
	@python3 scripts/demo.py $(BUILD)

test: build
	@python3 scripts/run_tests.py $(BUILD)

test-clients: build
	@scripts/setup.sh build clients
	@clients/run-all.sh $(BUILD)

# Every witness of examples/races shows its wrong result, 20 of 20 times.
test-replays: build
	@python3 tests/observer/test_witnesses.py $(BUILD)/bin/millrace examples/races --times 20

bench: build
	@scripts/setup.sh build bench
	@python3 bench/run.py $(BUILD)

# What CI runs beside `make test`: other compilers, sanitizers, layers.
check:
	@scripts/setup.sh build ci
	@scripts/check.sh

install: build
	@meson configure $(BUILD) --prefix=$(abspath $(PREFIX)) && meson install -C $(BUILD) --quiet && \
	    python3 scripts/uninstall.py --record $(BUILD) "$(DESTDIR)$(abspath $(PREFIX))" && echo "millrace: installed under $(PREFIX)"

# Takes away what `make install` with the same PREFIX left there.
uninstall:
	@python3 scripts/uninstall.py "$(DESTDIR)$(abspath $(PREFIX))" && echo "millrace: nothing of it is left under $(PREFIX)"

# The documentation as a site: $(BUILD)/site/index.html.
docs: build
	@scripts/setup.sh build docs
	@python3 docs/site/build.py $(BUILD) $(BUILD)/site

# For pip: dist/millrace_driver-*.whl.
wheel: build
	@scripts/setup.sh build package
	@python3 packaging/wheel.py $(BUILD) dist

# clang 19 for pip: dist/millrace_clang-*.whl.
wheel-clang:
	@scripts/setup.sh build package
	@python3 packaging/clang_wheel.py dist

# For Debian: dist/*.deb.
deb:
	@scripts/setup.sh build package
	@python3 packaging/deb.py dist

# Builds Debian's packages twice, in two folders, and compares them bit by bit.
reproducible:
	@scripts/setup.sh build package
	@python3 packaging/reproducible.py

# What is inside, for those who must know: dist/millrace.spdx.json.
sbom: build
	@python3 packaging/sbom.py $(BUILD) dist/millrace.spdx.json

clean:
	@rm -rf $(BUILD) $(BUILD)-*
