#!/bin/sh
# conformance.sh: lets the programs of e2e/clients judge bin/lore, which make
# builds before. Prints one line for each test, and everything when one fails.
set -eu
cd "$(dirname "$0")/.."

code=0
sh scripts/node.sh || code=$?
if [ "$code" = 2 ]; then
	echo "conformance: skipped, its programs cannot be installed here"
	exit 0
elif [ "$code" != 0 ]; then
	exit "$code"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ${GO:-go} test -tags clients -count=1 -v -timeout 10m ./e2e/clients >"$log" 2>&1; then
	grep -E '^ *--- |passed, |^ok' "$log"
else
	grep -v '^=== ' "$log"
	exit 1
fi
