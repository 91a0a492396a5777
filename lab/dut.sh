#!/usr/bin/env bash
# Serves the soft-RoCE devices of both machines of the lab (ibwitness dut), and has a tester on one of them drive them through all verbs. See docs/lab.md.
#
#	lab/dut.sh [flags of lab/run.sh]
#
# It needs bin/ibwitness, bin/ibwitness-verbs and bin/dut.test: make lab-dut makes them.
set -euo pipefail
lab=$(realpath "$(dirname "$0")")
bin=$lab/../bin
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$bin/ibwitness" dut --new-secret "$dir/dut.secret" > "$dir/log"
# The folder that the machines share is readable to all: the secret is copied out of it.
secret="cp /share/bin/dut.secret /tmp/secret && chmod 600 /tmp/secret"
serve="ibwitness-verbs dut --device rxe0 --secret /tmp/secret --listen"
"$lab/run.sh" --seconds 180 --program "$bin/ibwitness-verbs" --program "$bin/dut.test" --program "$dir/dut.secret" "$@" -- \
	"$secret; $serve 10.0.0.2:4700 & until grep -q :125C /proc/net/tcp; do sleep 0.1; done; dut.test -duts 10.0.0.1:4700,10.0.0.2:4700 -duts.secret /tmp/secret -test.run Devices -test.v; status=\$?; kill \$!; wait \$!; exit \$status" \
	/ "$secret; exec $serve 10.0.0.1:4700" || [ $? = 1 ]
