#!/usr/bin/env python3
"""openings.py [FOLDER]: finds comments that begin without a subject.

CONTRIBUTING.md ("Words") says how comments begin. Prints FILE:LINE: TEXT for each comment that begins with a
word of OPENINGS, and exits with 1 if there is one.
"""

import pathlib
import re
import sys

OPENINGS = re.compile(
    r"(Of|The same|Those|Whether|What|Whatever|Who|Whoever|Whose|Whom|Where|Wherever|Which|Whichever|Likewise|As above|"
    r"That of|That which|So many|So much|So long|Such|None of|Nothing of|Neither of)\b")
FOLDERS = [".ci", "ringbuf", "src", "symbolize", "tests", "tools"]  # and the files beside them
MARKS = {**dict.fromkeys((".h", ".cc", ".c", ".js", ".mjs", ".go", ".rs", ".java"), "//"),
         **dict.fromkeys(("", ".py", ".sh", ".bzl", ".awk", ".service", ".tsv", ".txt"), "#")}


def mark_of(path):
    """Returns the mark that begins a comment in this file, or None if the file has no comments."""
    return "#" if path.name.startswith("BUILD.") else MARKS.get(path.suffix)


def comments(text, mark):
    """Yields (line, first line of the comment) for each block of comments and for each docstring."""
    in_block = False
    column = -1  # column of the comment behind the code on the previous line; -1: none
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith(mark):
            body = stripped[len(mark):].strip()
            if body and not (in_block and column in (-1, line.index(mark))):
                yield number, body
                column = -1
            in_block = bool(body)
            continue
        in_block = False
        column = -1
        if mark == "#" and stripped.startswith('"""'):
            yield number, stripped.strip('"')
        behind = re.search(r"\s\s" + mark + r" (.*)$", line)
        if behind:
            yield number, behind.group(1)
            in_block = True
            column = behind.start() + 2


def files(root):
    """Yields the files of the source tree that may have comments."""
    for path in sorted([*root.glob("*"), *(path for folder in FOLDERS for path in (root / folder).rglob("*"))]):
        if path.is_file() and mark_of(path):
            yield path


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    wrong = 0
    for path in files(root):
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for number, body in comments(text, mark_of(path)):
            if OPENINGS.match(body):
                print("%s:%d: %s" % (path.relative_to(root), number, body))
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
