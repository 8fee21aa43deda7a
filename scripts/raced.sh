#!/bin/sh
# raced.sh: prints the packages that have goroutines, locks or atomics of their own;
# in the others nothing can race. Left out is what computes for long, or starts
# processes and kills them. "raced.sh core" prints those on which all others stand.
set -eu
cd "$(dirname "$0")/.."
if [ "${1:-}" = core ]; then
	for p in event tool/fresh workspace workspace/peer tool agent/runner vault/watch; do
		echo "./internal/$p"
	done
	exit
fi
grep -rlE --include='*.go' --exclude='*_test.go' '^[[:space:]]*go (func|[a-zA-Z.]+\()|\.Go\(|sync\.(RW)?Mutex|sync\.(WaitGroup|Cond|Map)|atomic\.' internal |
	xargs -n1 dirname | sort -u | grep -vE '/(testdata|vector|bert|history|conformance|writer|disk|[a-z]*test)(/|$)' | sed 's,^,./,'
