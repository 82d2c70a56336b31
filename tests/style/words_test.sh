#!/bin/sh
# words_test.sh FILE: checks that comments begin with a subject, and that subjects of commits have at most 72
# characters. The source tree is FILE's directory, after following links. Commits before the rule are not checked.
set -eu
root=$(dirname "$(readlink -f "$1")")
here=$(dirname "$(readlink -f "$0")")
python3 "$here/openings.py" "$root" || { echo "CONTRIBUTING.md, \"Words\", says how comments begin"; exit 1; }

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir -p "$made/src"
printf 'int a;  // one\n// Of those that are there.\nint b;  // Whether it is.\n' >"$made/src/a.cc"
printf 'def b():\n    """What it returns."""\n' >"$made/src/b.py"
printf '# Those of the root.\n' >"$made/BUILD"
if python3 "$here/openings.py" "$made" >"$made/found" || [ "$(wc -l <"$made/found")" -ne 4 ]; then
  echo "openings.py does not find wrong comments"
  exit 1
fi

if ! git -C "$root" rev-parse HEAD >/dev/null 2>&1; then
  echo "no history here: subjects of commits are not checked"
  exit 0
fi
long=$(git -C "$root" log --since=2026-11-27T15:29:00Z --format=%s | awk 'length($0) > 72')
[ -z "$long" ] || { printf 'subjects of over 72 characters:\n%s\n' "$long"; exit 1; }
