#!/bin/sh
# rooms_test.sh FILE: checks that each room says what it is for, and includes no room above it. The source tree is FILE's
# directory, after following links.
set -eu
root=$(dirname "$(readlink -f "$1")")
here=$(dirname "$(readlink -f "$0")")
python3 "$here/rooms.py" "$root" || { echo 'ARCHITECTURE.md, "Rooms", has the order of the rooms'; exit 1; }

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir -p "$made/src/high/testing" "$made/src/low" "$made/ringbuf" "$made/symbolize"
printf 'from the highest to the lowest:\n\n```\nhigh\nlow\n       ringbuf  symbolize\n```\n' >"$made/ARCHITECTURE.md"
printf '# A room for what is high.\n' >"$made/src/high/BUILD"
printf '# A room for what is low.\n' >"$made/src/low/BUILD"
printf '#include "src/low/a.h"\n' >"$made/src/high/a.h"
printf '#include "src/high/a.h"\n' >"$made/src/low/a_test.cc"
python3 "$here/rooms.py" "$made" || { echo "rooms.py refuses a tree that is right"; exit 1; }
printf 'cc_library()\n' >"$made/src/high/BUILD"
printf '#include "src/high/a.h"\n' >"$made/src/low/a.h"
if python3 "$here/rooms.py" "$made" >"$made/found" || [ "$(wc -l <"$made/found")" -ne 2 ]; then
  echo "rooms.py does not find what is wrong"
  exit 1
fi
