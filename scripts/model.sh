#!/bin/sh
# Makes internal/embed/builtin/model.lore, the model that is built in, from the
# files of its training: model.sh MODEL.ebm VOCABULARY.txt. Needs openssl and go;
# the result is the same to the byte wherever it runs. Run it from anywhere in
# the repository.
set -eu
cd "$(dirname "$0")/.."

want="24af6737c46cbf53afc498d190e17fb6fbaeae1915c9dec4c07d572d30b8ba4c"
got=$(openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1)
if [ "$got" != "$want" ]; then
	echo "model.sh: $1 has sha256 $got, not $want" >&2
	exit 1
fi
CGO_ENABLED=0 go run ./internal/embed/bert/convert \
	-ebm "$1" -vocabulary "$2" -heads 12 -tokenizer multilingual -four \
	-out "${3:-internal/embed/builtin/model.lore}" \
	-id lore-embed-22 \
	-source "lore-embed-22, distilled from thenlper/gte-small" \
	-license "see NOTICE"
openssl dgst -sha256 "${3:-internal/embed/builtin/model.lore}"
