#!/bin/sh
# layering_test.sh FILE PERMITTED…: checks that every target in FILE is in a permitted package or is
# a permitted library.
set -eu
list=$1
shift
[ -s "$list" ] || { echo "the query found no targets, so this test would check nothing"; exit 1; }
failed=0
while read -r target; do
  # Bazel 6 and later write @@ before a repository's name.
  case $target in @@*) target=${target#@} ;; esac
  package=${target%%:*}
  permitted=no
  for entry in "$@"; do
    case $entry in
      *:*) [ "$target" = "$entry" ] && permitted=yes ;;
      *) [ "$package" = "$entry" ] && permitted=yes ;;
    esac
  done
  if [ "$permitted" = no ]; then
    echo "$target is a dependency that is not permitted"
    failed=1
  fi
done <"$list"
exit $failed
