#!/usr/bin/env python3
"""phrases_test.py PAGE…: checks that pages avoid phrases that CONTRIBUTING.md ("Words") replaces.

Code is not checked.
"""

import pathlib
import re
import sys

from pages import without_code

PHRASES = {
    r"\bbut for\b": "except",
    r"\b(?<!left )(?<!leaves )alone\b": "only",
    r"\bline says so\b": "name the message",
    r"(?<!may )\bas well\b": "also",
    r"(?:^|[.!?:] |\| )(?:Of|The same|Those|Whether|Who|Likewise|As above) ": "begin with a subject",
    r"\b(?:what|who) (?:is|are|was|were|has|had|runs|ran)\b(?!.*\?)": "name the thing",
    r"\btold apart\b": "separated",
    r"\ba sample (?:a|each) second\b|\bsamples a second\b": "per second",
}


def wrong_phrases(text):
    """Yields (line number, phrase, what to write)."""
    text = re.sub(r"`[^`]*`", lambda span: "`" + "\n" * span.group().count("\n") + "`", without_code(text))
    for number, line in enumerate(text.splitlines(), 1):
        for phrase, instead in PHRASES.items():
            for found in re.finditer(phrase, line):
                yield number, found.group().strip(), instead


def main(*pages):
    found = [*wrong_phrases("Of all files, who has `but for`\nthe kernel alone; left alone\n")]
    assert [phrase for _, phrase, _ in found] == ["Of", "who has", "alone"], found
    wrong = [f"{page}:{line}: '{phrase}': {instead}"
             for page in pages for line, phrase, instead in wrong_phrases(pathlib.Path(page).read_text())]
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
