#!/bin/sh
# views.sh PROFILER NAME: writes each view of NAME.data to NAME.VIEW.
set -u
name=$2
view() {
  as=$name.$1
  shift
  "$profiler" "$@" -i "$name.data" >"$as" 2>"$as.said" || echo "exit status $?" >>"$as"
}
profiler=$1
view report report
view flat report --no-children -g none
view folded folded
view script script
view json summary --json
view svg flamegraph -o -
