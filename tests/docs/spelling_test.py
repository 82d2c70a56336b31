#!/usr/bin/env python3
"""spelling_test.py FILE WORDS: checks the spelling of README.md, docs/ and the other pages at the top of the source tree.

The tree is FILE's directory, after following links. codespell finds common mistakes. In README.md and docs/, each word must
also be in the dictionary of Debian's wbritish or in WORDS, which has one word per line. Words in `code` and in blocks of code
are not checked. If a new word is right, add it to WORDS, in lower case and in order.
"""

import pathlib
import re
import shutil
import subprocess
import sys

from pages import without_code

DICTIONARY = pathlib.Path("/usr/share/dict/british-english")


def words(text):
    """Yields (line number, word in lower case) of a page, without code and addresses."""
    # A span of code may continue on the next line.
    text = re.sub(r"`[^`]*`", lambda span: " " + "\n" * span.group().count("\n"), without_code(text))
    text = re.sub(r"\]\([^)]*\)|<[^>\n]+>|https?://\S+", " ", text)
    for number, line in enumerate(text.splitlines(), 1):
        for word in re.findall(r"[A-Za-z][A-Za-z']+", line):
            word = word.lower().rstrip("'")
            yield number, word[:-2] if word.endswith("'s") else word


def a_wrong_word_is_found():
    assert list(words("# Teh `cod\ne` end\n```\nxyz\n```\n[perf's](a.md)\n")) == [(1, "teh"), (2, "end"), (6, "perf")]


def unknown_words(root, pages, known):
    for page in pages:
        for line, word in words(page.read_text()):
            if word not in known:
                yield f"{page.relative_to(root)}:{line}: {word}"


def main(file, list_file):
    root = pathlib.Path(file).resolve().parent
    users_pages = [root / "README.md", *sorted(root.glob("docs/*.md"))]
    pages = sorted({*users_pages, *root.glob("*.md")})
    a_wrong_word_is_found()
    wrong = []
    own = pathlib.Path(list_file).read_text().split()
    if own != sorted(set(own)):
        wrong.append(f"{list_file} is not in order, or has a word twice")
    if DICTIONARY.exists():
        known = {*own, *DICTIONARY.read_text().lower().split()}
        wrong += unknown_words(root, users_pages, known)
    else:
        print(f"SKIPPED: there is no {DICTIONARY} (Debian: wbritish)")
    if shutil.which("codespell"):
        checked = subprocess.run(["codespell", *map(str, pages)], stdout=subprocess.PIPE, check=False)
        wrong += checked.stdout.decode().splitlines()
    else:
        print("SKIPPED: codespell is not installed (Debian: codespell)")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
