#!/bin/sh
# llama.sh FOLDER: puts a real llama-server into FOLDER: llama.cpp out of the
# packages of Debian sid, unpacked there and not installed, with the libraries
# that it needs beside it. FOLDER/llama-server starts it. Does nothing when it is
# there already.
# Exit code 2: it cannot be had here (another system, or no mirror answers).
set -eu
dir=$(mkdir -p "$1" && cd "$1" && pwd)
cant() {
	echo "llama.sh: $1" >&2
	exit 2
}
[ -x "$dir/llama-server" ] && exit 0
command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || cant "this is no Debian"
[ "$(dpkg --print-architecture)" = amd64 ] || cant "these packages are for amd64"

# The mirror is the one that this machine is set up for, in either form of the file.
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
	sed -nE 's/^(deb|URIs:)[[:space:]]+(\[[^]]*\][[:space:]]+)?(https?:\/\/[^[:space:]]+).*/\3/p' | grep -E '/debian/?$' | head -n 1)
[ -n "$mirror" ] || cant "no mirror of Debian is configured"
key=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$key" ] || cant "the keys of Debian are not here"

work=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/parts" "$work/root"
echo "deb [signed-by=$key] $mirror sid main" >"$work/sources.list"
: >"$work/status" # as if nothing were installed, so that all it needs comes along
cat >"$work/apt.conf" <<C
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "$work/parts";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
APT::Sandbox::User "";
APT::Architectures { "amd64"; };
Acquire::Languages "none";
Debug::NoLocking "true";
C
echo "fetching llama-server from Debian sid" >&2
APT_CONFIG="$work/apt.conf" apt-get -qq update >/dev/null 2>&1 || cant "the mirror has no sid"
APT_CONFIG="$work/apt.conf" apt-get -qq -y --no-install-recommends --download-only install llama.cpp-tools >/dev/null 2>&1 || cant "the packages are not there"
for deb in "$work"/cache/archives/*.deb; do
	dpkg-deb -x "$deb" "$work/root"
done
rm -rf "$dir/root"
mv "$work/root" "$dir/root"

# Through its own loader: its libraries are newer than those of this system.
# Ollama looks for both programs beside each other.
for program in llama-server llama-quantize; do
	[ -x "$dir/root/usr/bin/$program" ] || continue
	cat >"$work/$program" <<C
#!/bin/sh
unset LD_LIBRARY_PATH
lib="$dir/root/usr/lib/x86_64-linux-gnu"
cpu=x64
grep -q avx2 /proc/cpuinfo && cpu=haswell
for GGML_BACKEND_PATH in "\$lib"/ggml/backends*/libggml-cpu-\$cpu.so; do
	export GGML_BACKEND_PATH
done
exec "$dir/root/usr/lib64/ld-linux-x86-64.so.2" --library-path "\$lib:\$lib/llama:\$lib/ggml" "$dir/root/usr/bin/$program" "\$@"
C
	chmod +x "$work/$program"
done
if ! sh "$work/llama-server" --version >"$work/log" 2>&1; then
	cat "$work/log" >&2
	exit 1
fi
[ -f "$work/llama-quantize" ] && mv "$work/llama-quantize" "$dir/llama-quantize"
mv "$work/llama-server" "$dir/llama-server" # the last thing: now it is whole
