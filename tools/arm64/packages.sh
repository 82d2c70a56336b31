# Downloads Debian's packages for AArch64 and unpacks them into directories. Sourced by the scripts here and by
# tests/pmu_machine.
#
# apt gets separate lists, cache and status, which contain only AArch64. (`dpkg --add-architecture` could let a package
# for AArch64 replace a package of this machine.) Needs no rights.
# shellcheck shell=bash

arm64_cache=${XDG_CACHE_HOME:-$HOME/.cache}/profiler-arm64

# Waits until no other run changes the cache. Until this run ends, others wait.
lock_arm64_cache() {
  mkdir -p "$arm64_cache"
  exec {arm64_lock}>"$arm64_cache/lock"
  flock "$arm64_lock"
}

# Makes the state that apt uses instead of the system's, and loads its lists, once per run.
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

# with_version PACKAGE BEGINNING: prints the dependency of an unversioned package whose name begins
# with BEGINNING, a regular expression; nothing if there is none.
with_version() {
  { apt-cache depends "$1" 2>/dev/null || true; } |
    awk -v beginning="^$2" '$1 == "Depends:" && $2 ~ beginning { print $2; exit }'
}

# unpack_file FILE.deb DIR [TAR OPTION…]: unpacks a package. Files of /lib go to /usr/lib if DIR/lib
# is a link there.
unpack_file() {
  dpkg-deb --fsys-tarfile "$1" |
    tar -x -C "$2" --keep-directory-symlink --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' \
      --exclude='./usr/share/locale/*' "${@:3}"
}

# Prints the empty folder for packages to be unpacked. Removes files of earlier runs.
emptied_folder() {
  local folder=$arm64_cache/downloaded
  rm -rf "$folder"
  mkdir "$folder"
  echo "$folder"
}

# unpack_packages DIR PACKAGE… -- [TAR OPTION…]: unpacks packages and all their dependencies.
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

# unpack_alone DIR PACKAGE [TAR OPTION…]: unpacks a package without its dependencies.
unpack_alone() {
  local archives
  archives=$(emptied_folder)
  (cd "$archives" && apt-get -qq download "$2") || return
  unpack_file "$archives"/*.deb "$1" "${@:3}" || return
  rm -rf "$archives"
}
