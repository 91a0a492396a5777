#!/usr/bin/env bash
# Unpacks from Debian 14 (forky) into a folder what Debian 12 has too old or not at all: a Verilator that compiles UVM; UVM, which is in the sources of that Verilator; cocotb,
# with the Python and the Icarus Verilog that it is built for. Nothing is installed, and no root is needed.
set -euo pipefail
to=$(realpath -m "$1")
[ ! -e "$to/complete" ] || exit 0
rm -rf "$to"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Release: bookworm' | head -n 1)
mkdir -p "$dir"/{lists,archives}/partial "$to"/uvm
for kind in deb deb-src; do
	echo "$kind [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:?apt has no mirror of Debian 12} forky main"
done > "$dir/list"
apt() {
	apt-get -qq -o Dir::Etc::SourceList="$dir/list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$dir/lists" -o Dir::State::status=/dev/null \
		-o Dir::Cache="$dir" -o Dir::Cache::archives="$dir/archives" -o APT::Sandbox::User= -o Acquire::Languages=none -o Debug::NoLocking=1 "$@"
}
apt update
apt install -y --download-only --no-install-recommends python3-cocotb iverilog dash > "$dir/log"
(cd "$dir/archives" && apt download verilator && apt source --download-only verilator)
for package in "$dir"/archives/*.deb; do dpkg-deb -x "$package" "$to"; done
tar -xf "$dir"/archives/verilator_*.orig.tar.* -C "$to/uvm" --strip-components=4 --wildcards '*/test_regress/t/uvm/*'
: > "$to/uvm/uvm_macros.svh" # which are in the package
for link in bin lib lib64; do [ -e "$to/$link" ] || ln -s "usr/$link" "$to/$link"; done
[ -e "$to/bin/sh" ] || ln -s dash "$to/bin/sh"
mkdir -p "$to/tmp"
touch "$to/complete"
