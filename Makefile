# The same commands for a person and for CI. `make` alone builds the program.

GO ?= go
BIN := bin/lore
# In test it is left out: everything is compiled without it already.
TRIM ?= -trimpath
# In test the program is there already: the longest tests begin at once.
BUILT ?= build
FUZZTIME ?= 30s
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0
ERRCHECK := github.com/kisielk/errcheck@v1.9.0
export CGO_ENABLED ?= 0

.PHONY: build clients-timed install pictures web web-check web-test firefox run test check vet lint unit race race-core crash browser torture torture-quick arm64 conformance minds test-servers bench fuzz demo model generate clean clients oracles

build: ## build bin/lore
	$(GO) build $(TRIM) -o $(BIN) ./cmd/lore

web: ## build the page into web/dist, which is committed
	@sh scripts/need.sh npm npm
	cd web && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error && npm run -s build

web-check: ## the page is what its sources say: types, tests, a build that gives web/dist again, budgets
	@sh scripts/need.sh npm npm && sh scripts/web.sh check || { sh scripts/need.sh --have npm && exit 1 || echo "web-check: skipped, no npm can be installed here"; }

# Without a window of its own Chromium does the same with a third less work.
web-test: $(BUILT) ## the page in a real Chromium, before a real lore serve
	@sh scripts/need.sh chromium-headless-shell chromium-headless-shell || sh scripts/need.sh chromium chromium || true
	@sh scripts/need.sh npm npm && { sh scripts/need.sh --have chromium-headless-shell || sh scripts/need.sh --have chromium; } || { echo "web-test: skipped, no npm or Chromium can be installed here"; exit 0; }; \
	sh scripts/web.sh test

firefox: build ## the page in a real Firefox ESR: sign in, read, edit, save, search, approve; 15 CPU seconds and a second browser, so not a part of test
	@sh scripts/need.sh npm npm && sh scripts/need.sh firefox-esr firefox-esr && sh scripts/web.sh firefox || { sh scripts/need.sh --have firefox-esr && exit 1 || echo "firefox: skipped, no Firefox can be installed here"; }

pictures: build ## take the pictures of the page in docs again
	@sh scripts/need.sh npm npm && sh scripts/need.sh chromium-headless-shell chromium-headless-shell && sh scripts/web.sh pictures

install: ## install lore where Go installs programs
	$(GO) install $(TRIM) ./cmd/lore
	@dir=$$($(GO) env GOBIN); dir=$${dir:-$$($(GO) env GOPATH)/bin}; echo "installed $$dir/lore"; \
	case ":$$PATH:" in *":$$dir:"*) ;; *) echo "add it to your PATH: export PATH=\"\$$PATH:$$dir\"";; esac

demo: build ## copy the sample vault to ./lore-demo and look around in it
	./$(BIN) demo

# Tests make and sync files by the ten thousand: in memory, where there is room. Real disks are what torture is for.
MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 { print "/dev/shm" }')
IN_MEMORY = $(if $(MEMORY),TMPDIR=$(MEMORY))

# Without what check has done already; the compiler may use memory instead of time.
FAST = -vet=off -ldflags=-w -toolexec='env GOGC=400'

# First everything is compiled and the page is built again; what measures time has the machine for itself. Then several
# at a time: some of them wait for disks and processes longer than they work; the longest begin first, and what drives
# a browser or foreign programs, which lose patience, goes before what only computes.
test: ## everything that must hold; installs what it needs
	@$(MAKE) --no-print-directory --output-sync=line -j2 vet web-check
	@$(MAKE) TRIM= --no-print-directory clients-timed
	@$(MAKE) TRIM= BUILT= LAST='nice -n 10' SIDE_BY_SIDE='-p 3' CRASHED=./internal/vault/writer --no-print-directory --output-sync=line -j5 torture-quick web-test unit lint race-core clients crash browser minds

check: vet lint ## formatting, vet, staticcheck, unchecked errors, generated files

vet: ## the quick half of check
	@out=$$(gofmt -l cmd internal bench e2e conformance scripts web/*.go web/gen); if [ -n "$$out" ]; then echo "gofmt: $$out"; exit 1; fi
	GOGC=400 $(GO) vet ./...
	$(GO) mod verify

lint: ## the slow half
	GOGC=400 $(LAST) $(GO) run $(STATICCHECK) -tags browser,clients,conformance,servers,torture ./...
	$(LAST) $(GO) run $(ERRCHECK) -ignoretests -exclude .errcheck ./cmd/... ./internal/...
	$(GO) build -C scripts/vet -o $(CURDIR)/bin/vet .
	GOFLAGS='-tags=crash,browser,clients,conformance,servers,torture' $(LAST) ./bin/vet ./cmd/... ./internal/... ./e2e/...
	GOFLAGS=-tags=no_ui GOOS=darwin GOARCH=arm64 $(LAST) ./bin/vet ./cmd/... ./internal/... ./web
	GOOS=windows GOARCH=amd64 $(LAST) ./bin/vet ./cmd/... ./internal/...

# In test more packages at a time than there are cores: many of them wait longer than they work.
# The time after which a package counts as hung leaves room for a machine that does twenty other things.
unit: ## the tests, as on a plain clone
	$(IN_MEMORY) $(LAST) $(GO) test $(FAST) $(SIDE_BY_SIDE) -timeout 60m ./...

# The engine of SQLite is one package of translated C, which is watched no more than the C would be: that takes a third of the time.
UNWATCHED = -gcflags='modernc.org/...=-d=checkptr=0' -gcflags='modernc.org/sqlite/lib=-race=false'

race: ## the tests again with the race detector (needs a C compiler); all packages that can race: after a change of them
	@sh scripts/need.sh gcc gcc && $(IN_MEMORY) CGO_ENABLED=1 $(LAST) $(GO) test -race $(FAST) -timeout 60m $(UNWATCHED) -short $$(sh scripts/raced.sh $(RACED)) || { sh scripts/need.sh --have gcc && exit 1 || echo "race: skipped, no C compiler can be installed here"; }

race-core: ## the same for the packages on which all others stand
	@$(MAKE) --no-print-directory race RACED=core

# In test the writer alone: for the whole program, everything would be compiled once more. It is killed by unit and by torture.
CRASHED ?= ./internal/vault/writer ./internal/app

crash: ## the writer and the whole program killed at every point, and while they recover
	$(IN_MEMORY) $(LAST) $(GO) test $(FAST) -timeout 60m -tags crash -count=1 -run 'Killed' -skip 'Seam|Closed|Random' $(CRASHED)

browser: ## attacks from a real page in a real Chromium
	@sh scripts/need.sh chromium chromium && sh scripts/need.sh chromedriver chromium-driver && $(GO) test -tags browser -count=1 -run 'Rebinding|CrossSite|Browser' ./e2e/attacks || { sh scripts/need.sh --have chromedriver && exit 1 || echo "browser: skipped, no Chromium can be installed here"; }

# What the program is tortured with. Where one cannot be installed, the tests that need it say so and are skipped.
TORTURERS = strace:strace bindfs:bindfs ntfs-3g:ntfs-3g mount.exfat-fuse:exfat-fuse mkfs.exfat:exfatprogs mkfs.ext4:e2fsprogs fusermount3:fuse3 git:git

torture-quick: $(BUILT) ## the finished program on real disks, killed, damaged and changed behind its back: once
	@for t in $(TORTURERS); do sh scripts/need.sh $${t%%:*} $${t##*:} || echo "torture: $${t##*:} cannot be installed here"; done
	LORE_BIN=$(CURDIR)/$(BIN) $(LAST) $(GO) test -tags torture -count=1 -timeout 30m ./e2e/torture

torture: build ## the same and every kill of crash, TORTURE times as often (default 20); hours
	@for t in $(TORTURERS); do sh scripts/need.sh $${t%%:*} $${t##*:} || echo "torture: $${t##*:} cannot be installed here"; done
	LORE_BIN=$(CURDIR)/$(BIN) TORTURE=$${TORTURE:-20} $(GO) test -tags torture -count=1 -timeout 0 -v ./e2e/torture
	TORTURE=$${TORTURE:-20} $(GO) test -tags crash -count=1 -timeout 0 -v -run 'Killed' ./internal/vault/writer ./internal/app
	TORTURE=$${TORTURE:-20} $(GO) test -count=1 -timeout 0 -run 'NotesOfManyParts|EveryArgument' ./e2e/attacks

arm64: ## the assembly for arm64, under emulation: after a change of it; without what is the same on every system and slow there
	@sh scripts/need.sh qemu-aarch64 qemu-user && GOARCH=arm64 $(GO) test -exec qemu-aarch64 -skip 'TestConcurrentUse|TestBatchingDoesNotShow|TestCancel|TestLongTextIsCut' ./internal/embed/vector ./internal/embed/bert || { sh scripts/need.sh --have qemu-aarch64 && exit 1 || echo "arm64: skipped, no emulator can be installed here"; }

conformance: build ## programs that are not ours: conformance suites, the MCP inspector, SDKs, an OpenAPI validator judge Lore, Lore uses their servers, the providers' SDKs judge the adapters to models
	@GO=$(GO) sh scripts/conformance.sh

clients-timed: build ## the suites that measure how fast a client comes back
	@GO=$(GO) TRIM=$(TRIM) sh scripts/conformance.sh timed

clients: $(BUILT) ## all of it but that and the SDKs of the providers
	@GO=$(GO) TRIM=$(TRIM) sh scripts/conformance.sh clients

oracles: ## the second half, which compiles large SDKs: after a change of an adapter, not a part of test
	@GO=$(GO) sh scripts/conformance.sh oracles

minds: ## the program with a real llama-server, which is fetched once
	@GO=$(GO) sh scripts/minds.sh

test-servers: ## the same, and with a real Ollama, which is built once (minutes); not a part of test
	@GO=$(GO) sh scripts/minds.sh --ollama

bench: ## the tables of bench/README.md; needs the data (see there)
	sh bench/run.sh

fuzz: ## each fuzz target for FUZZTIME
	sh scripts/fuzz.sh $(FUZZTIME)

generate: ## rewrite generated files
	$(GO) generate ./...

model: ## make the built-in embedding model again from its published weights
	sh scripts/model.sh

clean:
	rm -rf bin lore-demo
