#!/bin/sh
# check_calls_test.sh CHECK_CALLS: the check finds a call that the program does not make, and samples without Python
# frames. A script stands in for the profiler.
set -u
check=$1
python3 "$check" /bin/true python3 1 >/dev/null 2>&1
[ $? -eq 77 ] && { echo "skipped: needs CAP_BPF, CAP_PERFMON and a kernel with BTF"; exit 0; }
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
# shellcheck disable=SC2016  # the made script expands $1
printf '#!/bin/sh\n[ "$1" = record ] || cat "%s/stacks"\n' "$made" >"$made/profiler"
chmod +x "$made/profiler"
failed=0

# image FRAME: prints the image of the frame.
image() {
  case $1 in
    __main__.* | threading.* | '[unknown'*) echo '/tmp/[python]/jit-1.dump' ;;
    *) echo python3 ;;
  esac
}

# expect STATUS TEXT FRAME…: the check of a stack with these frames ends with STATUS and prints TEXT.
expect() {
  status=$1 text=$2
  shift 2
  { for frame; do printf '\t 7f00 %s (%s)\n' "$frame" "$(image "$frame")"; done; echo; } >"$made/stacks"
  python3 "$check" "$made/profiler" python3 1 >"$made/output"
  found=$?
  if [ "$found" -ne "$status" ] || ! grep -q -- "$text" "$made/output"; then
    echo "expected $status and \"$text\", got $found:"
    cat "$made/output"
    failed=1
  fi
}

expect 0 '"wrong_calls": 0' __main__.work __main__.sort_key list_sort __main__.use_sort __main__.one_round \
  __main__.main '__main__.<module>' main
expect 0 '"of_the_program_whole_percent": 0.0' __main__.work '[unknown Python callers]' __main__.main \
  '__main__.<module>'
expect 0 '"whole_percent": 0.0' _PyEval_EvalFrameDefault __main__.main '__main__.<module>'
expect 1 'wrong: __main__.use_re calls __main__.sort_key, 1 times' __main__.work __main__.sort_key __main__.use_re \
  __main__.one_round __main__.main '__main__.<module>'
# From 3.11 on, a call that creates a coroutine runs an instruction of it. Only a caller whose source has the call does so.
if python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  expect 0 '"wrong_calls": 0' __main__.gathered __main__.use_asyncio __main__.main '__main__.<module>'
  expect 1 'wrong: __main__.use_asyncio calls __main__.coroutine' __main__.coroutine __main__.use_asyncio \
    __main__.main '__main__.<module>'
fi
# Calls of a thread before its function runs count too.
expect 0 '"calls": 4' __main__.one_round __main__.in_thread threading.Thread.run threading.Thread._bootstrap_inner \
  threading.Thread._bootstrap
expect 1 'no sample has Python frames' _PyEval_EvalFrameDefault main
exit $failed
