#!/bin/sh
# format_test.sh CLANG_FORMAT_CONFIGURATION: checks that clang-format 14 would not change any C++
# file of the tree. Other versions of clang-format would format differently, so they are not used.
set -eu
cd "$(dirname "$(readlink -f "$1")")"
for clang_format in clang-format-14 clang-format none; do
  "$clang_format" --version 2>/dev/null | grep -q 'version 14\.' && break
done
if [ "$clang_format" = none ]; then
  echo "SKIPPED: no clang-format of version 14 (Debian 12: clang-format)"
  exit 0
fi
files=$(find src ringbuf symbolize tests tools -name '*.h' -o -name '*.cc')
[ -n "$files" ] || { echo "no C++ file found"; exit 1; }
# shellcheck disable=SC2086
"$clang_format" --dry-run -Werror $files
