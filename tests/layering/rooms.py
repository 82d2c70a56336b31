"""rooms.py ROOT: checks the rooms of the source tree.

ARCHITECTURE.md lists them, from the highest to the lowest. A room includes only headers of its own line and of lower lines.
Each BUILD file begins with a comment that says what the room is for. Tests, and their helpers in folders named testing, may
include anything. Prints what is wrong, and exits with 1 if there is something.
"""

import pathlib
import re
import sys

SHIPPED = ("src", "symbolize", "ringbuf")
INCLUDE = re.compile(r'^#include "((?:src|symbolize|ringbuf)/[^"]+)"', re.MULTILINE)


def is_test(path):
    return path.name.endswith(("_test.cc", "_benchmark.cc")) or "testing" in path.parts or "testdata" in path.parts


def listed_rooms(root):
    """Returns the line of each listed path; line 0 is the highest."""
    text = (root / "ARCHITECTURE.md").read_text()
    block = re.search(r"from the highest to the lowest:\n\n```\n(.*?)```", text, re.DOTALL)
    lines = {}
    for number, line in enumerate(block[1].splitlines() if block else []):
        first = None if line.startswith(" ") else line.split()[0]
        for name in line.split():
            places = [f"src/{first}/{name}", f"src/{name}", name]
            found = [place for place in places if (root / place).is_dir()]
            if not found:
                sys.exit(f"ARCHITECTURE.md lists a room that does not exist: {name}")
            lines[found[0]] = number
    return lines


def line_of(path, lines):
    """Returns the line of the innermost listed room that contains the file; None if there is none."""
    for parent in pathlib.PurePosixPath(path).parents:
        if str(parent) in lines:
            return lines[str(parent)]
    return None


def wrong_includes(root, lines):
    for top in SHIPPED:
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".h", ".cc") or is_test(path.relative_to(root)):
                continue
            name = path.relative_to(root).as_posix()
            line = line_of(name, lines)
            if line is None:
                yield f"{name}: ARCHITECTURE.md does not list its room"
                continue
            for included in INCLUDE.findall(path.read_text(errors="replace")):
                other = line_of(included, lines)
                if other is not None and other < line:
                    yield f"{name}: {included} is in a higher room"


def rooms_without_purpose(root):
    for top in SHIPPED:
        for build in sorted((root / top).rglob("BUILD")):
            if "testdata" in build.parts:
                continue
            head = build.read_text().splitlines()[0]
            if not head.startswith("# ") or len(head) < 20:
                yield f"{build.relative_to(root)}: the first line is no comment that says what the room is for"


def main():
    root = pathlib.Path(sys.argv[1])
    lines = listed_rooms(root)
    wrong = list(wrong_includes(root, lines)) + list(rooms_without_purpose(root))
    print("\n".join(wrong))
    sys.exit(1 if wrong or not lines else 0)


main()
