#!/bin/bash
# options_test.sh PROFILER PAGE…: compares the options in `profiler COMMAND --help` with the table of docs/COMMAND.md, whose
# rows begin with "| `-x`, `--option`".
set -u
profiler=$1
shift
pages="$*"
failed=0

Options() { grep -oE -- '--[a-z][a-z-]*' | sort -u; }

for command in $("$profiler" --help | sed -n 's/^  \([a-z][a-z-]*\)  *[A-Z].*/\1/p'); do
  page=$(tr ' ' '\n' <<< "$pages" | grep "/$command\.md$")
  if [ -z "$page" ]; then
    echo "docs/$command.md is missing"
    failed=1
    continue
  fi
  # An option's name stands at the start of a line, with its explanation after or below it.
  helped=$("$profiler" "$command" --help | grep -oE '^  -[^ ,]+(, -[^ ,]+)*' | Options)
  written=$(grep -oE '^\| `-[^|]*\|' "$page" | Options)
  if ! difference=$(diff <(echo "$helped") <(echo "$written")); then
    echo "$page (>) and profiler $command --help (<) differ:"
    echo "$difference"
    failed=1
  fi
done
exit $failed
