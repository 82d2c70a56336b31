#!/usr/bin/env python3
"""draw_sentences.py [COUNT [SEED]]: draws sentences of README.md and docs/ at random, for readers who have not seen them.

Prints COUNT (60) sentences and rows of tables, each with its page. SEED: default the hash of the last commit.
"""

import pathlib
import random
import re
import subprocess
import sys

from pages import without_code

SHORTEST = 25  # characters; shorter sentences have nothing to misread


def sentences(text):
    """Yields the sentences of a page, and the rows of its tables."""
    for block in re.split(r"\n\s*\n|\n(?=\* |- |\d+\. |\|)", without_code(text)):
        block = " ".join(block.split())
        if not block or block.startswith(("#", "<!--", "![")) or re.fullmatch(r"[| -]+", block):
            continue
        if block.startswith("|"):
            yield " | ".join(cell.strip() for cell in re.split(r"(?<!\\)\|", block.strip("|")))
        else:
            yield from re.split(r"(?<=[.!?:])\s+(?=[A-Z`*])", block)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    root = pathlib.Path(__file__).resolve().parents[2]
    seed = sys.argv[2] if len(sys.argv) > 2 else subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    found = [(page.relative_to(root), sentence) for page in [root / "README.md", *sorted(root.glob("docs/*.md"))]
             for sentence in sentences(page.read_text()) if len(sentence) >= SHORTEST]
    print("%d of %d sentences, seed %s" % (count, len(found), seed))
    for number, (page, sentence) in enumerate(random.Random(seed).sample(found, count), 1):
        print("\n%d. [%s] %s" % (number, page, sentence))


if __name__ == "__main__":
    main()
