#!/usr/bin/env python3
"""glossary_test.py concepts.md FILE.cc…: checks that each word printed by these files is plain English, or explained in
docs/concepts.md.

Explained words are bold there. If you add a word to `profiler summary`, explain it there; or add it to PLAIN below, if a
child knows it.
"""

import re
import sys

PLAIN = set("""
a about all an and annotate are around as because before began below busiest by call called caller chance code
corrected counted counts do done each early elsewhere end ended few figures first followed for from get goes hardly
has have heaviest how in instructions is it its keep known later left lines loses make many mend missing more most
needed no nobody none not nothing of on one or other out own path picture process programs ran rank recorded rest see
share shares shows so some source started taken tell than that the their them themselves then there they those threads
times to too took try types unknown up user visibly waiting waits was were what where which who whole whom why with
without would your
""".split())
# Names of commands and options of this program, which --help explains.
COMMANDS = {"profiler", "report", "record", "annotate", "flamegraph", "summary", "flame", "svg", "unresolved", "chains",
            "no-children", "no-interpreters", "comm", "tid", "command", "perf", "data", "map", "off-cpu"}
# Parts of other programs' names, which their own pages explain.
OTHERS = {"python", "pythonperfsupport", "py"}


def explained(page):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    return {word.lower() for phrase in re.findall(r"\*\*([^*]+)\*\*", text) for word in re.findall(r"[\w%-]+", phrase.replace("_", " "))}


def printed(path):
    """Yields the words of a file's string literals, without includes and printf conversions."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^(#include|\s*//).*$", "", file.read(), flags=re.MULTILINE)
    for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
        yield from (word.lower() for word in re.findall(r"[A-Za-z][A-Za-z-]+", re.sub(r"%[-*.0-9]*[a-z]", " ", literal)))


def main(page, *files):
    known = PLAIN | COMMANDS | OTHERS | explained(page)
    known |= {word + "s" for word in known} | {word[:-1] for word in known if word.endswith("s")}
    words = {word for path in files for word in printed(path)}
    if len(words) < 50:
        sys.exit(f"only {len(words)} words were found in {files}: this test no longer sees the text")
    unknown = sorted(words - known)
    if unknown:
        sys.exit(f"words that docs/concepts.md does not explain: {', '.join(unknown)}")


main(*sys.argv[1:])
