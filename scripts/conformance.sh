#!/bin/sh
# conformance.sh: lets programs that are not ours judge Lore. First those of
# e2e/clients judge bin/lore, which make builds before, and bin/lore-judged, which
# also has what conformance suites ask for; Lore uses the servers among them; aimock plays the providers of models (e2e/minds); then the SDKs of
# the providers judge the adapters (the module conformance). Prints one line for each
# test, and everything when one fails.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
TRIM=${TRIM:-}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# report WHAT COMMAND…: runs it, and tells what became of it and how long it took.
report() {
	what=$1
	shift
	began=$(date +%s)
	if ! "$@" >"$log" 2>&1; then
		grep -v '^=== ' "$log"
		exit 1
	fi
	grep -E '^ *--- (FAIL|SKIP)|^--- |^    --- |passed, |^ok' "$log"
	echo "$what: $(($(date +%s) - began)) s"
}

# aimock installs the program that plays the providers, by its lockfile.
aimock() (
	cd e2e/minds
	cmp -s package-lock.json node_modules/.installed-by-lore.json && exit
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2 && cp package-lock.json node_modules/.installed-by-lore.json
)

# programs installs and builds what the tests use; it fails where there is no registry, and then they are skipped.
programs() {
	code=0
	sh scripts/node.sh || code=$?
	if [ "$code" = 2 ]; then
		echo "conformance: skipped, its programs cannot be installed here"
		return 1
	elif [ "$code" != 0 ]; then
		exit "$code"
	fi
	$GO build $TRIM -tags conformance -o bin/lore-judged ./cmd/lore || exit
}

# One suite measures when a client comes back, and that is no test of how busy a machine is.
timed() {
	programs || return 0
	report timed $GO test -tags clients -count=1 -v -timeout 10m -run TestClientSuites ./e2e/clients
}

clients() {
	programs || return 0
	report clients $GO test -tags clients -count=1 -v -timeout 10m -skip TestClientSuites ./e2e/clients ./e2e/servers
	if ! aimock; then
		echo "conformance: aimock is skipped, it cannot be installed here"
		return
	fi
	# They wait more than they work.
	report aimock $GO test -tags clients -count=1 -v -timeout 5m -parallel 16 ./e2e/minds
}

# The SDKs are large, and compiled for these tests alone: without optimising them or
# making them ready for a debugger, which takes longer than all the rest.
oracles() {
	cd conformance
	if ! $GO mod download github.com/openai/openai-go/v3 github.com/anthropics/anthropic-sdk-go google.golang.org/genai github.com/ollama/ollama >"$log" 2>&1; then
		cat "$log"
		echo "conformance: skipped, the SDKs of the providers cannot be had here"
		return
	fi
	fast='-N -l -dwarf=false'
	report oracles $GO test -count=1 -v -timeout 10m -ldflags='-s -w' "-gcflags=github.com/...=$fast" "-gcflags=google.golang.org/...=$fast" .
}

# Without a word all; else the one that is named.
case ${1:-all} in
all) timed; clients; oracles ;;
timed) timed ;;
clients) clients ;;
oracles) oracles ;;
esac
