# Three commands for a newcomer: `make demo`, `make up` and `make test`. Everything CI does, a laptop can do.
.PHONY: help demo up test acceptance laws kills fuzz lint docs build release install units package image snapshot format dependencies clean-database

SUBLEDGER = .build/debug/subledger
PREFIX ?= /usr/local
SHARE = $(DESTDIR)$(PREFIX)/share
UNITS = $(DESTDIR)$(PREFIX)/lib/systemd/system
SOURCES = Sources Tests Projections schema Package.swift

# The same options for every debug build; other options build everything again. Modules are
# optimised, because they run the tests in a third of the time. Each module is compiled as a whole,
# once, without debug information and without an index, which takes less of the processor, but cannot
# be repeated for one file; so a plain `swift build` is the faster way to try a change. To use a
# debugger: `make build SUBLEDGER_OPTIMISED=0 SWIFT_FLAGS=`.
export SUBLEDGER_OPTIMISED ?= 1
SWIFT_FLAGS ?= -debug-info-format none --disable-index-store \
    -Xswiftc -whole-module-optimization -Xswiftc -no-emit-module-separately-wmo \
    -Xswiftc -num-threads -Xswiftc 2

# Run only some test targets, such as ONLY=EventsTests,TidyTests, and only tests whose names match
# FILTER.
ONLY ?=
FILTER ?=
export SUBLEDGER_TEST_TARGETS ?= $(ONLY)

# SwiftPM writes some lists in the order of a hash table; with another order in each run, it would
# build Hummingbird again. The order of traits also depends on how they were named: without the
# option, `make docs` would build every module again, and the next build would too.
ONE_ORDER = env SWIFT_DETERMINISTIC_HASHING=1
BUILD = $(ONE_ORDER) swift build --enable-all-traits

# As the tests have a main of their own (Tests/XCTMain.swift), without the second option SwiftPM
# would run none of them, and succeed.
SWIFT_TEST = swift test --disable-xctest --enable-swift-testing

STAGE = python3 -B Tests/Gate/stage.py

# On macOS, only SwiftPM can run a bundle of tests; it runs all of them in one process.
RUN_TESTS = $(if $(filter Darwin,$(shell uname)),\
    $(SWIFT_TEST) $(SWIFT_FLAGS) --skip-build $(addprefix --filter ,$(FILTER)),\
    python3 -B Tests/Gate/suites.py $(addprefix --filter ,$(FILTER)) $(subst $(comma), ,$(ONLY)))
comma := ,

# macOS has Swift's runtime itself.
RUNTIME = $(if $(filter Darwin,$(shell uname)),,--static-swift-stdlib)

# The symbols of a package are found by the identity of the build.
LINKING = $(if $(filter Darwin,$(shell uname)),,-Xlinker --build-id)

# The generator of manuals, in a build of its own, because the plugin would build the program again.
MANUAL = swift run --package-path .build/checkouts/swift-argument-parser \
    --scratch-path .build/manual -c release generate-manual

# Homebrew keeps libpq and zlib out of the default paths.
ifeq ($(shell uname),Darwin)
export PKG_CONFIG_PATH := $(shell brew --prefix libpq 2>/dev/null)/lib/pkgconfig:$(shell brew --prefix zlib 2>/dev/null)/lib/pkgconfig:$(PKG_CONFIG_PATH)
endif

help: ## Show this list.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1|/' | column -t -s '|'

demo: dependencies build ## Fill a ledger with a synthetic App Store and ask it three questions.
	@$(SUBLEDGER) demo

up: dependencies build ## Open the console on a synthetic App Store, whose events arrive while you look.
	@$(SUBLEDGER) up --demo

test: dependencies ## Run all tests, or those of ONLY and FILTER; PostgreSQL servers of their own are started and stopped.
	@rm -f .build/stages.tsv
	@$(STAGE) build -- $(BUILD) $(SWIFT_FLAGS) --build-tests
	@$(STAGE) run -- $(RUN_TESTS)

# Here ONLY names lines, not test targets.
acceptance: export SUBLEDGER_TEST_TARGETS =
acceptance: dependencies ## Run what is too heavy for CI, as root on Debian, and print a table; ONLY=postgres-17,replica selects lines.
	BUILD="$(BUILD)" SWIFT_TEST="$(SWIFT_TEST)" SWIFT_FLAGS="$(SWIFT_FLAGS)" \
	    python3 Tests/Acceptance/acceptance.py $(subst $(comma), ,$(ONLY)) $(LINES)

laws: dependencies ## Hold the laws and the truth against SUBLEDGER_HISTORIES random histories (200000), optimised.
	SUBLEDGER_OPTIMISED=0 SUBLEDGER_HISTORIES=$${SUBLEDGER_HISTORIES:-200000} $(SWIFT_TEST) \
	    -c release -Xswiftc -enable-testing --filter 'HistoryLawTests|MassTruthTests'

kills: dependencies ## Kill writers, backends and the server SUBLEDGER_KILLS times (1000) among erasures, repairs and checkpoints.
	$(BUILD) $(SWIFT_FLAGS) --build-tests
	SUBLEDGER_KILLS=$${SUBLEDGER_KILLS:-1000} $(SWIFT_TEST) $(SWIFT_FLAGS) --skip-build \
	    --filter 'CrashTests.*among'

fuzz: ## Fuzz every decoder, optimised, for SUBLEDGER_FUZZ_SECONDS (60 by default).
	SUBLEDGER_OPTIMISED=0 swift run -c release Fuzz

lint: ## Check layout and documentation of the sources, and that imports follow the arrows.
	@$(STAGE) layout -- swift format lint --strict -r -p $(SOURCES)
	@$(STAGE) imports -- $(BUILD) $(SWIFT_FLAGS) --build-tests \
	    --explicit-target-dependency-import-check error

docs: dependencies ## Build the documentation of the library; every link in it must lead somewhere.
	@SUBLEDGER_DOCS=1 $(STAGE) docs -- $(ONE_ORDER) swift package $(SWIFT_FLAGS) \
	    generate-documentation --target Subledger --warnings-as-errors

build: ## Build the command line, as the tests use it.
	$(BUILD) $(SWIFT_FLAGS) --product subledger

release: dependencies ## Build the command line, optimised; it needs no Swift where it runs.
	SUBLEDGER_OPTIMISED=0 $(BUILD) -c release $(RUNTIME) $(LINKING) --product subledger

install: release $(if $(filter Darwin,$(shell uname)),,units) ## Install the optimised program, its manual, completions, examples and units below PREFIX (/usr/local).
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(SHARE)/man/man1" "$(SHARE)/zsh/site-functions" \
	    "$(SHARE)/bash-completion/completions" "$(SHARE)/fish/vendor_completions.d" \
	    "$(SHARE)/subledger" "$(SHARE)/doc/subledger"
	install -s -m 755 .build/release/subledger "$(DESTDIR)$(PREFIX)/bin/subledger"
	@complete="$(DESTDIR)$(PREFIX)/bin/subledger --generate-completion-script"; \
	$$complete bash | sed '1{/^#!/d;}' > "$(SHARE)/bash-completion/completions/subledger" && \
	$$complete zsh > "$(SHARE)/zsh/site-functions/_subledger" && \
	$$complete fish > "$(SHARE)/fish/vendor_completions.d/subledger.fish"
	@print="$(DESTDIR)$(PREFIX)/bin/subledger serve"; \
	$$print --print-alerts > "$(SHARE)/subledger/alerts.yml" && \
	$$print --print-dashboard > "$(SHARE)/subledger/dashboard.json" && \
	$$print --print-proxy nginx > "$(SHARE)/subledger/nginx.conf" && \
	$$print --print-proxy caddy > "$(SHARE)/subledger/Caddyfile"
	$(MANUAL) .build/release/subledger --multi-page --output-directory "$(SHARE)/man/man1" \
	    $(if $(SOURCE_DATE_EPOCH),--date "$$(date -u -d @$(SOURCE_DATE_EPOCH) +%Y-%m-%d)")
	for page in "$(SHARE)"/man/man1/subledger*.1; do \
	    sed -f .packaging/manual.sed "$$page" > "$$page.new" && mv "$$page.new" "$$page"; done
	install -m 644 Sources/Subledger/Subledger.docc/*.md "$(SHARE)/doc/subledger"

# What a checkpoint may do is what the service may do.
units: release
	install -d "$(UNITS)"
	install -m 644 .packaging/subledger.socket .packaging/subledger-checkpoint.timer "$(UNITS)"
	@.build/release/subledger serve --print-unit > "$(UNITS)/subledger.service"
	@{ cat .packaging/subledger-checkpoint.service; \
	sed -n '/^User=/,/^SystemCallErrorNumber=/p' "$(UNITS)/subledger.service"; \
	} > "$(UNITS)/subledger-checkpoint.service"

package: release ## Make a .deb, a tarball, their symbols and a list of dependencies in .build/package; on Debian.
	.packaging/package.sh

image: ## Make a container image of the package in .build/package, without a registry; as root on Debian.
	.packaging/image.sh

snapshot: dependencies ## Rewrite what tests compare with: the schema, rows of folds, and what commands print.
	$(BUILD) $(SWIFT_FLAGS) --build-tests
	SNAPSHOT_UPDATE=1 $(SWIFT_TEST) $(SWIFT_FLAGS) --skip-build --skip LawTests \
	    --filter 'SnapshotTests|KeptFoldTests|ProjectionsTests|GoldenTests'

format: ## Lay the sources out.
	swift format -i -r -p $(SOURCES)

# The data goes only after the server has: whatever SUBLEDGER_HOME says, both are of this folder.
clean-database: build ## Stop this folder's private PostgreSQL and delete its data.
	SUBLEDGER_HOME=.subledger $(SUBLEDGER) database stop
	rm -rf .subledger

# Installs what is missing: libpq and zlib to build with, a PostgreSQL server to run.
dependencies:
	@if command -v apt-get >/dev/null; then \
	    missing=; \
	    pkg-config --exists libpq 2>/dev/null || missing="$$missing libpq-dev pkg-config"; \
	    pkg-config --exists zlib 2>/dev/null || missing="$$missing zlib1g-dev pkg-config"; \
	    ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
	        || missing="$$missing postgresql"; \
	    command -v python3 >/dev/null || missing="$$missing python3"; \
	    if [ -n "$$missing" ]; then \
	        echo "installing$$missing"; \
	        as_root=; [ "$$(id -u)" = 0 ] || as_root=sudo; \
	        $$as_root apt-get update -qq && \
	        $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing; \
	    fi; \
	elif command -v brew >/dev/null; then \
	    pkg-config --exists libpq 2>/dev/null || brew install libpq pkgconf; \
	    pkg-config --exists zlib 2>/dev/null || brew install zlib pkgconf; \
	    command -v initdb >/dev/null || ls "$$(brew --prefix)"/opt/postgresql*/bin/initdb \
	        >/dev/null 2>&1 || brew install postgresql@17; \
	else \
	    echo "install libpq and zlib (with headers), pkg-config and a PostgreSQL server by hand"; \
	fi
