# The same commands for a person and for CI. `make` alone builds the program.

GO ?= go
BIN := bin/lore
# In test it is left out: everything is compiled without it already.
TRIM ?= -trimpath
FUZZTIME ?= 30s
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0
ERRCHECK := github.com/kisielk/errcheck@v1.9.0
export CGO_ENABLED ?= 0

.PHONY: build web web-check web-test run test check unit race race-core crash browser torture torture-quick arm64 conformance minds test-servers bench fuzz demo model generate clean clients oracles

build: ## build bin/lore
	$(GO) build $(TRIM) -o $(BIN) ./cmd/lore

web: ## build the page into web/dist, which is committed
	@sh scripts/need.sh npm npm
	cd web && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error && npm run -s build

web-check: ## the page is what its sources say: types, tests, a build that gives web/dist again, budgets
	@sh scripts/need.sh npm npm && sh scripts/web.sh check || { sh scripts/need.sh --have npm && exit 1 || echo "web-check: skipped, no npm can be installed here"; }

web-test: build ## the page in a real Chromium, before a real lore serve
	@sh scripts/need.sh npm npm && sh scripts/need.sh chromium chromium && sh scripts/web.sh test || { sh scripts/need.sh --have chromium && sh scripts/need.sh --have npm && exit 1 || echo "web-test: skipped, no npm or Chromium can be installed here"; }

demo: build ## copy the sample vault to ./lore-demo and look around in it
	./$(BIN) demo

# Tests make and sync files by the ten thousand: in memory, where there is room. Real disks are what torture is for.
MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 { print "/dev/shm" }')
IN_MEMORY = $(if $(MEMORY),TMPDIR=$(MEMORY))

# Without what check has done already; the compiler may use memory instead of time.
FAST = -vet=off -ldflags=-w -toolexec='env GOGC=400'

# After check has compiled everything and web-check has built the page again, four at a time: some of them wait for
# disks and processes longer than they work. What others judge, some of it by the clock, comes last and alone.
test: ## everything that must hold; installs what it needs
	@$(MAKE) --no-print-directory --output-sync=line -j2 check web-check
	@$(MAKE) TRIM= CRASHED=./internal/vault/writer --no-print-directory --output-sync=line -j4 torture-quick web-test unit race-core crash browser minds
	@$(MAKE) TRIM= --no-print-directory clients

check: ## formatting, vet, staticcheck, unchecked errors, generated files
	@out=$$(gofmt -l cmd internal bench e2e conformance scripts web/*.go web/gen); if [ -n "$$out" ]; then echo "gofmt: $$out"; exit 1; fi
	GOGC=400 $(GO) vet ./...
	$(GO) mod verify
	GOGC=400 $(GO) run $(STATICCHECK) -tags browser,clients,servers,torture ./...
	$(GO) run $(ERRCHECK) -ignoretests -exclude .errcheck ./cmd/... ./internal/...
	$(GO) build -C scripts/vet -o $(CURDIR)/bin/vet .
	GOFLAGS='-tags=crash,browser,clients,servers,torture' ./bin/vet ./cmd/... ./internal/... ./e2e/...
	GOFLAGS=-tags=no_ui GOOS=darwin GOARCH=arm64 ./bin/vet ./cmd/... ./internal/... ./web
	GOOS=windows GOARCH=amd64 ./bin/vet ./cmd/... ./internal/...

# The time after which a package counts as hung leaves room for a machine that does twenty other things.
unit: ## the tests, as on a plain clone
	$(IN_MEMORY) $(GO) test $(FAST) -timeout 60m ./...

# The engine of SQLite is one package of translated C, which is watched no more than the C would be: that takes a third of the time.
UNWATCHED = -gcflags='modernc.org/...=-d=checkptr=0' -gcflags='modernc.org/sqlite/lib=-race=false'

race: ## the tests again with the race detector (needs a C compiler); all packages that can race: after a change of them
	@sh scripts/need.sh gcc gcc && $(IN_MEMORY) CGO_ENABLED=1 $(GO) test -race $(FAST) -timeout 60m $(UNWATCHED) -short $$(sh scripts/raced.sh $(RACED)) || { sh scripts/need.sh --have gcc && exit 1 || echo "race: skipped, no C compiler can be installed here"; }

race-core: ## the same for the packages on which all others stand
	@$(MAKE) --no-print-directory race RACED=core

# In test the writer alone: for the whole program, everything would be compiled once more. It is killed by unit and by torture.
CRASHED ?= ./internal/vault/writer ./internal/app

crash: ## the writer and the whole program killed at every point, and while they recover
	$(IN_MEMORY) $(GO) test $(FAST) -timeout 60m -tags crash -count=1 -run 'Killed' -skip 'Seam|Closed|Random' $(CRASHED)

browser: ## attacks from a real page in a real Chromium
	@sh scripts/need.sh chromium chromium && sh scripts/need.sh chromedriver chromium-driver && $(GO) test -tags browser -count=1 -run 'Rebinding|CrossSite|Browser' ./e2e/attacks || { sh scripts/need.sh --have chromedriver && exit 1 || echo "browser: skipped, no Chromium can be installed here"; }

# What the program is tortured with. Where one cannot be installed, the tests that need it say so and are skipped.
TORTURERS = strace:strace bindfs:bindfs ntfs-3g:ntfs-3g mount.exfat-fuse:exfat-fuse mkfs.exfat:exfatprogs mkfs.ext4:e2fsprogs fusermount3:fuse3 git:git

torture-quick: build ## the finished program on real disks, killed, damaged and changed behind its back: once
	@for t in $(TORTURERS); do sh scripts/need.sh $${t%%:*} $${t##*:} || echo "torture: $${t##*:} cannot be installed here"; done
	LORE_BIN=$(CURDIR)/$(BIN) $(GO) test -tags torture -count=1 -timeout 30m ./e2e/torture

torture: build ## the same and every kill of crash, TORTURE times as often (default 20); hours
	@for t in $(TORTURERS); do sh scripts/need.sh $${t%%:*} $${t##*:} || echo "torture: $${t##*:} cannot be installed here"; done
	LORE_BIN=$(CURDIR)/$(BIN) TORTURE=$${TORTURE:-20} $(GO) test -tags torture -count=1 -timeout 0 -v ./e2e/torture
	TORTURE=$${TORTURE:-20} $(GO) test -tags crash -count=1 -timeout 0 -v -run 'Killed' ./internal/vault/writer ./internal/app
	TORTURE=$${TORTURE:-20} $(GO) test -count=1 -timeout 0 -run 'NotesOfManyParts|EveryArgument' ./e2e/attacks

arm64: ## the assembly for arm64, under emulation: after a change of it; without what is the same on every system and slow there
	@sh scripts/need.sh qemu-aarch64 qemu-user && GOARCH=arm64 $(GO) test -exec qemu-aarch64 -skip 'TestConcurrentUse|TestBatchingDoesNotShow|TestCancel|TestLongTextIsCut' ./internal/vector ./internal/embed/bert || { sh scripts/need.sh --have qemu-aarch64 && exit 1 || echo "arm64: skipped, no emulator can be installed here"; }

conformance: build ## programs that are not ours: conformance suites, the MCP inspector, SDKs, an OpenAPI validator judge Lore, Lore uses their servers, the providers' SDKs judge the adapters to models
	@GO=$(GO) sh scripts/conformance.sh

clients: build ## the first half of it: all but the SDKs of the providers
	@GO=$(GO) sh scripts/conformance.sh clients

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
