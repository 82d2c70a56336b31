#!/bin/sh
# include_places_test.sh FILE: checks that headers which take seconds to compile are included only
# in the intended files. The source tree is FILE's directory, after following links. These headers
# are in /usr/include, so Bazel cannot check them.
set -eu
cd "$(dirname "$(readlink -f "$1")")"

# only_in HEADER FILE…: requires that exactly the FILEs, in order of their names, include a header
# that begins with HEADER.
only_in() {
  header=$1
  shift
  places=$(grep -rlE "^#include [\"<]$header" src ringbuf symbolize tests tools --include='*.h' --include='*.cc' | sort)
  [ "$places" = "$(printf '%s\n' "$@")" ] && return
  echo "only these files may include $header: $*; these include it:"
  echo "$places"
  return 1
}
only_in CLI/ src/cli/usage/command_line.cc src/cli/usage/long_names.cc \
  src/cli/usage/parser_messages.cc src/cli/usage/usage.cc
