# What a developer runs. Needs Go, Node with npm, and make; `make differential`
# also installs the reference (wrangler, workerd) below e2e/reference.

GO ?= go
NPM ?= npm
BIN := bin/minido

# Everything is built without cgo. The race detector alone needs it, and a C
# compiler: without one the tests run without the detector, and say so.
export CGO_ENABLED := 0
# One way to compile: binaries, tests and linters share what is in the build cache. Without
# information for debuggers (which make it themselves: dlv debug ./cmd/minido) it is a quarter
# smaller, and a link takes a tenth less.
export GOFLAGS := -trimpath -gcflags=all=-dwarf=false
# Compilers and linters that collect garbage less often take a fifth less CPU, unit tests
# a third. The end-to-end tests don't get this: they measure the memory of what users get.
# The race detector's tests do not become faster beyond 200.
FRUGAL := GOGC=400
FRUGAL_RACE := GOGC=200
# A process with the race detector waits a second when it ends, for races of goroutines that
# still run: a hundred seconds in all. What tests leave behind does not take that long.
AT_EXIT := GORACE=atexit_sleep_ms=50
# Tests make thousands of small files, which takes a third of the time in memory. Where
# there is less than 4 GB of it, or no program may be started from there, they lie where
# temporary files do, as those of benchmarks and campaigns always do.
IN_MEMORY := $(shell f=$$(mktemp /dev/shm/minido-XXXXXX) && { printf '\43!/bin/sh\n' >$$f; chmod +x $$f; $$f && \
	test "$$(df -kP /dev/shm | awk 'NR == 2 {print $$4}')" -ge 4194304 && echo TMPDIR=/dev/shm; rm -f $$f; } 2>/dev/null)
# The detector ignores memory that is not Go's, and SQLite's is all C's: with the
# detector its code would only be slower.
RACE := $(if $(shell command -v $$($(GO) env CC)),-race '-gcflags=modernc.org/sqlite/lib=-race=false -dwarf=false')

# npm writes this file into node_modules last, so its age is the installation's.
NPM_LOCKS := $(wildcard fixtures/*/package-lock.json fixtures/*/*/package-lock.json)
NPM_DONE := $(NPM_LOCKS:package-lock.json=node_modules/.package-lock.json)
REFERENCE := e2e/reference/node_modules
# npm vitest as one module, a part of the binary.
VITEST := vitest/bundled/made/vitest.json.gz
# The codecs of pictures, a part of the binary.
CODECS := runtime/binding/images/picture/codecs/made/webp.wasm.gz
BUNDLED := $(VITEST) $(CODECS)

.PHONY: analyzed preludes dashboard-cost differential-calls demo-binary alone behind plain-built race-built strangers pairs dead fuzz fuzz-syntax help demo test compiled check short formatted lint-changed unit plain race e2e hostile soak campaign points equivalence swarm cycles build npm release release-check npm-pack npm-versions release-start release-start-windows vet-systems newest docs docs-test recording bench load differential lint clean

help:
	@echo 'make demo          watch a real agent die by SIGKILL in mid-fiber, and recover'
	@echo 'make test          everything that CI runs: lint, unit tests, end-to-end tests'
	@echo 'make check         the inner loop: lint and the quick tests of the packages that have changed since the last push'
	@echo 'make build         bin/minido'
	@echo 'make load          a minute of clients while objects are evicted, reset and crashed'
	@echo 'make profile       BENCH=chat (tool, fiber, MCP): Go and JavaScript profiles and folded stacks of that row'
	@echo 'make dashboard-cost  what an open dashboard costs the server'
	@echo 'make bench         start-up, recovery, requests/s and memory, as a table'
	@echo 'make differential  the same requests to minido and to the reference, compared'
	@echo 'make differential-calls  CALLS=4000@7 random calls of the whole API with odd arguments, compared with the reference'
	@echo 'make strangers     small projects as wrangler users write them, under minido and the reference; STRANGERS=hono for some'
	@echo 'make fuzz-syntax   SYNTAX=20000 random programs over the syntax around await, compared with the reference'
	@echo 'make fuzz          each fuzz test in turn, FUZZ_SECONDS=3600 in all'
	@echo 'make hostile       workers that use everything up, beside a neighbour: memory, latency and recovery as a table'
	@echo 'make soak          KILLS=10000 SIGKILLs and LOSSES=10000 losses of power lose nothing; rooms hibernate for SOAK=1m'
	@echo 'make damage        what becomes of 352 damaged state directories, as a table'
	@echo 'make mutants       each line of the commit path changed, and the test that notices'
	@echo 'make equivalence   each simulated death against a real SIGKILL, each real label and verdict against simulated ones'
	@echo 'make pairs         small workers with and without a recovery bug: which minido finds with no check of yours'
	@echo 'make test-times    how long minido test takes: one test, a hundred, a change with --watch'
	@echo 'make suites        the test suites of the six systems with every fault at every point: minido test --chaos'
	@echo 'make swarm         10,000 simulated seeds over the six systems, each twice; or SWARM="--for 60s" for each system'
	@echo 'make campaign      random deaths over the six systems, CAMPAIGN_RUNS=170 each'
	@echo 'make points        every effect point of three systems, with real processes'
	@echo 'make cycles        how long a kill and a recovery take, with and without a standby'
	@echo 'make lint          gofmt, go vet, staticcheck, the house rules'
	@echo 'make dead          functions that neither minido nor a test calls'
	@echo 'make release       dist/: binaries of this commit for Linux, macOS and Windows, checksums, SBOM; RELEASE="-targets host" for this machine'
	@echo 'make release-check one binary built twice, in two folders: the same bytes'
	@echo 'make release-start the arm64 binary of make release started under qemu-aarch64-static'
	@echo 'make release-start-windows  the Windows binary of make release started under Wine'
	@echo 'make vet-systems   go vet for macOS and Windows'
	@echo 'make docs          dist/docs: the documentation as a site, its links checked'
	@echo 'make docs-test     runs the commands of the documentation'
	@echo 'make recording     docs/demo.svg: a run of the demo as a picture'
	@echo 'make newest        builds and tests a copy of the tree with the newest goja and wazero'
	@echo 'make npm-pack      dist/npm: the npm packages of the binaries that make release made'
	@echo 'make npm-versions  the npm packages installed and used with Node 20, 22 and 24'
	@echo 'make clean         remove what the others made'

# With MINIDO=minido it is shown by one that is installed, and nothing is compiled. On a
# machine that has compiled nothing yet a binary without optimizations does: it takes two
# thirds of the time to compile, and the demo mostly waits.
MINIDO ?=
demo:
	@$(MAKE) -s -j2 $(if $(MINIDO),,demo-binary) fixtures/fibers/node_modules/.package-lock.json
	$(or $(MINIDO),$(BIN)-demo) demo

demo-binary:
	@flags=$$(test "$$($(GO) list -f '{{.Stale}}' modernc.org/sqlite/lib)" = false || echo '-gcflags=all=-N -l -dwarf=false -c=1'); \
		set -x; $(FRUGAL) $(GO) build $${flags:+"$$flags"} -ldflags=-w -o $(BIN)-demo ./cmd/minido

# What waits goes beside what computes: downloads beside the compiler, and the end-to-end
# tests (clients, alarms, processes that start) beside linters and compilers that get what
# processor time they leave. No other test runs beside another part's but the simulations
# of alone: those that measure time or start processes need the machine. Each part's output
# is printed when it has ended.
test:
	@failed=; for parts in '-j2 compiled npm' '-j2 e2e behind' '-j2 plain alone' race; do \
		$(MAKE) --no-print-directory -k --output-sync=target $$parts || failed=yes; done; test -z "$$failed"

# What needs no npm package is compiled while npm downloads.
compiled: preludes
	$(FRUGAL) $(GO) build ./sqlstore/... ./durableobject/... ./runtime/... ./chaos/...

# One part at a time: two would take the second job, for which the end-to-end tests wait.
behind: $(BUNDLED) preludes
	@failed=; for part in analyzed dead plain-built race-built; do \
		nice -n 19 $(MAKE) --no-print-directory $$part || failed=yes; done; test -z "$$failed"

# Tests are linked without symbols and debug information, which is faster; go vet is in lint.
# Go keeps the results of tests for later runs, for which it looks at each file that a test
# has opened. ONCE=yes says that there is none.
QUICK := -vet=off -ldflags='-s -w' $(if $(ONCE),-count=1)

# The inner loop: all is formatted, built and held to the house rules; packages with files
# that have changed since BASE are linted and tested, without the race detector and without
# long campaigns. BASE is the last commit that is pushed.
BASE ?= $(shell git merge-base HEAD '@{upstream}' 2>/dev/null || echo HEAD)
CHANGED := { git diff --name-only --diff-filter=d $(BASE); git ls-files -o --exclude-standard; } | while read -r f; do d=$$(dirname "$$f"); \
	while [ "$$d" != . ] && ! ls "$$d"/*.go >/dev/null 2>&1; do d=$$(dirname "$$d"); done; echo "./$$d"; done | sort -u | \
	grep -vE '^\./(\.|e2e.*|internal/house)$$'
check: npm $(BUNDLED) preludes
	@$(FRUGAL) $(GO) build ./... # first: two that need the same packages would both compile them
	@$(MAKE) --no-print-directory -k -j2 --output-sync=target short lint-changed

short:
	@packages=$$($(CHANGED)); test -z "$$packages" || { set -x; $(IN_MEMORY) $(FRUGAL) $(GO) test $(QUICK) -short -skip '$(ALONE)' -timeout 5m $$packages; }

lint-changed: formatted
	@packages=$$($(CHANGED)); test -z "$$packages" || { set -x; $(FRUGAL) $(GO) run ./internal/lint $$packages; }
	@$(GO) test ./internal/house

# Tests of these packages run on one goroutine (a simulated world, or nothing but
# calls): the race detector has nothing to find there, and makes them five times slower.
ONE_GOROUTINE := /(chaos|vitest(/report)?|durableobject(/.*)?)$$
ONE_GOROUTINE := $(ONE_GOROUTINE)|/chaos/(check|draw|evidence|fault|fibers|oracle|orders|report|starter|transcript)$$
ONE_GOROUTINE := $(ONE_GOROUTINE)|/internal/(completion|elementary|golden|heap|hugepages|insides|licenses|lint|recording|regex|release|site|version)$$
ONE_GOROUTINE := $(ONE_GOROUTINE)|/runtime/(assets|binding|cfapi|clone|compat|config|dashboard|event|explorer|minidotest|webcrypto)$$
ONE_GOROUTINE := $(ONE_GOROUTINE)|/runtime/bundle/(mend|sourcemap|toplevel)$$|/runtime/(ecma|nodeapi|webapi)(/|$$)
ONE_GOROUTINE := $(ONE_GOROUTINE)|/runtime/binding/([^b].*)$$
UNITS := $(GO) list ./... | grep -v '/e2e\(/\|$$\)\|/internal/house$$'

# So do these tests, in packages whose others don't, or nearly all of their time is one goroutine's.
ALONE := ^(TestLivingSystems|TestFaultsInSimulation|TestPowerTakesUnconfirmedWrites|TestToldAfterDeath|TestTooManyOrders|TestEnumerateVersions)$$|^TestPowerLossLosesNothing$$
ALONE := $(ALONE)|^(TestSkewedClocks|TestSkewFindsAlarmsThatRingBeforeTheirTime|TestSkewMovesAlarmsAgainstClients|TestDeathsBetweenSteps(AreFew)?|TestInferredInvariants(Broken)?)$$
ALONE := $(ALONE)|^(TestSchedules|TestVersions|TestHorizon|TestHang|TestCorpus|TestShardsOfRandom)$$
ALONE := $(ALONE)|^(TestClientsThatAchieveNothing|TestCheckReadsEveryStore|TestInvariantAtEveryCommit)$$
ALONE := $(ALONE)|^(TestHeapLimit|TestJoinedStringsAreBounded|TestPrimordialsInUseAreCaptured)$$
ALONE_IN := ./chaos/campaign ./chaos/cli ./runtime/engine ./sqlstore

unit: plain alone race

plain-built: $(BUNDLED)
	$(FRUGAL) $(GO) build $$($(UNITS) | grep -E '$(ONE_GOROUTINE)')

# The longest come first, so that no processor waits for them at the end.
LONGEST := ./vitest/report ./durableobject ./runtime/minidotest ./internal/house
LONGEST_RACE := ./chaos/campaign ./runtime/control ./runtime/engine

plain: npm plain-built
	$(IN_MEMORY) $(FRUGAL) $(GO) test $(QUICK) -timeout 30m $(LONGEST) $$($(UNITS) | grep -E '$(ONE_GOROUTINE)' | grep -Fvx "$$($(GO) list $(LONGEST))")

alone: plain-built
	$(IN_MEMORY) $(FRUGAL) $(GO) test $(QUICK) -timeout 30m -run '$(ALONE)' $(ALONE_IN)

race-built:
	@$(if $(RACE),,echo 'no C compiler: the tests run without the race detector')
	$(FRUGAL) CGO_ENABLED=$(if $(RACE),1,0) $(GO) build $(RACE) ./runtime/minidotest ./runtime/control ./chaos/campaign ./vitest

race: npm race-built
	CGO_ENABLED=$(if $(RACE),1,0) $(IN_MEMORY) $(FRUGAL_RACE) $(AT_EXIT) $(GO) test $(RACE) $(QUICK) -timeout 30m -skip '$(ALONE)' \
		$(LONGEST_RACE) $$($(UNITS) | grep -Ev '$(ONE_GOROUTINE)' | grep -Fvx "$$($(GO) list $(LONGEST_RACE))")

# The end-to-end tests drive the binary that users get. More of them run at once than
# there are processors, since most wait for processes, alarms and clients.
e2e: build npm
	MINIDO_BIN='$(abspath $(BIN))' $(IN_MEMORY) $(GO) test $(QUICK) -count=1 -parallel 4 -timeout 30m ./e2e/...

# Each attack in a process of its own; HOSTILE="zip" runs those whose names contain it.
# Timings hold on a machine that does nothing else.
HOSTILE ?= all
hostile: build
	MINIDO_HOSTILE='$(HOSTILE)' MINIDO_BIN='$(abspath $(BIN))' $(GO) test -count=1 -timeout 60m ./e2e/hostile

# No acknowledged write is lost by KILLS deaths of a server by SIGKILL, nor by LOSSES losses
# of power, of a store after any operation of the disk and of a whole world at any effect
# point; a failure prints what runs it again. Then rooms hibernate and wake for SOAK.
KILLS ?= 10000
LOSSES ?= 10000
SOAK ?= 1m
soak: build npm
	MINIDO_POWER_LOSSES=$(LOSSES) $(GO) test -count=1 -timeout 240m -v -run 'TestPowerLoss' ./sqlstore ./durableobject
	MINIDO_KILLS=$(KILLS) MINIDO_BIN='$(abspath $(BIN))' $(GO) test -count=1 -timeout 600m -v -run TestNoAcknowledgedWriteIsLost ./e2e
	MINIDO_SOAK='$(SOAK)' MINIDO_BIN='$(abspath $(BIN))' $(GO) test -count=1 -timeout 30m -v -run Soak ./e2e

# Every effect point of the systems that are written here, with real processes; make test
# takes some of them.
points: build npm
	MINIDO_POINTS=all MINIDO_BIN='$(abspath $(BIN))' $(GO) test -count=1 -timeout 60m -v -run 'TestSystemsSurviveEffectPoints' ./e2e

# 352 damaged state directories, and what becomes of each; make test tries one in eleven.
damage:
	MINIDO_DAMAGE=1 $(GO) test -count=1 -timeout 30m -v -run 'TestDamage$$|TestFilesVanish' ./durableobject

# Changes the code of commits and of the alarm index one line at a time, and looks
# whether a test notices; goes on where it was stopped. MUTANTS='-for 30m -only txn.go',
# or '-budget 2s -longest 1s' for a first pass with the quick tests.
mutants: npm
	nice -n 19 $(GO) run ./e2e/mutants $(MUTANTS)

# Each point of each fixture: a simulated world that is dropped there against a
# process that gets SIGKILL there; and the labels and verdicts of real runs against
# simulated ones.
equivalence: build npm
	MINIDO_EQUIVALENCE=1 MINIDO_BIN='$(abspath $(BIN))' $(GO) test -count=1 -timeout 120m -v -run Equivalence ./e2e

# The workers of fixtures/pairs, each with a bug and without: what minido finds by itself.
pairs: build
	MINIDO_PAIRS=1 MINIDO_BIN='$(abspath $(BIN))' $(GO) test -count=1 -timeout 30m -v -run TestPairs ./e2e

# How long minido test takes: one test, a hundred, and a change with --watch.
test-times: npm build
	MINIDO_TIMES=1 MINIDO_BIN='$(abspath $(BIN))' $(GO) test -count=1 -timeout 10m -v -run TestTimes ./vitest/report

# minido test --chaos over the suites of the six systems: every fault at every point.
suites: npm $(BUNDLED)
	MINIDO_SUITE_POINTS=0 $(GO) test $(QUICK) -count=1 -timeout 60m -v -run TestChaosSystems ./vitest/report

# 10,000 seeds over the six systems, each run twice and compared. A violation
# (code 1) and a mark that no seed of a system met (5) do not stop the others.
SYSTEMS := fibers chat forever relay session steploop
SWARM ?= --runs 1667
swarm: build npm
	@worst=0; for system in $(SYSTEMS); do echo "== $$system"; \
		$(BIN) chaos random fixtures/$$system --mode sim --self-check $(SWARM); code=$$?; \
		case $$code in 0) ;; 1|5) [ $$worst = 1 ] || worst=$$code ;; *) exit $$code ;; esac; done; exit $$worst

# Violations (code 1) and missed marks (5) are for people to explain; nothing else may happen.
CAMPAIGN_RUNS ?= 170
CAMPAIGN_SEED ?= 1
campaign: build npm
	@for s in $(SYSTEMS); do echo "== $$s"; \
		$(BIN) chaos random fixtures/$$s --runs $(CAMPAIGN_RUNS) --seed $(CAMPAIGN_SEED) $(CAMPAIGN); code=$$?; \
		case $$code in 0|1|5) ;; *) exit $$code ;; esac; done

# Each cycle checks that a variable of the module has begun at 0: the process was another one.
cycles: build npm
	$(BIN) chaos enumerate fixtures/fibers/cycles
	$(BIN) chaos enumerate fixtures/fibers/cycles --no-standby

$(VITEST): fixtures/testing/node_modules/.package-lock.json internal/vitestbundle/main.go
	$(FRUGAL) $(GO) run ./internal/vitestbundle

$(CODECS): runtime/binding/images/picture/codecs/codecs.go
	$(FRUGAL) $(GO) run ./internal/codecs
	@touch $@

# minido's own JavaScript, compiled ahead. What depends on it is compiled again when it changes.
preludes:
	@$(FRUGAL) $(GO) run ./internal/preludes

build: $(BUNDLED) preludes
	$(FRUGAL) $(GO) build -trimpath -o $(BIN) ./cmd/minido

# RELEASE takes flags: make release RELEASE='-targets linux/amd64,darwin/arm64 -modified'.
release: $(BUNDLED) preludes
	$(GO) run ./internal/release $(RELEASE)

release-check: $(BUNDLED) preludes
	$(GO) run ./internal/release -check

docs:
	$(GO) run ./internal/site

# make test does this too.
docs-test: build
	$(GO) test -count=1 ./internal/site ./internal/recording
	$(GO) test -count=1 -run 'Reference|Documented' ./cmd/minido
	MINIDO_BIN='$(abspath $(BIN))' $(GO) test -count=1 -run 'TestDocumentedCommands|TestLinesOfCI' ./e2e

recording: build fixtures/fibers/node_modules/.package-lock.json
	$(GO) run ./internal/recording -out docs/demo.svg -title 'minido demo' $(BIN) demo

# QEMU runs a binary for another architecture (Debian: qemu-user-static).
QEMU ?= qemu-aarch64-static
release-start:
	$(QEMU) dist/bin/linux-arm64/minido version
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && binary='$(abspath dist/bin/linux-arm64/minido)' && cd "$$dir" && \
		$(QEMU) "$$binary" init first && cd first && $(QEMU) "$$binary" chaos enumerate . --mode sim --max 5

# Wine 10 or newer runs a binary for Windows, and the tests of a package:
# GOOS=windows go test -exec wine ./chaos/campaign
WINE ?= wine
release-start-windows:
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && binary='$(abspath dist/bin/windows-amd64/minido.exe)' && cd "$$dir" && \
		$(WINE) "$$binary" version && $(WINE) "$$binary" init first && cd first && $(WINE) "$$binary" test && \
		$(WINE) "$$binary" chaos enumerate . --mode sim --max 5 && $(WINE) "$$binary" chaos enumerate . --max 5

vet-systems:
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) vet ./...

# What breaks first is what looks into the two (internal/insides), and what runs on them.
NEWEST := github.com/dop251/goja github.com/tetratelabs/wazero
newest:
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && git archive HEAD | tar x -C "$$dir" && cd "$$dir" && \
		$(GO) get $(NEWEST:=@latest) && $(GO) list -m $(NEWEST) && $(GO) build ./... && \
		$(GO) test $(QUICK) -short ./internal/insides/... ./runtime/engine/... ./runtime/ecma/... ./runtime/wasm/... ./runtime/bundle/mend/...

npm-pack:
	node npm/pack.mjs dist

# make test does it with the Node that is installed. The package node of npm brings the others.
NODES ?= 20 22 24
npm-versions: build npm
	@for v in $(NODES); do dir=$(abspath bin)/node-$$v; \
		$(NPM) install --prefix $$dir --no-save --no-audit --no-fund --loglevel=error node@$$v && \
		PATH="$$dir/node_modules/node/bin:$$PATH" sh -c 'node --version && MINIDO_BIN="$(abspath $(BIN))" $(GO) test -count=1 -run TestNPMPackages ./e2e' || exit 1; done

npm: $(NPM_DONE)

%/node_modules/.package-lock.json: %/package-lock.json
	NPM='$(NPM)' node fixtures/install.mjs $*
	@touch $@

# Not npm ci: the executables are optional packages, one for each system, and the
# lockfile need not name those of all systems. The package "node" fetches this
# machine's in an install script.
$(REFERENCE)/.package-lock.json: e2e/reference/package-lock.json
	cd e2e/reference && $(NPM) install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

# BENCH takes flags: make bench BENCH='-only hello,workerd -seconds 1 -json'.
# With -docs the figures go into docs/benchmarks.json and what is made from it.
BENCH_NPM := e2e/bench/workers/agents/node_modules/.package-lock.json
bench: build npm $(BENCH_NPM)
	MINIDO_BIN='$(abspath $(BIN))' MINIDO_REFERENCE='$(abspath $(REFERENCE))' $(GO) run ./e2e/bench $(BENCH)

# CPU of the server for each request, with the dashboard closed and open, in alternating
# windows of COST_SECONDS in all for each row; fails where it is more than 5 %.
COST_SECONDS ?= 60
dashboard-cost: build
	MINIDO_COST_SECONDS=$(COST_SECONDS) MINIDO_BIN='$(abspath $(BIN))' $(GO) test -count=1 -timeout 60m -v -run TestDashboardCost ./e2e

# Profiles of minido in the agents' rows whose names have the word BENCH: go.pprof,
# js.pprof, heap.pprof, and the stacks of the first two folded, as flame graphs are drawn
# from; `go tool pprof -http` shows flame graphs too.
PROFILES := bin/profiles
profile: npm $(BENCH_NPM)
	$(GO) build -tags profile -o bin/minido-profile ./cmd/minido
	MINIDO_BIN='$(abspath bin/minido-profile)' $(GO) run ./e2e/bench -only '$(or $(BENCH),chat) ,minido' -seconds 1 -profile $(PROFILES)

# 64 clients on 1,000 objects that are evicted, reset and crashed; make test runs 4 s of it.
LOAD_SECONDS ?= 60
load:
	CGO_ENABLED=$(if $(RACE),1,0) MINIDO_LOAD_SECONDS=$(LOAD_SECONDS) $(GO) test $(RACE) -count=1 -v -timeout 30m -run TestLoad ./runtime/control

differential: build npm $(REFERENCE)/.package-lock.json
	MINIDO_BIN='$(abspath $(BIN))' MINIDO_REFERENCE='$(abspath $(REFERENCE))' \
		$(GO) test -count=1 -timeout 30m -run Differential ./...

# CALLS random calls of every function, method, getter and setter with odd arguments, which
# wrangler dev and minido answer; prints what differs, in groups. CALLS=4000@7 has the seed 7.
CALLS ?= 4000
differential-calls: build npm $(REFERENCE)/.package-lock.json
	MINIDO_CALLS='$(CALLS)' MINIDO_BIN='$(abspath $(BIN))' MINIDO_REFERENCE='$(abspath $(REFERENCE))' \
		$(GO) test -count=1 -timeout 30m -v -run 'TestDifferentialCalls$$' ./e2e

# The projects of fixtures/strangers, started as they are by both, and asked the same.
# STRANGERS picks those whose names contain it; UPDATE=-update writes their answers.txt.
STRANGERS ?=
strangers: build npm $(REFERENCE)/.package-lock.json
	STRANGERS='$(STRANGERS)' MINIDO_BIN='$(abspath $(BIN))' MINIDO_REFERENCE='$(abspath $(REFERENCE))' \
		$(GO) test -count=1 -timeout 30m -v -run 'TestDifferentialStrangers$$' ./e2e -args $(UPDATE) | grep -v -e '=== ' -e '^    --- PASS'

# SYNTAX random programs over the syntax around await and yield, run by workerd too.
# SYNTAX=20000@7 begins with the seed 7.
SYNTAX ?= 20000
fuzz-syntax: $(REFERENCE)/.package-lock.json
	MINIDO_SYNTAX='$(SYNTAX)' MINIDO_REFERENCE='$(abspath $(REFERENCE))' \
		$(GO) test -count=1 -timeout 60m -run 'TestDifferentialSyntax$$' ./runtime/minidotest

# Every fuzz test in turn, FUZZ_SECONDS in all. What one finds it writes below its
# package's testdata/fuzz, which go test runs from then on. Before Go 1.27 a fuzz test
# may fail with "context deadline exceeded" when its time is over (golang/go#75804):
# that, without an input, is no finding. An input that reaches new code is made smaller for
# 3 s at the most, and not for the minute of Go's default, which most of the time went to.
FUZZ_SECONDS ?= 3600
fuzz:
	@tests=$$(git grep -oE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | sed -E 's,^(.*)/[^/]*:func ,\1 ,'); \
	each=$$(( $(FUZZ_SECONDS) / $$(echo "$$tests" | wc -l) )); log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	echo "$$tests" | { failed=; while read -r dir name; do echo "== $$name ($$dir), $$each s"; \
		{ $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime "$${each}s" -fuzzminimizetime 3s "./$$dir" </dev/null || echo "exit $$?"; } 2>&1 | tee "$$log"; \
		grep -q '^exit ' "$$log" || continue; \
		if grep -qx ' *context deadline exceeded' "$$log" && ! grep -qE 'Failing input|panic|fuzzing process' "$$log"; \
		then echo "$$name: its time was over (golang/go#75804)"; else failed="$$failed $$name"; fi; \
	done; test -z "$$failed" || { echo "failed:$$failed"; exit 1; }; }

formatted:
	@unformatted=$$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l); \
		test -z "$$unformatted" || { echo "not gofmt'ed:"; echo "$$unformatted"; exit 1; }

lint: analyzed
	$(GO) test ./internal/house

analyzed: formatted
	$(FRUGAL) $(GO) run ./internal/lint ./...

# Functions that no program and no test reaches.
dead:
	$(FRUGAL) $(GO) run ./internal/dead ./...

clean:
	rm -rf bin dist minido-out $(dir $(NPM_DONE) $(BENCH_NPM)) $(REFERENCE)
	find fixtures -name .wrangler -type d -prune -exec rm -rf {} +
