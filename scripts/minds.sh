#!/bin/sh
# minds.sh: runs the program with a real llama-server, which serves a model that
# follows a script (e2e/minds). With --ollama also with a real Ollama, which is
# built first; that takes minutes, once. Both are kept in a folder outside the clone.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
dir=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/lore-servers

code=0
sh scripts/llama.sh "$dir" || code=$?
if [ "$code" = 2 ]; then
	echo "minds: skipped, a llama-server cannot be had here"
	exit 0
elif [ "$code" != 0 ]; then
	exit "$code"
fi

if [ "${1:-}" = --ollama ]; then
	version=v0.34.0
	ollama=$dir/ollama-$version
	if [ ! -x "$ollama/bin/ollama" ]; then
		if ! sh scripts/need.sh gcc gcc; then
			echo "test-servers: skipped, Ollama needs a C compiler"
			exit 0
		fi
		echo "building Ollama $version" >&2
		mkdir -p "$ollama/bin"
		GOBIN=$ollama/bin CGO_ENABLED=1 $GO install -ldflags='-s -w' "github.com/ollama/ollama@$version"
	fi
	# It starts a llama-server, and looks for it beside itself.
	mkdir -p "$ollama/lib/ollama"
	for program in llama-server llama-quantize; do
		ln -sf "$dir/$program" "$ollama/lib/ollama/$program"
	done
	export LORE_OLLAMA_PROGRAM="$ollama/bin/ollama"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if LORE_SERVERS=$dir $GO test -tags servers -count=1 -v -timeout 8m ./e2e/minds >"$log" 2>&1; then
	grep -E '^(    )?--- |^ok' "$log"
else
	grep -v '^=== ' "$log"
	exit 1
fi
