# Boots Debian's kernels in a machine with busybox, for the scripts in this folder that source this file and
# bare_system.sh. The kernel unpacks everything into memory, so the machine needs no disk and no network. Results leave
# the machine by its second serial port. The processor runs the machine if /dev/kvm can be opened; else QEMU emulates it.
#
#   get_kernel WORK VERSION           unpacks the newest cloud kernel of 5.10, 6.1 or 6.12 into WORK. Ends the script with
#                                     SKIPPED if Debian has none
#   make_image WORK TRIAL COMMAND     makes WORK/image, the files of the machine. TRIAL becomes /trial, where COMMAND runs
#   boot WORK OUT [PARAMETER…]        runs the machine, and copies /trial/out to OUT/out. The parameters are the kernel's
#   TIMEOUT=S                         seconds after which the machine is switched off (900)
# shellcheck shell=bash

emulator=qemu-system-x86_64

# Makes apt use the lists of Debian 11, whose kernel is 5.10.
use_debian_11() {
  mkdir -p "$1"/{lists,cache/archives}/partial
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror) bullseye main" >"$1/sources"
  cat >"$1/apt.conf" <<END
Dir { Etc { sourcelist "$1/sources"; sourceparts "-"; }; State { lists "$1/lists"; status "/dev/null"; }; Cache "$1/cache"; };
Acquire::Check-Valid-Until "false";
APT::Sandbox::User "root";
END
  export APT_CONFIG=$1/apt.conf
  apt-get -qq update
}

get_kernel() {
  local program kernel
  for program in "$emulator:qemu-system-x86" cpio:cpio; do
    command -v "${program%:*}" >/dev/null || apt-get -qq install -y --no-install-recommends "${program#*:}" >/dev/null
  done
  [ "$2" != 5.10 ] || use_debian_11 "$1/apt"
  kernel=$(apt-cache pkgnames "linux-image-$2." | grep -E -- '\.[0-9][^/]*-cloud-amd64$' | sort -V | tail -n 1)
  [ -n "$kernel" ] || { echo "SKIPPED linux-$2: this Debian has no such kernel"; exit 0; }
  unpack_packages "$1/package" "$kernel"
}

make_image() {
  mkdir -p "$1/image"/{bin,dev,etc,proc,sys,tmp,root}
  cp -a "$2" "$1/image/trial"
  cp "$2/busybox" "$1/image/bin/busybox"
  printf 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$1/image/etc/passwd"
  printf '%s\n' "$3" >"$1/image/command"
  cat >"$1/image/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
exec >/dev/console 2>&1 </dev/console
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
mount -t tracefs trace /sys/kernel/tracing
mount -t securityfs security /sys/kernel/security
# Interrupts take long in an emulator, so the kernel would lower the sampling rate.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
# Debian's default, 3, refuses everybody except root.
echo 2 >/proc/sys/kernel/perf_event_paranoid
export PATH=/bin:/usr/bin:/usr/sbin HOME=/root TERM=dumb
cd /trial
uname -r
sh /command
stty -F /dev/ttyS1 raw
tar -cf - out | gzip -1 >/dev/ttyS1
poweroff -f
END
  chmod +x "$1/image/init"
}

boot() {
  local work=$1 out=$2 machine
  shift 2
  mkdir -p "$out"
  (cd "$work/image" && find . | cpio -o -H newc --quiet -R 0:0 | gzip -1) >"$work/image.gz"
  # Without vmx or svm, KVM emulates the kernel's own code, slower than QEMU, and does not know all instructions.
  if grep -qw -e vmx -e svm /proc/cpuinfo && (exec 3<>/dev/kvm) 2>/dev/null; then
    machine=(-accel kvm -cpu host)
  else
    # Emulates in one thread. With one thread per CPU, a kernel that patches its code while others run
    # it sometimes crashes.
    machine=(-accel "tcg,thread=single" -cpu max)
  fi
  timeout "${TIMEOUT:-900}" "$emulator" "${machine[@]}" -smp 2 -m 2048 -display none -nic none -no-reboot \
    -kernel "$work"/package/boot/vmlinuz-* -initrd "$work/image.gz" -append "console=ttyS0 quiet rdinit=/init panic=-1 $*" \
    -serial "file:$work/console" -serial "file:$work/out.tar.gz" </dev/null || true
  if ! tar -C "$out" -xf "$work/out.tar.gz"; then
    tail -n 20 "$work/console" >&2
    return 1
  fi
}
