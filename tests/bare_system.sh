# Runs a bare Debian in a directory, as a separate machine, for the scripts in this folder that source this file. Needs
# root, and the Debian mirror of this machine.
#
#   choose_system CACHE NAME     chooses a system: NAME is 11, 12, 13, sid, a release's name or musl. CACHE keeps it for the
#                                next run. Sets $suite and $machine, the machine's future directory
#   make_base                    installs the system, once: apt and Debian's essential packages; musl has only its libc and
#                                busybox
#   make_machine                 copies the installed system to $machine, and removes $machine when the script ends
#   run_on_machine COMMAND       runs COMMAND with sh, in $at on the machine, with a minimal environment
# shellcheck shell=bash

# Directory of the machine in which commands start.
at=/root

choose_system() {
  cache=$(realpath -m "$1")
  case $2 in
    11 | bullseye) suite=bullseye ;;
    12 | bookworm) suite=bookworm ;;
    13 | trixie) suite=trixie ;;
    sid | unstable) suite=sid ;;
    musl) suite=musl ;;
    *) return 1 ;;
  esac
  mkdir -p "$cache"
  base=$cache/$suite
  machine=$cache/$suite.machine
  packages=$cache/$suite.packages
  objects=$cache/$suite.objects
  mkdir -p "$packages" "$objects"
  exec {lock}>"$cache/$suite.lock"
  flock --nonblock "$lock" || { echo "$0: another run uses $machine" >&2; exit 1; }
}

# Ends processes that still run in the machine (Bazel's server), and removes the machine. Nothing is
# mounted below it here: mounts are made in a separate namespace, which ends with its last process.
remove_machine() {
  local process
  for process in /proc/[0-9]*; do
    if [ "$process/root" -ef "$machine" ]; then kill -KILL "${process#/proc/}" 2>/dev/null || true; fi
  done
  rm -rf --one-file-system "$machine"
}

# unpack_packages DIR PACKAGE…: unpacks Debian packages into DIR without installing them. Files of
# /lib go to /usr/lib if DIR/lib is a link there.
unpack_packages() {
  local to work
  mkdir -p "$1"
  to=$(realpath "$1")
  shift
  work=$(mktemp -d)
  (
    cd "$work" &&
      apt-get -qq -o APT::Sandbox::User=root download "$@" &&
      for package in *.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x -C "$to" --keep-directory-symlink; done
  )
  rm -rf "$work"
}

make_base() {
  [ ! -d "$base" ] || return 0
  rm -rf --one-file-system "$base.partial"
  if [ "$suite" = musl ]; then make_musl; else make_debian; fi
  mv "$base.partial" "$base"
}

make_musl() {
  mkdir -p "$base.partial"/{dev,etc,mnt,proc,root,sys,tmp,usr/{bin,lib,sbin},var/cache/apt/archives}
  # Packages of Debian 12 still contain /bin and /lib; those of Debian 13 do not.
  ln -s usr/bin usr/lib usr/sbin "$base.partial"
  unpack_packages "$base.partial" busybox-static musl
  chroot "$base.partial" /bin/busybox --install -s /bin
  printf 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$base.partial/etc/passwd"
  chmod 1777 "$base.partial/tmp"
}

# Prints the Debian mirror of this machine; nothing if apt's configuration names none.
debian_mirror() {
  local mirror
  mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)
  [ -n "$mirror" ] ||
    mirror=$(sed -n 's/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' /etc/apt/sources.list 2>/dev/null | head -n 1)
  echo "$mirror"
}

make_debian() {
  if ! command -v debootstrap >/dev/null; then
    apt-get -qq update && apt-get -qq install -y --no-install-recommends debootstrap >/dev/null
  fi
  local mirror
  mirror=$(debian_mirror)
  debootstrap --variant=minbase "$suite" "$base.partial" ${mirror:+"$mirror"} >"$cache/$suite.debootstrap.log" ||
    { tail -n 5 "$cache/$suite.debootstrap.log" >&2; return 1; }
  rm -f "$base.partial"/var/cache/apt/archives/*.deb
}

# Gives the machine this machine's network settings: name servers, proxies, certificates for npm.
environment=(HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
take_over_network() {
  local name
  cp /etc/resolv.conf "$machine/etc/resolv.conf"
  # A mirror may be several weeks old.
  [ ! -d "$machine/etc/apt" ] || echo 'Acquire::Check-Valid-Until "false";' >"$machine/etc/apt/apt.conf.d/old-mirror"
  for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || environment+=("$name=${!name}")
  done
  [ -n "${NODE_EXTRA_CA_CERTS:-}" ] || return 0
  cp "$NODE_EXTRA_CA_CERTS" "$machine/root/certificates.pem"
  environment+=(NODE_EXTRA_CA_CERTS=/root/certificates.pem)
}

run_on_machine() {
  # shellcheck disable=SC2016
  machine=$machine packages=$packages objects=$objects at=$at unshare --mount --propagation private sh -euc '
    command=$1
    shift
    mount --bind "$machine" "$machine"
    mount -t proc proc "$machine/proc"
    mount -t sysfs sysfs "$machine/sys"
    mount -t tracefs tracefs "$machine/sys/kernel/tracing" 2>/dev/null || true
    mount --rbind /dev "$machine/dev"
    mount --bind "$packages" "$machine/var/cache/apt/archives"
    mount --bind "$objects" "$machine/root/objects"
    # chroot is not enough: for the kernel, too, this must be the root directory, as on a real
    # machine.
    cd "$machine"
    pivot_root . mnt
    cd "$at"
    umount -l /mnt
    exec env -i "$@" sh -c "$command"
  ' sh "$1" "${environment[@]}" </dev/null {lock}>&-
}

make_machine() {
  remove_machine
  trap remove_machine EXIT
  trap 'exit 1' INT TERM HUP
  cp -a "$base" "$machine"
  mkdir "$machine/root/objects"
  take_over_network
}
