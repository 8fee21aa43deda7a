#!/bin/sh
# web.sh check: the page is what its sources say. web.sh test: it is looked at in
# a real Chromium. web.sh firefox: a real Firefox. web.sh pictures: the pictures in docs. All install what package-lock.json names, and nothing else.
set -eu
cd "$(dirname "$0")/../web"
if [ "$1" = check ] || [ ! -d node_modules/playwright-core ]; then
	# Not npm ci: it refuses a lock file without the binaries of every other system,
	# and not all of them are published for every version. What is locked stays so.
	if ! npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error; then
		npm view svelte@5.57.3 version >/dev/null 2>&1 && exit 1
		echo "web.sh: npm reaches no registry; the page is not looked at" >&2
		exit 0
	fi
fi
case $1 in
check)
	npm run -s check
	npm run -s unit
	npm run -s build
	git diff --exit-code --stat -- dist
	test -z "$(git status --porcelain -- dist)" || { git status --short -- dist; echo "web/dist is not what the sources give: make web"; exit 1; }
	;;
test)
	# What the pages of failed tests showed is told last, where it is found.
	CONFESSED=$(mktemp)
	export CONFESSED
	npm run -s e2e || { cat "$CONFESSED"; rm "$CONFESSED"; exit 1; }
	rm "$CONFESSED"
	;;
firefox) node --test --test-reporter=spec e2e/firefox.mjs ;;
pictures) node e2e/pictures.mjs ;;
esac
