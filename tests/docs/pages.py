"""Reads pages of docs/: their blocks of code, links, headings and prose."""

import re

NOT_RUN = re.compile(r"<!-- not run: (.+) -->")


class Block:
    """A fenced block of code."""

    def __init__(self, line, language, before):
        self.line = line          # line number of the opening fence
        self.language = language  # text after the opening fence
        self.before = before      # last non-empty line before the block
        self.lines = []

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"

    def not_run(self):
        """Returns the reason why a test cannot run the block's commands, or None."""
        found = NOT_RUN.search(self.before)
        return found.group(1) if found else None

    def commands(self):
        """Yields (command, lines of output) for each line that begins with "$ "."""
        command, output = None, []
        for line in self.lines:
            if line.startswith("$ "):
                if command:
                    yield command, output
                command, output = line[2:], []
            elif command:
                output.append(line)
        if command:
            yield command, output


def blocks(text):
    """Returns the blocks of code of a page."""
    found, block, before = [], None, ""
    for number, line in enumerate(text.splitlines(), 1):
        if block:
            if line.strip() == "```":
                found.append(block)
                block, before = None, ""
            else:
                block.lines.append(line)
        elif line.startswith("```"):
            block = Block(number, line[3:].strip(), before)
        elif line.strip():
            before = line
    return found


def without_code(text):
    """Returns the text with empty lines instead of blocks of code."""
    lines, inside = [], False
    for line in text.splitlines():
        fence = line.startswith("```")
        lines.append("" if inside or fence else line)
        inside ^= fence
    return "\n".join(lines)


def anchors(text):
    """Returns the anchors that GitHub gives to the headings of a page."""
    found = set()
    for heading in re.findall(r"^#{1,6} (.+)$", without_code(text), re.MULTILINE):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number, unique = 0, slug
        while unique in found:
            number += 1
            unique = f"{slug}-{number}"
        found.add(unique)
    return found


def links(text):
    """Yields (line number, target) of each link and picture of a page."""
    for number, line in enumerate(without_code(text).splitlines(), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            yield number, target
