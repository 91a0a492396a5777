#!/usr/bin/env bash
# Runs the conformance tests of adapters against soft-RoCE: one machine of the lab has the device, the other one is the tester. See docs/lab.md.
#
#	lab/conform.sh [flags of lab/run.sh --] TEST ...
#
# It needs bin/ibwitness and bin/ibwitness-verbs: make lab makes them.
set -euo pipefail
lab=$(realpath "$(dirname "$0")")
bin=$lab/../bin
flags=() tests="$*"
if [[ " $* " = *" -- "* ]]; then
	while [ "$1" != -- ]; do flags+=("$1"); shift; done
	shift
	tests="$*"
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$bin/ibwitness" dut --new-secret "$dir/dut.secret" > "$dir/log"
# The folder that the machines share is readable to all: the secret is copied out of it.
secret="cp /share/bin/dut.secret /tmp/secret && chmod 600 /tmp/secret"
"$lab/run.sh" --seconds 3600 --unchecked --program "$bin/ibwitness-verbs" --program "$dir/dut.secret" "${flags[@]}" -- \
	"$secret && ibwitness-verbs conform run --dut 10.0.0.1:4700 --secret /tmp/secret -i eth0 --window 500ms --jitter 50ms --to 239.1.2.3 --all --log --pcapng . --junit conform.xml $tests" \
	/ "$secret && exec ibwitness-verbs dut --device rxe0 --listen 10.0.0.1:4700 --secret /tmp/secret"
