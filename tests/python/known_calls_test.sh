#!/bin/sh
# known_calls_test.sh PROFILER CHECK_CALLS: no sample of python3, and of the interpreters in $PROFILER_PYTHONS, may show a
# call that the program does not make.
set -u
profiler=$1 check=$2 failed=0
command -v python3 >/dev/null || { echo "skipped: not installed: python3"; exit 0; }
for python in python3 ${PROFILER_PYTHONS:-}; do
  python3 "$check" "$profiler" "$python"
  status=$?
  [ "$status" -eq 77 ] && exit 0
  [ "$status" -eq 0 ] || failed=1
done
exit $failed
