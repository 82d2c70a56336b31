#!/bin/bash
# usage_test.sh PROFILER: checks completions and manual pages with the shells and man(1).
set -u
profiler=$(realpath "$1")
failed=0
skipped=''

fail() {
  printf 'FAILED: %s\n' "$*"
  failed=1
}

# complete_words WORD…: prints bash's completions of the last word, one per line.
complete_words() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMP_LINE=$*
  COMP_POINT=${#COMP_LINE}
  _profiler
  printf '%s\n' "${COMPREPLY[@]-}"
}

# offers 'words with the last one unfinished' EXPECTED…: fails if a completion is missing.
offers() {
  local line=$1 offered wanted
  shift
  # shellcheck disable=SC2086 # words
  offered=$(IFS=' '; complete_words $line)
  for wanted; do
    grep -qxF -- "$wanted" <<< "$offered" || fail "'$line' is not completed to '$wanted' but to: ${offered//$'\n'/ }"
  done
}

offers_nothing_like() {
  local offered
  # shellcheck disable=SC2086
  offered=$(complete_words $1)
  grep -qxF -- "$2" <<< "$offered" && fail "'$1' is completed to '$2'"
}

source <("$profiler" completion bash) || fail "bash does not understand its completion"
compopt() { :; } # bash calls compopt only during completion
unset -f _command_offset

cd "$(mktemp -d)" || exit 1
mkdir folder
: > folder/perf.data
: > recording.data

offers 'profiler rec' record
offers 'profiler --no-p' --no-pager
offers 'profiler record --call' --call-graph
offers 'profiler record --no-p' --no-pager
offers 'profiler record --call-graph d' dwarf
offers 'profiler record --call-graph = d' dwarf
offers 'profiler record --call-graph =' fp dwarf auto none
offers 'profiler record -g -F 99 -o rec' recording.data
offers 'profiler record -F 99 bas' bash
offers 'profiler record -F 99 -- bas' bash
offers 'profiler record -p '"${$:0:1}" $$
offers 'profiler report -i fol' folder
offers 'profiler open rec' recording.data
offers 'profiler convert rec' recording.data
offers 'profiler report --symfs fol' folder
offers 'profiler completion --he' --help
offers 'profiler help rec' record
offers 'profiler report -s sym' symbol
offers 'profiler report --sort comm,sr' comm,srcline comm,srcfile
offers "profiler record -u $(id -un | cut -c1-2)" "$(id -un)"
profiler() { "$profiler" "$@"; } # completion asks the program for events
offers 'profiler record -e page' page-faults
offers 'profiler stat -e cs,cpu-cl' cs,cpu-clock
printf 'main;find_word 5\nmain;text::find(int) 3\nmain;$(id) 2\n' | "$profiler" import - --format folded -o perf.data 2> /dev/null
offers 'profiler annotate find_' find_word
offers 'profiler annotate fol' folder
offers 'profiler report --symbol find_' find_word
offers 'profiler annotate -s text::f' find # bash completes the part after the colons
# A name in a recording must not run a command.
offers_nothing_like 'profiler report --symbol $' '$(id)'
# The words after a recorded program belong to that program.
offers_nothing_like 'profiler record bash --call' --call-graph
offers_nothing_like 'profiler record -F' --call-graph
offers_nothing_like 'profiler report --call' --call-graph-of-others

# try PROGRAM …: runs it on standard input, and fails if it prints something or exits with an error.
try() {
  local said
  if ! command -v "$1" > /dev/null; then
    skipped+=" $1"
    cat > /dev/null
    return
  fi
  said=$("$@" 2>&1) && [[ -z $said ]] || fail "$*: $said"
}
"$profiler" completion zsh | try zsh -n /dev/stdin
"$profiler" completion fish | try fish --no-execute /dev/stdin

# wide TEXT: prints the lines that do not fit on a terminal of 80 columns.
wide() { LC_ALL=C.UTF-8 grep -E '^.{81}' <<< "$1"; }
commands=$("$profiler" --help | sed -n 's/^  \([a-z][a-z-]*\)  *[A-Z].*/\1/p')
for command in '' $commands; do
  # shellcheck disable=SC2086 # none or one
  "$profiler" help --man $command | try groff -man -Tutf8 -ww -z
done
for command in $commands; do
  lines=$(wide "$("$profiler" "$command" --help)")
  [[ -z $lines ]] || fail "$command --help is wider than 80 columns: $lines"
done
# says 'COMMAND …' TEXT: fails if the command does not fail with this message.
says() {
  local said
  # shellcheck disable=SC2086 # words
  said=$("$profiler" $1 2>&1 > /dev/null) && fail "'$1' succeeds"
  [[ $said == "profiler: $2" ]] || fail "'$1' does not say '$2' but: $said"
}
rm -f perf.data.old
says 'diff perf.data' \
  'diff: there is no perf.data.old to compare perf.data with; name both recordings: profiler diff BEFORE perf.data'
says 'diff' 'diff: there is no perf.data.old to compare perf.data with; name both recordings: profiler diff BEFORE AFTER'
inlined='\t40105d mix (inlined)\n\t40105d hot+0xd (/bin/app)\n'
caller='\t401020 main+0x20 (/bin/app)\n'
printf "app 7 1.0: 3 cpu-clock: \n$inlined$caller\napp 7 2.0: 1 cpu-clock: \n\t402000 leaf+0x0 (/bin/app)\n\n" \
  | "$profiler" import - --format perf-script -o inlined.data 2> /dev/null
says 'annotate -i inlined.data mix' \
  "'mix' was inlined into 'hot'; annotate that function: profiler annotate -i inlined.data hot"
says 'annotate -i inlined.data --event cpu-clock main' \
  "'main' has no samples of its own; annotate one of its callees. 75.0 % of cpu-clock passes through it: run profiler annotate --children -i inlined.data --event cpu-clock main to see by which lines"
"$profiler" report -i inlined.data -S mix 2>&1 | grep -q '75.00%' || fail "report -S does not find an inlined function"
printf 'leaf 5\n' | "$profiler" import - --format folded -o flat.data 2> /dev/null
says 'annotate -i flat.data --children leaf' \
  '--children: the recording has no call chains, so no callers are known; record with -g'

page=$("$profiler" help --man record)
[[ $page == *'record where a program spends its time'* ]] || fail "the page of record does not say what it does"

"$profiler" completion csh > /dev/null 2>&1
(($? == 2)) || fail "completion of a shell that there is not"

[[ -z $skipped ]] || echo "SKIPPED: not installed:$skipped"
exit $failed
