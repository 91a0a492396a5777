#!/usr/bin/env bash
# Makes in a folder the kernel and the file system that the machines of the lab boot, from packages of Debian 12: soft-RoCE (rdma_rxe), perftest, rping, ibverbs-utils,
# UCX, libfabric, iproute2, busybox. Nothing is installed, and no root is needed. The kernel may be that of another release.
#
#	lab/image.sh FOLDER [RELEASE]
set -euo pipefail
here=$(realpath "$(dirname "$0")")
to=$(realpath -m "$1")
release=${2:-bookworm}
[ ! -e "$to/complete" ] || [ "$here/image.sh" -nt "$to/complete" ] || [ "$here/init" -nt "$to/complete" ] || exit 0
for program in apt-get apt-cache dpkg-deb gpgv cpio xz; do
	command -v "$program" > /dev/null || { echo "lab: $program is missing: the machines are made of packages of Debian 12, on Debian 12; install it" >&2; exit 2; }
done
mkdir -p "$to"
rm -f "$to/complete"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"/{lists,archives}/partial "$dir"/{root,kernel}

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Release: bookworm' | head -n 1)
echo "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:?apt has no mirror of Debian 12} bookworm main" > "$dir/list"
options=(-o Dir::Etc::SourceList="$dir/list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$dir/lists" -o Dir::State::status=/dev/null
	-o Dir::Cache="$dir" -o Dir::Cache::archives="$dir/archives" -o APT::Architecture=amd64 -o APT::Architectures=amd64
	-o APT::Sandbox::User= -o Acquire::Languages=none -o Debug::NoLocking=1)
apt-get -qq "${options[@]}" update
# All that the programs depend on, whatever is installed here; of the kernel only itself.
apt-get -qq "${options[@]}" install -y --download-only --no-install-recommends busybox-static perftest rdmacm-utils ibverbs-utils ibverbs-providers ucx-utils libfabric-bin iproute2 libstdc++6 > "$dir/log"
if [ "$release" != bookworm ]; then
	sed "s/ bookworm / $release /" -i "$dir/list"
	apt-get -qq "${options[@]}" update
fi
kernel=$(apt-cache "${options[@]}" show linux-image-amd64 | sed -nE 's/^Depends: (linux-image-[^ ,]+).*/\1/p' | head -n 1)
version=${kernel#linux-image-}
(cd "$dir/archives" && apt-get -qq "${options[@]}" download "$kernel" > "$dir/log")
for package in "$dir"/archives/*.deb; do
	case $package in */linux-image-*) dpkg-deb -x "$package" "$dir/kernel" ;; *) dpkg-deb -x "$package" "$dir/root" ;; esac
done
# The kernel unpacks itself when it starts, which takes an emulated machine half of the time until it is up: it is unpacked here, where it is by xz.
cp "$dir/kernel/boot/vmlinuz-$version" "$to/kernel"
at=$(LC_ALL=C grep -aobP '\xfd7zXZ\x00' "$to/kernel" | head -n 1 | cut -d : -f 1) || at=
if [ -n "$at" ]; then
	tail -c +$((at + 1)) "$to/kernel" > "$dir/kernel.xz"
	xz -dc --single-stream < "$dir/kernel.xz" > "$to/kernel"
fi

# The modules that init loads, and what they need. Newer releases have them in /usr, compressed, which busybox does not read.
modules=lib/modules/$version
[ -e "$dir/kernel/lib" ] || ln -s usr/lib "$dir/kernel/lib"
find "$dir/kernel/$modules/" -name '*.ko.xz' -exec xz -d {} +
"$dir/root/bin/busybox" depmod -b "$dir/kernel" "$version"
cp "$here/init" "$dir/root/init"
sed -n 's/^modprobe -a //p' "$here/init" | tr ' ' '\n' | while read -r module; do
	if grep -q "/$module\.ko$" "$dir/kernel/$modules/modules.builtin"; then # it is a part of the kernel
		sed -i "/^modprobe -a/s/ $module\>//" "$dir/root/init"
		continue
	fi
	grep -E "^[^:]*/$module\.ko:" "$dir/kernel/$modules/modules.dep" | tr -d : | tr ' ' '\n' || { echo "lab: $kernel has no module $module" >&2; exit 2; }
done | sort -u | (cd "$dir/kernel/$modules" && cpio --quiet -pdm "$dir/root/$modules")
"$dir/root/bin/busybox" depmod -b "$dir/root" "$version"

rm -rf "$dir"/root/{etc,var,usr/share,usr/lib/x86_64-linux-gnu/gconv}
ln -s libpsm1/libpsm_infinipath.so.1.16 "$dir/root/usr/lib/libpsm_infinipath.so.1" # an alternative of Debian, which libfabric needs
mkdir -p "$dir"/root/{etc/libibverbs.d,dev,proc,sys,tmp,run,rec,work,share,busybox}
echo "driver rxe" > "$dir/root/etc/libibverbs.d/rxe.driver"
echo "127.0.0.1 localhost" > "$dir/root/etc/hosts"
ln -s busybox "$dir/root/bin/sh"
chmod 755 "$dir/root/init"
(cd "$dir/root" && find . | cpio --quiet -o -H newc -R 0:0) > "$to/root"
touch "$to/complete"
