#!/usr/bin/env python3
"""draw_sentences.py [docs|messages|subjects [COUNT [SEED]]]: draws sentences at random, for readers who have not seen them.

docs: sentences and rows of tables of README.md and docs/. messages: texts of messages and of --help, with "…" in the place
of values. subjects: subjects of the last 400 commits. COUNT: 60 by default. SEED: by default the hash of the last commit.
"""

import pathlib
import random
import re
import subprocess
import sys

from pages import without_code

SHORTEST = 25  # characters; shorter sentences have nothing to misread


def sentences(text):
    """Yields the sentences of a page, and the rows of its tables, each with its heading and the sentence before it."""
    heading, before = "", ""
    for block in re.split(r"\n\s*\n|\n(?=\* |- |\d+\. |\|)", without_code(text)):
        block = " ".join(block.split())
        if block.startswith("#"):
            heading, before = block.strip("# "), ""
        if not block or block.startswith(("#", "<!--", "![")) or re.fullmatch(r"[| -]+", block):
            continue
        if block.startswith("|"):
            found = [" | ".join(cell.strip() for cell in re.split(r"(?<!\\)\|", block.strip("|")))]
        else:
            found = re.split(r"(?<=[.!?:])\s+(?=[A-Z`*])", block)
        for sentence in found:
            yield heading, before, sentence
            before = sentence


def messages(source):
    """Yields the texts in a C++ file that users read: string literals of several words, joined where they stand together."""
    code = re.sub(r"^\s*(//|#include).*$", "", source, flags=re.M)
    literal = r'(?<![\w)])"(?:[^"\\\n]|\\.)*"'
    value = r'(?:\s*,\s*(?!")[\w:.()\[\]>*+ -]+?\s*,\s*|\s+)'
    for match in re.finditer(literal + "(?:" + value + literal + ")*", code):
        parts = re.split(r'"\s*,[^"]*,\s*"', match.group())
        text = "…".join(re.sub(r'"\s*"', "", part).strip('"') for part in parts)
        text = " ".join(text.replace("\\n", " ").replace('\\"', '"').split())
        if len(re.findall(r"[a-z]{2,}", text)) >= 5 and not re.search(r"[{};\\]|</|::", text):
            yield text


def git(root, *arguments):
    return subprocess.run(["git", "-C", str(root), *arguments], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


def drawn_from(kind, root):
    if kind == "subjects":
        return [("commit", subject) for subject in git(root, "log", "-400", "--no-merges", "--format=%s").splitlines()]
    if kind == "messages":
        files = [file for file in sorted(root.glob("src/**/*.cc")) if not re.search(r"_test\.cc|/testing/", str(file))]
        return [(file.relative_to(root), text) for file in files for text in messages(file.read_text())]
    return [("%s: %s] [before: %s" % (page.relative_to(root), heading, before or "-"), sentence)
            for page in [root / "README.md", *sorted(root.glob("docs/*.md"))]
            for heading, before, sentence in sentences(page.read_text()) if len(sentence) >= SHORTEST]


def main():
    kind = sys.argv[1] if len(sys.argv) > 1 else "docs"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    root = pathlib.Path(__file__).resolve().parents[2]
    seed = sys.argv[3] if len(sys.argv) > 3 else git(root, "rev-parse", "HEAD")
    found = drawn_from(kind, root)
    print("%d of %d %s, seed %s" % (count, len(found), kind, seed))
    for number, (place, sentence) in enumerate(random.Random(seed).sample(found, count), 1):
        print("\n%d. [%s] %s" % (number, place, sentence))


if __name__ == "__main__":
    main()
