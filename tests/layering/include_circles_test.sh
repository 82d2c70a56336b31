#!/bin/sh
# include_circles_test.sh FILE: checks that includes form no cycle of files and no cycle of
# packages. The source tree is FILE's directory, after following links. Tests, and their helpers in
# folders named testing, may include anything, because nothing that ships includes them.
set -eu
cd "$(dirname "$(readlink -f "$1")")"
shipped=$(find src ringbuf symbolize -name '*.h' -o -name '*.cc' |
  grep -vE '_(test|benchmark)\.cc$|/testing/|table_builder\.h$')
# shellcheck disable=SC2086
includes=$(grep -E '^#include "(src|ringbuf|symbolize)/' $shipped | sed -E 's/^([^:]+):#include "([^"]+)".*/\1 \2/')
[ "$(echo "$includes" | wc -l)" -gt 500 ] || { echo "the includes were not found"; exit 1; }

# tsort(1) reports a cycle if there is one.
no_circle() {
  if ! echo "$2" | tsort >/dev/null 2>"$TEST_TMPDIR/circle"; then
    echo "the includes of $1 form a cycle:"
    cat "$TEST_TMPDIR/circle"
    return 1
  fi
}
! no_circle "two" "a b
b a" >/dev/null || { echo "tsort does not find a cycle"; exit 1; }
no_circle files "$includes"
# A folder without BUILD belongs to the package above it.
packages=$(find src ringbuf symbolize -name BUILD | sed 's:/BUILD$::')
no_circle packages "$({ echo "$packages"; echo; echo "$includes"; } | awk '
  function package_of(file) {
    while (sub(/\/[^\/]+$/, "", file)) if (file in packages) return file
    return file
  }
  NF == 0 { has_packages = 1; next }
  !has_packages { packages[$1]; next }
  { from = package_of($1); to = package_of($2); if (from != to) print from, to }' | sort -u)"
