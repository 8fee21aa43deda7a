#!/bin/sh
# install.sh FOLDER: puts Node and the MCP servers that the tests use into
# FOLDER, at exact versions, without running any script of theirs. One of them is
# there twice: an update is what a server's tools change by.
set -eu
dir=$1
mkdir -p "$dir"
cd "$dir"
[ -f package.json ] || echo '{"private": true}' >package.json
arch=x64
[ "$(uname -m)" = aarch64 ] && arch=arm64
npm install --ignore-scripts --no-audit --no-fund --save-exact --loglevel=error \
	"node-linux-$arch@22.23.3" \
	"@modelcontextprotocol/server-everything@2026.8.31" \
	"@modelcontextprotocol/server-filesystem@2026.8.31" \
	"filesystem-before@npm:@modelcontextprotocol/server-filesystem@2025.12.18" \
	"@modelcontextprotocol/server-memory@2026.8.31" >/dev/null
ln -sfn "node-linux-$arch" node_modules/node-linux
test -x node_modules/node-linux/bin/node
