#!/bin/sh
# Compiles programs for the kernel and writes them into a header, as arrays of bytes.
#
#   compile.sh HEADER ARCHITECTURE NAME=FILE.bpf.c…
set -eu

header=$1
architecture=$2
shift 2
object=$(mktemp)
trap 'rm -f "$object"' EXIT

{
  echo '#pragma once'
  echo 'namespace profiler::record {'
  for program in "$@"; do
    # The types and lines that the kernel gets contain no path of this machine.
    clang -O2 -g -fdebug-compilation-dir=. -Wall -Werror -target bpf "-D__TARGET_ARCH_$architecture" -I. \
      "-I/usr/include/$(gcc -print-multiarch 2>/dev/null || uname -m)" -c "${program#*=}" -o "$object"
    llvm-strip -g "$object"
    echo "alignas(8) inline constexpr unsigned char k${program%%=*}Bytecode[] = {"
    od -An -v -tx1 "$object" | sed 's/ \(..\)/0x\1,/g'
    echo '};'
  done
  echo '}  // namespace profiler::record'
} > "$header"
