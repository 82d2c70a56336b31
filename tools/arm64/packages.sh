# Debian's packages for AArch64, downloaded and unpacked into directories. Read by the scripts here and by tests/pmu_machine.
#
# apt gets lists, a cache and a status of its own, which know that one architecture: with `dpkg --add-architecture` a
# package of the other architecture can displace one of this machine's. Takes no right.
# shellcheck shell=bash

arm64_cache=${XDG_CACHE_HOME:-$HOME/.cache}/profiler-arm64

# Waits until no other run changes what is in the cache; until this one ends, others wait.
lock_arm64_cache() {
  mkdir -p "$arm64_cache"
  exec {arm64_lock}>"$arm64_cache/lock"
  flock "$arm64_lock"
}

# Makes the state that apt is to use instead of the system's, and loads its lists, once a run.
prepare_arm64_apt() {
  [[ ${APT_CONFIG:-} != "$arm64_cache/apt/apt.conf" ]] || return 0
  local state=$arm64_cache/apt
  mkdir -p "$state"/{lists,archives}/partial
  : >"$state/status"
  cat >"$state/apt.conf" <<EOF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Dir::State "$state";
Dir::State::lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state";
EOF
  export APT_CONFIG=$state/apt.conf
  apt-get -qq update
}

# with_version PACKAGE BEGINNING: of the packages that one without a version in its name stands for, the one whose name
# begins like that, a regular expression; nothing where there is no such package.
with_version() {
  { apt-cache depends "$1" 2>/dev/null || true; } |
    awk -v beginning="^$2" '$1 == "Depends:" && $2 ~ beginning { print $2; exit }'
}

# unpack_file FILE.deb DIR [TAR OPTION…]: what the package has in /lib is in /usr/lib where DIR's lib leads there.
unpack_file() {
  dpkg-deb --fsys-tarfile "$1" |
    tar -x -C "$2" --keep-directory-symlink --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' \
      --exclude='./usr/share/locale/*' "${@:3}"
}

# Where packages lie until they are unpacked. What an earlier run left there is gone.
emptied_folder() {
  local folder=$arm64_cache/downloaded
  rm -rf "$folder"
  mkdir "$folder"
  echo "$folder"
}

# unpack_packages DIR PACKAGE… -- [TAR OPTION…]: these, and all that they depend on.
unpack_packages() {
  local directory=$1 archives file
  local -a packages=()
  shift
  while [[ $1 != -- ]]; do packages+=("$1"); shift; done
  shift
  archives=$(emptied_folder)
  mkdir "$archives/partial"
  apt-get -qq install -y -d -o Dir::Cache::archives="$archives" "${packages[@]}" >/dev/null || return
  for file in "$archives"/*.deb; do unpack_file "$file" "$directory" "$@" || return; done
  rm -rf "$archives"
}

# unpack_alone DIR PACKAGE [TAR OPTION…]: without what it depends on.
unpack_alone() {
  local archives
  archives=$(emptied_folder)
  (cd "$archives" && apt-get -qq download "$2") || return
  unpack_file "$archives"/*.deb "$1" "${@:3}" || return
  rm -rf "$archives"
}
