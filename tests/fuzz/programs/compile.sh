#!/bin/sh
# compile.sh PROGRAM.CC OUT.INC OBJCOPY COMPILER…: compiles PROGRAM with each compiler, in each form
# of debug information, and writes the files as initializers of byte arrays. A split unit's sections
# are put into the program itself. Leaves out forms that a compiler or tool of this machine does not
# support.
set -eu
source=$(realpath "$1")
out=$(realpath -m "$2")
objcopy=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir files
cp "$source" program.cc

# Keeps files small: one segment, and nothing that is needed only to run the program.
linking='-shared -nostdlib -Wl,-N,-z,noseparate-code,-z,norelro,--build-id=sha1'
for compiler in "$@"; do
  name=$(basename "$compiler")
  compile() {
    form=$name.$1
    shift
    # shellcheck disable=SC2086
    "$compiler" -O2 -fPIC -fno-asynchronous-unwind-tables -ffile-prefix-map="$work"=. "$@" -c program.cc -o program.o &&
      "$compiler" $linking "$@" program.o -o files/"$form" || rm -f files/"$form"
  }
  for version in 2 3 4 5; do compile dwarf$version -gdwarf-$version; done
  compile dwarf64 -gdwarf-5 -gdwarf64
  compile sections -g -ffunction-sections
  compile types4 -gdwarf-4 -fdebug-types-section
  compile types5 -gdwarf-5 -fdebug-types-section
  compile packed -g -gz
  compile ibtplt -g -fasynchronous-unwind-tables -Wl,-z,ibtplt
  compile now -fasynchronous-unwind-tables -Wl,-z,now -fno-plt
  compile eh_frame -fasynchronous-unwind-tables
  compile eh_frame_hdr -fasynchronous-unwind-tables -Wl,--eh-frame-hdr
  for version in 4 5; do
    compile split$version -gdwarf-$version -gsplit-dwarf
    [ -e files/"$form" ] || continue
    for section in info abbrev line str str_offsets rnglists; do
      section=.debug_$section.dwo
      "$objcopy" --dump-section $section=section program.dwo /dev/null || continue
      "$objcopy" --add-section $section=section files/"$form"
    done
  done
  cp files/"$name".dwarf5 files/"$name".zdebug
  "$objcopy" --compress-debug-sections=zlib-gnu files/"$name".zdebug || rm files/"$name".zdebug
  cp files/"$name".dwarf5 files/"$name".zstd
  "$objcopy" --compress-debug-sections=zstd files/"$name".zstd || rm files/"$name".zstd
done >log 2>&1 || {
  cat log >&2
  exit 1
}
[ -n "$(ls files)" ] || {
  cat log >&2
  exit 1
}

for file in files/*; do
  echo "{  // ${file#files/}"
  od -An -v -tu1 "$file" | sed 's/  *\([0-9][0-9]*\)/\1,/g'
  echo '},'
done >"$out"
