#!/usr/bin/env python3
"""links_test.py FILE: checks that each link of the pages leads to a file, and to a heading in it.

The source tree is FILE's directory, after following links.
"""

import pathlib
import sys

from pages import anchors, links


def a_missing_file_and_a_missing_heading_are_found():
    page = "# One two\n[a](gone.md) [b](#one-two) [c](#three) `[d](code.md)`\n```\n[e](code.md)\n```\n"
    assert list(links(page)) == [(2, "gone.md"), (2, "#one-two"), (2, "#three")], list(links(page))
    assert anchors(page) == {"one-two"}


def wrong_links(root):
    pages = [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("tests/*/README.md"), *root.glob("src/**/*.md")]
    if len(pages) < 30:
        sys.exit(f"only {len(pages)} pages below {root}")
    for page in sorted(pages):
        for line, target in links(page.read_text()):
            if "://" in target or target.startswith("mailto:"):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                yield f"{page.relative_to(root)}:{line}: {target}: no such file"
            elif anchor and anchor not in anchors(file.read_text()):
                yield f"{page.relative_to(root)}:{line}: {target}: no such heading"


def pages_that_no_page_links(root):
    index = {(root / "docs" / target.partition("#")[0]).resolve() for _, target in links((root / "docs/index.md").read_text())}
    for page in sorted(root.glob("docs/*.md")):
        if page.name != "index.md" and page.resolve() not in index:
            yield f"docs/index.md does not link {page.name}"


def main(file):
    root = pathlib.Path(file).resolve().parent
    a_missing_file_and_a_missing_heading_are_found()
    wrong = [*wrong_links(root), *pages_that_no_page_links(root)]
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main(*sys.argv[1:])
