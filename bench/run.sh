#!/bin/sh
# Prints the tables of bench/README.md. It fails nothing: numbers are for people.
#
# BENCH_DATA   a folder with vaults/ (folders of Markdown) and ir/ (retrieval sets:
#              notes/*.md, queries.tsv, qrels.tsv); default bench/data
# BENCH_VAULTS vaults to index and search, separated by spaces; default: all in
#              $BENCH_DATA/vaults
# BENCH_LARGE  the vault for the search and start tables; default: the last one
set -u
data=${BENCH_DATA:-bench/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
if [ ! -d "$data" ]; then
	echo "bench: no data in $data; set BENCH_DATA (see bench/README.md)"
	exit 0
fi
vaults=${BENCH_VAULTS:-$(ls -d "$data"/vaults/*/)}
make -s build
${GO:-go} build -o "$work/speed" ./bench/speed
${GO:-go} build -o "$work/quality" ./bench/quality
echo "commit $(git rev-parse --short HEAD 2>/dev/null), $(${GO:-go} version), $(nproc 2>/dev/null || echo ?) cores"
for v in $vaults; do
	printf '\n## index: %s\n\n' "$(basename "$v")"
	"$work/speed" index "$v" "$work/$(basename "$v")"
	large=$v
done
large=${BENCH_LARGE:-$large}
printf '\n## search: %s\n\n' "$(basename "$large")"
"$work/speed" search "$large" "$work/$(basename "$large")"
printf '\n## start: %s\n\n' "$(basename "${BENCH_START:-$large}")"
"$work/speed" start "${BENCH_START:-$large}" "$work/start"
printf '\n## change\n\n'
"$work/speed" change "$work/change"
if [ -d e2e/clients/node_modules/@modelcontextprotocol/server-memory ]; then # sh scripts/node.sh
	printf '\n## calls over MCP\n\n'
	"$work/speed" clients bin/lore e2e/clients/node_modules "$work/clients"
fi
printf '\n## calls\n\n'
${GO:-go} test ./internal/tool -run '^$' -bench 'EmptyRead|Start' -benchtime 20000x | grep -E '^Benchmark|cpu'
printf '\n## knowledge\n\n'
${GO:-go} run ./bench/graph
printf '\n## vectors\n\n'
"$work/speed" vectors
printf '\n## embedding\n\n'
${GO:-go} test ./internal/embed/bert -run '^$' -bench . -benchtime 5x | grep -E '^Benchmark|cpu'
if [ -f "$data/graph/ibm_claim_stance.json" ]; then
	printf '\n## confidence\n\n'
	${GO:-go} run ./bench/stance -graph "$data/graph/ibm_claim_stance.json"
fi
if [ -f "$data/graph/pairs_stackexchange.json" ]; then
	printf '\n## knowledge\n\n'
	${GO:-go} run ./bench/knowledge -graph "$data/graph/ibm_claim_stance.json" -pairs "$data/graph/pairs_stackexchange.json"
fi
if [ -d "$data/ir" ]; then
	printf '\n## quality\n\n'
	"$work/quality" -data "$data/ir" -cache "$work/quality-index"
fi
