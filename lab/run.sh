#!/usr/bin/env bash
# Boots two machines with soft-RoCE, runs RDMA programs between them, captures their traffic, and has ibwitness judge it. See docs/lab.md.
set -euo pipefail
usage() {
	cat <<-END
	Usage: lab/run.sh [flags] NAME ...
	       lab/run.sh [flags] -- CLIENT-COMMAND / SERVER-COMMAND

	Each NAME is one of lab/programs, such as rping or rc_pingpong, or a program of perftest (send_bw, write_lat, read_lat, atomic_lat ...: ib_NAME),
	also with _uc, _ud or _cm (send_lat_ud).
	The server has the address 10.0.0.1, the client 10.0.0.2, their device is rxe0. A command is run as given: quote what the shell of the machine is to see.

	  -o DIR             where captures, logs and files are left (default: bin/lab)
	  --kernel RELEASE   whose kernel the machines have: bookworm (Linux 6.1) or trixie (6.12) (default: bookworm)
	  --mtu BYTES        of the network (default: 1500)
	  --netem "WORDS"    what tc-netem does to packets in both directions, between the tap and the server, such as "loss 2%" (default: nothing)
	  --preload FILE.so  library that both programs load; what they write to /rec/*.jsonl are event logs, which are judged too
	  --table FILE       instead of lab/programs
	  --program FILE     program that the machines have too, in their PATH; repeatable
	  --env NAME=VALUE   environment variable of both programs; repeatable
	  --seconds N        how long programs may run (default: 60)
	  --unchecked        the capture is not judged: the verdict is what the client says
	  --check "FLAGS"    flags for ibwitness check (default: --near 10.0.0.2, where the tap is)

	Exit status: 0 nothing violated, 1 violations, 2 a program failed or nothing could be judged.
	END
}
fail() { echo "lab: $*" >&2; exit 2; }
lab=$(realpath "$(dirname "$0")")
ibwitness=${IBWITNESS:-$lab/../bin/ibwitness}
out=$lab/../bin/lab kernel=bookworm mtu=1500 netem= preload= table=$lab/programs programs=() environment= seconds=60 unchecked= flags="--near 10.0.0.2" names=()
while [ $# -gt 0 ]; do
	case $1 in -o | --kernel | --mtu | --netem | --preload | --table | --program | --env | --seconds | --check) [ $# -gt 1 ] || fail "$1 needs a value" ;; esac
	case $1 in
	-o) out=$2; shift ;;
	--kernel) kernel=$2; shift ;;
	--mtu) mtu=$2; shift ;;
	--netem) netem=$2; shift ;;
	--preload) preload=$2; shift ;;
	--table) table=$2; shift ;;
	--program) programs+=("$2"); shift ;;
	--env) environment+="export $(printf %q "$2")"$'\n'; shift ;;
	--seconds) seconds=$2; shift ;;
	--unchecked) unchecked=yes ;;
	--check) flags=$2; shift ;;
	-h | --help) usage; exit ;;
	--) shift; break ;;
	-*) usage >&2; exit 2 ;;
	*) names+=("$1") ;;
	esac
	shift
done
commands="$*"
[ -z "$commands" ] || [[ $commands = *" / "* ]] || fail "the commands are not those of two machines: CLIENT-COMMAND / SERVER-COMMAND"
[ -z "$commands" ] || [[ $commands = *" / "* ]] || fail "the commands are not those of two machines: CLIENT-COMMAND / SERVER-COMMAND"
# The tap is at the client, after what tc-netem does there; nothing is lost between it and the server.
[ -n "$flags" ] || if [ -z "$netem" ]; then flags="--near 10.0.0.2"; else flags="--near 10.0.0.1"; fi
[ ${#names[@]} = 0 ] || [ -z "$commands" ] || fail "names, or commands after --, not both"
[ -z "$commands" ] || names=(command)
[ ${#names[@]} -gt 0 ] || { usage >&2; exit 2; }
for name in "${names[@]}"; do [[ $name =~ ^[a-z0-9_]+$ ]] || fail "$name is no name"; done

for program in qemu-system-x86_64 setpriv timeout; do
	command -v "$program" > /dev/null || fail "$program is missing: make lab installs qemu-system-x86; setpriv is of util-linux, timeout of coreutils"
done
[ -x "$ibwitness" ] || fail "$ibwitness is missing: run make build"
for file in $preload "$table" "${programs[@]}"; do [ -r "$file" ] || fail "cannot read $file"; done
[[ $kernel =~ ^[a-z-]+$ ]] || fail "$kernel is no release of Debian"
image=$(realpath -m "$lab/../bin/tools/lab")
[ "$kernel" = bookworm ] || image+=-$kernel
"$lab/image.sh" "$image" "$kernel" || fail "the image of the machines could not be made"
mkdir -p "$out"
out=$(realpath "$out")

# What the machines run for a name: at the client or the server.
program() {
	local role=$1 name=$2 peer= both=$commands
	[ "$role" = server ] || peer=10.0.0.1
	[ -n "$both" ] || both=$(sed -n "s/^$name: //p" "$table")
	case $name,$both in
	*" / "*) if [ "$role" = client ]; then echo "${both%% / *}"; else echo "${both#* / }"; fi ;;
	*_uc,) echo "ib_${name%_uc} -d rxe0 -F -n 20 -c UC $peer" ;;
	*_ud,) echo "ib_${name%_ud} -d rxe0 -F -n 20 -c UD -s 512 $peer" ;;
	*_cm,) echo "ib_${name%_cm} -d rxe0 -F -n 20 -s 3000 -R $peer" ;;
	atomic_*,) echo "ib_$name -d rxe0 -F -n 20 $peer" ;;
	*) echo "ib_$name -d rxe0 -F -n 20 -s 3000 $peer" ;;
	esac
}

tmp=$(mktemp -d)
machines=()
cleanup() {
	trap '' INT TERM
	[ ${#machines[@]} = 0 ] || kill "${machines[@]}" 2> /dev/null || true
	wait
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# await SECONDS FILE ...: until one of the files is there.
await() {
	local deadline=$((SECONDS + $1)) file; shift
	while :; do
		for file; do [ ! -e "$file" ] || return 0; done
		kill -0 "${machines[@]}" 2> /dev/null || fail "a machine ended: $(grep -h -v "^$" "$tmp"/*/console | tail -n "${LAB_LINES:-12}")"
		[ $SECONDS -lt $deadline ] || return 1
		sleep 0.1
	done
}

# boot ROLE ADDRESS NETDEV: the monitor of the machine reads what is written to the file descriptor of its name. It ends with this script, however that ends.
boot() {
	local role=$1 address=$2 netdev=$3 lossy= monitor
	[ "$role" = client ] || lossy=$netem
	mkdir -p "$tmp/$role/share/bin"
	echo "address=$address mtu=$mtu netem=\"$lossy\"" > "$tmp/$role/share/machine"
	[ -z "$preload" ] || cp "$preload" "$tmp/$role/share/preload.so"
	[ ${#programs[@]} = 0 ] || { cp "${programs[@]}" "$tmp/$role/share/bin/"; chmod 755 "$tmp/$role/share/bin/"*; }
	mkfifo "$tmp/$role/monitor"
	exec {monitor}<> "$tmp/$role/monitor"
	setpriv --pdeathsig KILL qemu-system-x86_64 -machine q35,accel=tcg -cpu max -m 512 -display none -no-reboot -nic none \
		-kernel "$image/kernel" -initrd "$image/root" -append "console=ttyS0 quiet panic=-1 nokaslr mitigations=off tsc=reliable no_timer_check" \
		-serial "file:$tmp/$role/console" -monitor stdio \
		-virtfs "local,path=$tmp/$role/share,mount_tag=share,security_model=none" \
		-netdev "stream,id=net,addr.type=unix,addr.path=$tmp/wire,$netdev" -device "virtio-net-pci,netdev=net,mac=52:54:00:00:00:0${address##*.}" \
		<& "$monitor" > "$tmp/$role/qemu.log" 2>&1 &
	machines+=($!)
	printf -v "$role" %s "$monitor"
}
boot server 10.0.0.1 server=on
await 10 "$tmp/wire" || fail "QEMU did not start: $(cat "$tmp/server/qemu.log")"
boot client 10.0.0.2 server=off
for role in server client; do
	await 180 "$tmp/$role/share/up" || fail "the $role did not boot: $(tail -n 5 "$tmp/$role/console")"
done
echo "lab: two machines are up after $SECONDS s"

# job ROLE NAME: hands a program to a machine.
job() {
	local share=$tmp/$1/share
	rm -rf "$share"/{status,files,log,listening,stop}
	{
		[ -z "$preload" ] || echo "cp /share/preload.so /tmp/ && export LD_PRELOAD=/tmp/preload.so"
		printf %s "$environment"
		program "$1" "$2"
	} > "$share/job.new"
	mv "$share/job.new" "$share/job"
}

worst=0
for name in "${names[@]}"; do
	rm -rf "$out/$name".*
	echo "object_add filter-dump,id=dump,netdev=net,file=$out/$name.pcap" >&"$client"
	job server "$name"
	await 15 "$tmp/server/share/"{listening,status} || true
	job client "$name"
	await "$seconds" "$tmp/client/share/status" || touch "$tmp/client/share/stop"
	await 10 "$tmp/server/share/status" || touch "$tmp/server/share/stop"
	said=
	for role in client server; do await 10 "$tmp/$role/share/status" || said+=", $role does not end"; done
	echo "object_del dump" >&"$client"
	if [ -n "$said" ]; then # its machine may hang
		for role in server client; do
			cp "$tmp/$role/share/log" "$out/$name.$role.log"
			cp "$tmp/$role/console" "$out/$name.$role.console"
		done
		fail "$name$said: what was printed until then is in $out"
	fi
	for role in server client; do
		share=$tmp/$role/share
		cp "$share/log" "$out/$name.$role.log"
		rmdir "$share/files" 2> /dev/null || cp -r "$share/files" "$out/$name.$role.files"
		[ "$(cat "$share/status")" = 0 ] || said+=", $role exited with $(cat "$share/status")"
	done
	if [ -n "$unchecked" ]; then
		echo "lab: $name: $(grep -m 1 -E '^(PASSED|FAILED|INCONCLUSIVE|NOT APPLICABLE|TEST ERROR) ' "$out/$name.client.log" || head -n 1 "$out/$name.client.log")"
		status=$(cat "$tmp/client/share/status")
		[ "$status" -le $worst ] || worst=$status
		continue
	fi
	[ -z "$said" ] || worst=2
	events=()
	for log in "$out/$name".*.files/*.jsonl; do [ ! -e "$log" ] || events+=(--events "$log"); done
	status=0
	# shellcheck disable=SC2086 # several flags
	timeout 60 "$ibwitness" check $flags "$out/$name.pcap" "${events[@]}" > "$out/$name.verdict" 2>&1 || status=$?
	echo "lab: $name$said: $(sed -E '1!{/^  [A-Z0-9-]+-[0-9]{3}  /!d}' "$out/$name.verdict")"
	[ $status -le $worst ] || worst=$status
done
echo "lab: captures, verdicts, logs and files are in $out; $SECONDS s"
exit $worst
