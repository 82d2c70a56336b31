#!/bin/sh
# killed_recorder_test.sh PROFILER KILLED_RECORDER: a killed recorder leaves no program in the kernel, and a recording that
# can be read.
set -u
command -v python3 >/dev/null || { echo "skipped: not installed: python3"; exit 0; }
python3 "$2" "$1"
status=$?
[ "$status" -eq 77 ] && exit 0
exit "$status"
