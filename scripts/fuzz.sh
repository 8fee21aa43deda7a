#!/bin/sh
# fuzz.sh TIME: runs every fuzz target of the module for TIME.
set -eu
time=${1:-30s}
grep -rl --include='*_test.go' '^func Fuzz' internal | while read -r file; do
	dir=$(dirname "$file")
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file" | while read -r target; do
		echo "== $dir $target"
		${GO:-go} test "./$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$time"
	done
done
