#!/usr/bin/env python3
"""draw_comments.py [COUNT [SEED]]: draws comments of C++ files at random, for readers who have not seen the code.

Prints COUNT (100) comments, each with its file and the line of code behind it. SEED: default the hash of the last commit.
"""

import pathlib
import random
import re
import subprocess
import sys

FOLDERS = ["ringbuf", "src", "symbolize", "tests", "tools"]


def blocks(path):
    """Yields (line, comment, line of code) for each comment."""
    lines = path.read_text().splitlines()
    i = 0
    while i < len(lines):
        stripped = lines[i].strip()
        behind = re.match(r"(.*\S)\s\s// (.*)$", lines[i])
        if stripped.startswith("//") and not re.match(r"//\s*(NOLINT|clang-format)", stripped):
            first, text = i, []
            while i < len(lines) and lines[i].strip().startswith("//"):
                text.append(lines[i].strip()[2:].strip())
                i += 1
            yield first + 1, "\n".join(text), lines[i].strip() if i < len(lines) else ""
        elif behind and not re.match(r"NOLINT|namespace", behind.group(2)):
            yield i + 1, behind.group(2), behind.group(1).strip()
            i += 1
        else:
            i += 1


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    root = pathlib.Path(__file__).resolve().parents[2]
    seed = sys.argv[2] if len(sys.argv) > 2 else subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    found = [(path.relative_to(root), *block) for folder in FOLDERS for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".h", ".cc") for block in blocks(path)]
    chosen = random.Random(seed).sample(found, count)
    print("%d of %d comments, seed %s" % (count, len(found), seed))
    for number, (path, line, comment, code) in enumerate(chosen, 1):
        print("\n%d. %s:%d\n%s\n    code: %s" % (number, path, line, comment, code))


if __name__ == "__main__":
    main()
