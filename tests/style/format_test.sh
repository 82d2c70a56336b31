#!/bin/sh
# format_test.sh CLANG_FORMAT_CONFIGURATION: every C++ file of the tree is as clang-format lays it out.
set -eu
cd "$(dirname "$(readlink -f "$1")")"
if ! command -v clang-format >/dev/null; then
  echo "SKIPPED: clang-format is not installed"
  exit 0
fi
files=$(find src ringbuf symbolize tests tools -name '*.h' -o -name '*.cc')
[ -n "$files" ] || { echo "no C++ file found"; exit 1; }
# shellcheck disable=SC2086
clang-format --dry-run -Werror $files
