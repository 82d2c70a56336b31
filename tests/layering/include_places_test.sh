#!/bin/sh
# include_places_test.sh FILE: headers that cost seconds to compile are included where they are meant to be and nowhere
# else, in the source tree that FILE is at the top of once links are followed. The libraries' headers are in /usr/include,
# so Bazel cannot tell.
set -eu
cd "$(dirname "$(readlink -f "$1")")"

# only_in HEADER FILE…: the FILEs, in the order of their names, are all that includes what begins with HEADER.
only_in() {
  header=$1
  shift
  places=$(grep -rlE "^#include [\"<]$header" src ringbuf symbolize tests tools --include='*.h' --include='*.cc' | sort)
  [ "$places" = "$(printf '%s\n' "$@")" ] && return
  echo "$header is to be included by these alone: $*; it is by"
  echo "$places"
  return 1
}
only_in CLI/ src/usage/command_line.cc src/usage/help_text.cc src/usage/usage.cc
