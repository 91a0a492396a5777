# ibwitness. `make run` shows it, `make test` tests it; see README.md.

SHELL   := bash
.SHELLFLAGS := -euo pipefail -c
GO      ?= go
CAPTURE ?= testdata/captures/rnr_retry_exceeded.pcap
ARGS    ?=
FUZZTIME ?= 5000x
N       ?= 60
SEED    ?= 1
FILES   ?=
BENCHTIME ?= 1s
COUNT   ?= 1
TIMES   ?= 100
FRAMES  ?= 100000000
LAB     ?= send_bw write_lat read_bw atomic_lat send_lat_ud write_bw_uc send_bw_cm rping
CONFORM ?= --skip X09_229,X17_005 C09 X09 X10 X17
PREFIX  ?= /usr/local
SYSCONFDIR ?= /etc
PROFILE := $(CURDIR)/cmd/ibwitness/default.pgo
# Not default.pgo: tests build the library often, which takes minutes by a profile.
TESTBENCH := $(CURDIR)/cmd/libibwitness/testbench.pgo
TOOLS   := bin/tools
# What several simulations of Verilator are built from is compiled once.
export OBJCACHE = $(shell command -v ccache)

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS := -X ibwitness/internal/cli.version=$(VERSION)

.NOTPARALLEL:
.PHONY: all build verbs library record release install run quick test testbench soak lab lab-dut deps prometheus opensm forky unit lint fuzz mutants golden bench pgo docs docs-check clean help axe

all: build

help:            ## this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

# The same sources give the same bytes, in whichever folder.
BUILD := CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)'

build:           ## build bin/ibwitness
	@mkdir -p bin
	$(BUILD) -o bin/ibwitness ./cmd/ibwitness

# It needs libibverbs, and its headers: Debian has them in libibverbs-dev.
verbs:           ## build bin/ibwitness-verbs, which serves the RDMA devices of this machine (ibwitness dut)
	@mkdir -p bin
	CGO_ENABLED=1 $(GO) build -tags verbs -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/ibwitness-verbs ./cmd/ibwitness

library:         ## build bin/libibwitness.so, the library for testbenches in C, SystemVerilog, VHDL and Python
	@mkdir -p bin
	CGO_ENABLED=1 $(GO) build -pgo=$(TESTBENCH) -trimpath -buildvcs=false -buildmode=c-shared -ldflags '-X main.version=$(VERSION)' -o bin/libibwitness.so ./cmd/libibwitness
	@rm bin/libibwitness.h; cp attach/c/ibwitness.h bin/ # the header that Go writes is not for users

# The library does not depend on libibverbs, of which it needs the headers only: Debian has them in libibverbs-dev.
record:          ## build bin/libibwitness_record.so, with which `ibwitness record` logs the verbs of a program
	@mkdir -p bin
	$(CC) -std=gnu11 -O2 -Wall -Wextra -fPIC -shared -Wl,--version-script=hcaagent/record/c/record.map -o bin/libibwitness_record.so hcaagent/record/c/*.c -ldl -lpthread

release:         ## build dist/: the program for Linux on amd64 and arm64, the licences of what is in it, its SBOM, checksums
	@rm -rf dist; mkdir -p dist $(TOOLS)
	@cd tools && $(GO) build -o ../$(TOOLS)/release ./release
	@for arch in amd64 arm64; do \
		GOOS=linux GOARCH=$$arch $(BUILD) -o dist/ibwitness-linux-$$arch ./cmd/ibwitness; \
	done
	@$(TOOLS)/release -program dist/ibwitness-linux-amd64 -version '$(VERSION)' -notices dist/THIRD_PARTY_NOTICES.txt -sbom dist/ibwitness.cdx.json
	@cp LICENSE dist/; cd dist && sha256sum * > SHA256SUMS && cat SHA256SUMS

# A configuration that is there stays as it is.
install: build   ## install the program (and the library of `make record`), its service and an example of its configuration: PREFIX=/usr/local DESTDIR= SYSCONFDIR=/etc
	install -D -m 755 bin/ibwitness "$(DESTDIR)$(PREFIX)/bin/ibwitness"
	[ ! -e bin/libibwitness_record.so ] || install -D -m 644 bin/libibwitness_record.so "$(DESTDIR)$(PREFIX)/lib/ibwitness/libibwitness_record.so"
	install -d "$(DESTDIR)$(PREFIX)/lib/systemd/system" "$(DESTDIR)$(SYSCONFDIR)/ibwitness"
	sed -e 's|/usr/local/|$(PREFIX)/|g' -e 's|/etc/|$(SYSCONFDIR)/|g' deploy/systemd/ibwitness.service > "$(DESTDIR)$(PREFIX)/lib/systemd/system/ibwitness.service"
	[ -e "$(DESTDIR)$(SYSCONFDIR)/ibwitness/watch.yaml" ] || install -m 644 deploy/watch.yaml "$(DESTDIR)$(SYSCONFDIR)/ibwitness/watch.yaml"

run: build       ## verify a capture and show the verdict: CAPTURE=file, ARGS='--near 10.0.0.1 --all'
	@status=0; bin/ibwitness check $(ARGS) "$(CAPTURE)" || status=$$?; \
	echo; \
	case $$status in \
	0) echo "Exit status 0: nothing was violated." ;; \
	1) echo "Exit status 1: the capture shows violations. That is the verdict on the traffic, not a failure of this run." ;; \
	*) echo "Exit status $$status: the capture could not be judged." >&2; exit $$status ;; \
	esac

test: deps unit lint docs-check fuzz ## install what tests need, and run them all

quick:           ## a part of the tests of all packages: three minutes on two cores
	$(GO) test -short -pgo=off ./...

# Nothing in ALONE runs beside anything else, which is looked at: the race detector would find nothing, and take seven times as long. It sees the short
# form of BOTH, without the tests beside which nothing runs.
ALONE := ./agent/internal/connection ./cmd/ibwitness/... ./cq/... ./deploy ./expect/... ./hcaagent/passive/... ./hcaagent/soft/... ./incident/... ./link/... ./mad/... ./packet/layers \
	./qp/... ./subnet/... ./timing/... ./upper/... ./verifier/... ./wqe/... ./internal/difference ./internal/errorlines ./internal/keyed ./internal/named ./internal/small \
	./internal/view/closure ./internal/view/ladder ./internal/view/perfetto ./internal/view/report ./internal/yamlfile ./internal/testkit/planted ./internal/testkit/traffic ./internal/testkit/view ./internal/testkit/words
BOTH  := ./agent ./conform ./hcaagent/eventlog ./packet ./internal/scenario ./internal/testkit/mutants
# A program under the race detector waits for a second when it ends, which some tests run hundreds of.
RACE  := GORACE=atexit_sleep_ms=50 $(GO) test -race -vet=off
# What these test runs in programs of its own: C compilers and simulators, with a library that has no race detector.
LIBRARY := ./attach ./cmd/libibwitness ./examples/...
# What takes longest begins first, so that nothing of it is left when all else has ended. All is vetted by lint.
LONGEST := ./examples/testbench/replay ./verifier ./examples/testbench/rtl ./attach ./cmd/ibwitness
LONGEST_RACE := ./internal/view/web
# ./internal/cli takes longest under the race detector, which sees its short form. What that leaves out, or what the detector disturbs, runs without it, and nothing beside it.
LEFT_OUT := awk '/^func Test/ {sub(/\(.*/, "", $$2); test = $$2} /sample\.|if raced/ && test {print test; test = ""}' internal/cli/*_test.go

testbench:       ## plant each bug into a channel adapter, and show under which rule and when Verilator, Icarus and GHDL tell it
	@$(GO) test ./examples/testbench/rtl -count 1 -run '^TestTestbench$$' -v

soak:            ## run Verilator, Icarus and GHDL with the library TIMES times, end them in all ways as often, and look at the C side with sanitizers and valgrind; hand FRAMES frames over: TIMES=100 FRAMES=100000000
	@$(GO) test ./attach -count 1 -timeout 1h -run '^Test(Misuse|Threads|Leave|Sanitized|Valgrind)$$' -v
	@$(GO) test ./attach -count 1 -timeout 1h -run '^TestLibraryMemory$$' -frames $(FRAMES) -v
	@$(GO) test ./examples/testbench/replay -count 1 -timeout 2h -run '^Test(Verilator|Icarus|GHDL)$$' -times $(TIMES) -v

# No part of the tests: machines that QEMU emulates are slow.
lab: build verbs ## run RDMA programs between two emulated machines with soft-RoCE, judge their traffic, and run the conformance tests against it (docs/lab.md): LAB='--netem "loss 2%" send_bw rping' CONFORM='C09 X09'
	@missing=; \
	command -v qemu-system-x86_64 >/dev/null || missing="$$missing qemu-system-x86"; \
	command -v cpio >/dev/null || missing="$$missing cpio"; \
	command -v xz >/dev/null || missing="$$missing xz-utils"; \
	if [ -n "$$missing" ]; then \
		if [ "$$(id -u)" = 0 ]; then root=; elif command -v sudo >/dev/null; then root=sudo; \
		else echo "cannot install$$missing: neither root nor sudo; install them by hand" >&2; exit 1; fi; \
		$$root apt-get update -q; \
		$$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; \
	fi
	@for script in run conform; do \
		case $$script in run) args=(${LAB}) ;; conform) args=(${CONFORM}) ;; esac; \
		[ $${#args[@]} != 0 ] || continue; \
		status=0; lab/$$script.sh "$${args[@]}" || status=$$?; \
		case $$status in \
		0) ;; \
		1) echo "Exit status 1: soft-RoCE or its programs depart from the specification. That is the verdict on them, not a failure of this run." ;; \
		*) exit $$status ;; \
		esac; \
	done

lab-dut: build verbs ## serve the devices of two emulated machines, and drive them through all verbs (docs/lab.md)
	CGO_ENABLED=0 $(GO) test -pgo=off -c -o bin/dut.test ./hcaagent/remote
	lab/dut.sh
	@cat bin/lab/command.client.log

unit:            ## all tests, under the race detector where anything can race; once more without it those that it disturbs; and those of libpcap
	@! grep -rnE '^\s*go |\bsync\b|Parallel\(\)' --include='*.go' $(ALONE:/...=) || { echo "what runs at the same time is to be tested under the race detector: see ALONE" >&2; exit 1; }
	$(GO) build -buildmode=c-shared -o bin/unit/libibwitness.so ./cmd/libibwitness # once: several tests that begin at the same time need it
	$(GO) test -pgo=off -vet=off -timeout 20m $(LONGEST) $$($(GO) list $(LIBRARY) $(BOTH) $(ALONE) | grep -vxF "$$($(GO) list $(LONGEST))")
	$(RACE) -short -pgo=off -timeout 20m ./internal/cli $(BOTH)
	$(RACE) -pgo=off -timeout 20m $(LONGEST_RACE) $$($(GO) list ./... | grep -vxF "$$($(GO) list $(ALONE) $(BOTH) $(LIBRARY) $(LONGEST_RACE) ./internal/cli)" | sort -r)
	$(GO) test -pgo=off -vet=off -run "^(TestSteadyState|$$($(LEFT_OUT) | paste -sd'|'))$$" ./fabricagent ./internal/cli
	$(RACE) -pgo=off -tags libpcap -run Libpcap ./fabricagent/live ./internal/cli

# The race detector needs a C compiler, some tests compare with tshark, those of live capture set up a network of their own, those of the page open it
# in a browser, those of simulated fabrics run ibsim and infiniband-diags, and those of the documentation run what it shows.
deps: prometheus opensm axe forky ## install what tests need, where it is missing (Debian)
	@missing=; \
	command -v tshark >/dev/null || missing="$$missing tshark"; \
	command -v ip >/dev/null || missing="$$missing iproute2"; \
	[ -e /usr/include/pcap/pcap.h ] || missing="$$missing libpcap-dev"; \
	[ -e /usr/include/infiniband/verbs.h ] || missing="$$missing libibverbs-dev"; \
	command -v systemd-analyze >/dev/null || missing="$$missing systemd"; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	for program in jq curl tcpdump zsh fish verilator iverilog ghdl valgrind ccache; do command -v $$program >/dev/null || missing="$$missing $$program"; done; \
	python3 -c "import ensurepip" 2>/dev/null || missing="$$missing python3-venv"; \
	command -v pkill >/dev/null || missing="$$missing procps"; \
	command -v ibsim >/dev/null || missing="$$missing ibsim-utils libumad2sim0"; \
	[ -x /usr/sbin/ibnetdiscover ] || missing="$$missing infiniband-diags"; \
	command -v script >/dev/null || missing="$$missing bsdutils"; \
	command -v "$$($(GO) env CC)" >/dev/null || missing="$$missing gcc libc6-dev"; \
	command -v g++ >/dev/null || missing="$$missing g++"; \
	[ -n "$$missing" ] || exit 0; \
	echo "tests need:$$missing"; \
	if [ "$$(id -u)" = 0 ]; then root=; elif command -v sudo >/dev/null; then root=sudo; \
	else echo "cannot install$$missing: neither root nor sudo; install them by hand" >&2; exit 1; fi; \
	$$root env DEBIAN_FRONTEND=noninteractive apt-get update -q; \
	$$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing

# The package is unpacked and not installed, as it would start a server.
prometheus:      ## unpack Debian's prometheus and promtool into bin/tools, where they are missing
	@mkdir -p $(TOOLS)
	@if command -v prometheus >/dev/null && command -v promtool >/dev/null || [ -x $(TOOLS)/prometheus -a -x $(TOOLS)/promtool ]; then exit 0; fi; \
	root=; [ "$$(id -u)" = 0 ] || root=sudo; \
	dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; chmod 755 "$$dir"; \
	(cd "$$dir" && { apt-get download -q prometheus || { $$root apt-get update -q && apt-get download -q prometheus; }; } && dpkg-deb -x prometheus_*.deb .); \
	cp "$$dir"/usr/bin/prometheus "$$dir"/usr/bin/promtool $(TOOLS)/

# Unpacked too: installed, it would manage the InfiniBand network of this machine. Its libraries are installed.
opensm:          ## unpack Debian's subnet manager opensm into bin/tools, where it is missing
	@mkdir -p $(TOOLS)
	@if [ -x /usr/sbin/opensm ] || [ -x $(TOOLS)/opensm ]; then exit 0; fi; \
	root=; [ "$$(id -u)" = 0 ] || root=sudo; \
	dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; chmod 755 "$$dir"; \
	(cd "$$dir" && { apt-get download -q opensm || { $$root apt-get update -q && apt-get download -q opensm; }; } && dpkg-deb -x opensm_*.deb .); \
	libraries=$$(dpkg-deb -f "$$dir"/opensm_*.deb Depends | tr ', ' '\n\n' | grep '^lib' | grep -v libc6); \
	$$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$libraries; \
	cp "$$dir"/usr/sbin/opensm $(TOOLS)/

# Debian 14 still changes: where it cannot be had, all else is tested; in continuous integration the tests of UVM and cocotb then fail.
forky:           ## unpack a Verilator that compiles UVM, UVM, and cocotb from Debian 14 into bin/tools/forky, where they are missing
	@mkdir -p $(TOOLS)
	@examples/testbench/forky.sh $(TOOLS)/forky || \
		echo "WARNING: Debian 14 could not be unpacked, so that UVM and cocotb are NOT TESTED" >&2

# The accessibility checker is one file of an npm package; nothing else of npm is needed.
AXE := axe-core@4.14.1
axe:             ## unpack the accessibility checker axe into bin/tools, where it is missing
	@mkdir -p $(TOOLS)
	@[ ! -s $(TOOLS)/axe.min.js ] || exit 0; \
	if ! command -v npm >/dev/null; then \
		root=; [ "$$(id -u)" = 0 ] || root=sudo; \
		$$root apt-get update -q && $$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends npm; \
	fi; \
	dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	(cd "$$dir" && npm pack --silent $(AXE) && tar xzf axe-core-*.tgz); \
	cp "$$dir"/package/axe.min.js $(TOOLS)/

# The tools are a module of their own. One that cannot be fetched is said so, loudly, and does not break the build;
# LINT_STRICT=1 makes it fail.
# No function of these is above 30, without exceptions: one that judges several outcomes is split by them.
CYCLO := verifier qp cq agent link hcaagent mad packet expect rule coverage attach

lint:            ## go vet, the words of the field, gofumpt, staticcheck, gocyclo
	@mkdir -p $(TOOLS)
	@$(GO) vet ./...
	@if [ -e /usr/include/infiniband/verbs.h ]; then CGO_ENABLED=1 $(GO) vet -tags verbs ./hcaagent/verbs ./cmd/ibwitness; \
	else echo "WARNING: libibverbs-dev is missing, so that hcaagent/verbs was NOT CHECKED" >&2; [ -z "$${LINT_STRICT:-}" ] || exit 1; fi
	@$(GO) run ./internal/testkit/words
	@for tool in mvdan.cc/gofumpt github.com/fzipp/gocyclo/cmd/gocyclo honnef.co/go/tools/cmd/staticcheck; do \
		name=$${tool##*/}; \
		(cd tools && $(GO) build -o ../$(TOOLS)/$$name $$tool) || { \
			echo "WARNING: $$name could not be built from tools/go.mod, so it was NOT RUN" >&2; \
			[ -z "$${LINT_STRICT:-}" ] || exit 1; continue; }; \
		case $$name in \
		gofumpt) bad=$$($(TOOLS)/gofumpt -l .); \
			[ -z "$$bad" ] || { echo "not formatted, run $(TOOLS)/gofumpt -w on:"; echo "$$bad"; exit 1; } ;; \
		gocyclo) $(TOOLS)/gocyclo -over 30 -ignore '_test\.go' $(CYCLO) || { echo "too many branches: split it along the steps that it judges"; exit 1; } ;; \
		*) $(TOOLS)/$$name ./... ;; \
		esac; \
		echo "$$name: clean"; \
	done

# A number of runs, not a time: where a time ends, Go's fuzzer may fail with "context deadline exceeded" (golang/go#75804).
# Most of the time goes into compiling each package for it, so that continuous integration takes every sixteenth target: which, the commit says. Their seeds run with all tests.
fuzz:            ## run every fuzz target FUZZTIME, a number of runs; with CI set every sixteenth one
	@of=$${CI:+$$((0x$$(git rev-parse --short=4 HEAD 2>/dev/null || echo 0) % 16))}; n=0; \
	grep -roE '^func Fuzz\w+' --include='*_test.go' . | LC_ALL=C sort | while IFS=: read -r file target; do \
		n=$$((n + 1)); [ -z "$$of" ] || [ $$((n % 16)) = "$$of" ] || continue; \
		echo "fuzz $${file%/*} $${target#func }"; \
		$(GO) test -run '^$$' -fuzz "^$${target#func }$$" -fuzztime $(FUZZTIME) "$${file%/*}" < /dev/null; \
	done

# A change that no test notices is code that nothing holds to what it does: it wants a test, or shows that it is not needed.
mutants:         ## change the verifiers in N places chosen by SEED, one at a time, and tell what no test notices: N=300 SEED=1 FILES='verifier/(rc|uc|ud)'
	$(GO) run ./internal/testkit/mutants -n $(N) -seed $(SEED) -files '$(FILES)'

# What is said of random changes has been judged by nobody: look at some of the differences that the tests show before they are written.
golden:          ## write what is said of varied scenarios, captures and random traffic, where it was meant to change
	$(GO) test -pgo=off ./verifier ./verifier/cm ./verifier/gmp ./verifier/smp ./internal/testkit/view -run '^Test(Varied|VariedSubnet|Fields|Bounds|Tally|SubnetTally|Wild)$$' -rewrite

bench:           ## benchmarks of the hot path: BENCHTIME=3s COUNT=6
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -count $(COUNT) -pgo=$(PROFILE) ./packet ./fabricagent ./agent ./attach ./cmd/ibwitness

# The compiler inlines along the hot paths that the profile shows. An old profile does no harm, it only helps less. Without one a flood may exceed its limit, which fails.
pgo:             ## profile usual traffic, floods, events and frames of testbenches again for the compiler: cmd/ibwitness/default.pgo, cmd/libibwitness/testbench.pgo
	@mkdir -p bin; rm -f bin/*.prof
	$(GO) test -run '^$$' -bench 'Run/.*/QPs=64$$/workers=1$$' -benchtime 8s -pgo=off -trimpath -o bin/agent.test -cpuprofile $(CURDIR)/bin/traffic.prof ./agent
	$(GO) test -run '^$$' -bench Flood -benchtime 1x -pgo=off -trimpath -o bin/agent.test -cpuprofile $(CURDIR)/bin/floods.prof ./agent || [ -s bin/floods.prof ]
	$(GO) test -run '^$$' -bench 'Events/(load|packets=[14])$$/events=(told|read)$$' -benchtime 5x -pgo=off -trimpath -o bin/scenario.test -cpuprofile $(CURDIR)/bin/events.prof ./internal/scenario
	$(GO) tool pprof -proto bin/traffic.prof bin/floods.prof bin/events.prof > $(PROFILE)
	$(GO) test -run '^$$' -bench '^BenchmarkFrame$$' -benchtime 3s -pgo=off -trimpath -o bin/attach.test -cpuprofile $(CURDIR)/bin/frames.prof ./attach
	$(GO) tool pprof -proto $(PROFILE) bin/frames.prof > $(TESTBENCH)

docs:            ## write docs/rules.md and the output that README.md shows
	@mkdir -p bin
	$(GO) run ./cmd/ibwitness rules --format markdown > bin/rules.md
	mv bin/rules.md docs/rules.md
	$(GO) test ./cmd/ibwitness -run Readme -update

docs-check:      ## docs/rules.md is what the catalogue says
	@mkdir -p bin
	@$(GO) run ./cmd/ibwitness rules --format markdown > bin/rules.md
	@cmp -s bin/rules.md docs/rules.md || { diff -u docs/rules.md bin/rules.md | head -n 20 >&2; \
		echo "docs/rules.md is not up to date: run make docs" >&2; exit 1; }

clean:           ## remove what make made
	rm -rf bin dist
