#!/usr/bin/env python3
"""examples_test.py PROFILER PAGE…: runs the examples of the documentation.

The example of a page is its first block of code with lines "$ COMMAND". In README.md, tutorial.md and agents.md, all blocks
are examples, and run in their order. A command must end with exit code 0. If the page shows output, the command must print
output, too, with the headings ("# Overhead  Command …") that the page shows.

A block below a line "<!-- not run: REASON -->" is skipped. A page without any example has such a line somewhere.

Commands run in a folder with the tutorial's program (words, words.c, text.txt) and small recordings of it: perf.data and
old.data, new.data (the repaired program), wall.data (--wall-clock). There, `profiler` is PROFILER.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from pages import NOT_RUN, blocks

EVERY_BLOCK = ["README.md", "tutorial.md", "agents.md"]
LIMIT_SECONDS = 60


class Folder:
    """A folder to run commands in."""

    def __init__(self, path, profiler):
        self.path = path
        (path / "bin").mkdir(parents=True)
        (path / "bin" / "profiler").symlink_to(profiler)
        self.environment = {**os.environ, "PATH": f"{path / 'bin'}:{os.environ['PATH']}", "HOME": str(path),
                            "XDG_CACHE_HOME": str(path / "cache"), "LC_ALL": "C.UTF-8"}
        self.environment.pop("DEBUGINFOD_URLS", None)

    def run(self, command):
        """Returns (exit code, text of standard output and standard error)."""
        try:
            done = subprocess.run(["bash", "-c", command], cwd=self.path, env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return 124, f"still running after {LIMIT_SECONDS} s"
        return done.returncode, done.stdout.decode(errors="replace")

    def must_run(self, command):
        code, text = self.run(command)
        if code:
            raise RuntimeError(f"$ {command}\n{text}[ exit code {code} ]")
        return text


def write_source(folder, block):
    """Writes a block of C into the file that its first line names, or in place of a function of words.c."""
    name = re.match(r"// (\S+\.c):", block.text)
    if name:
        (folder.path / name.group(1)).write_text(block.text)
    elif "<!-- replace in words.c -->" in block.before:
        source = folder.path / "words.c"
        head = re.escape(block.lines[0])
        replaced, count = re.subn(rf"^{head}$.*?^}}$\n", lambda _: block.text, source.read_text(), flags=re.DOTALL | re.MULTILINE)
        if count != 1:
            raise RuntimeError(f"words.c has no function {block.lines[0]}")
        source.write_text(replaced)


def same_heading(line):
    """Returns a heading with single blanks between words, or None if the line is not a heading."""
    is_heading = re.match(r"#\s+[A-Z]\w+\s+", line) and not re.search(r"[\d']", line)
    return " ".join(line.split()) if is_heading else None


def wrong_output(shown, text):
    """Returns the difference between the page and the command's output, or None."""
    if any(line.strip() for line in shown) and not text.strip():
        return "the page shows output, but the command printed none"
    printed = {" ".join(line.split()) for line in text.splitlines()}
    for line in shown:
        heading = same_heading(line)
        if heading and heading not in printed:
            return f"the page shows the heading {heading!r}, which was not printed"
    return None


def run_block(folder, page, block):
    """Returns the block's errors, one string per command."""
    errors = []
    for command, shown in block.commands():
        code, text = folder.run(command)
        error = f"exit code {code}" if code else wrong_output(shown, text)
        if error:
            errors.append(f"{page.name}:{block.line}: $ {command}\n  {error}\n" +
                          "".join(f"  | {line}\n" for line in text.splitlines()[-12:]))
    return errors


def prepare(folder, tutorial):
    """Makes the tutorial's program and recordings of it."""
    slow, repaired = [block for block in blocks(tutorial.read_text()) if block.language == "c"]
    write_source(folder, slow)
    write_source(folder, repaired)
    folder.must_run("for i in 1 2 3; do seq 20000; done > text.txt; gcc -O1 -g -o words words.c")
    folder.must_run("profiler record -q -g --no-summary -o new.data -- ./words text.txt")
    write_source(folder, slow)
    folder.must_run("gcc -O1 -g -o words words.c")
    folder.must_run("profiler record -q -g --no-summary -o old.data -- ./words text.txt; cp old.data perf.data")
    folder.must_run("profiler record -q --wall-clock --no-summary -o wall.data -- ./words text.txt")


def run_page(page, fixture, profiler, folder_path):
    """Returns (number of blocks that ran, errors)."""
    text = page.read_text()
    examples = [block for block in blocks(text) if any(block.commands())]
    if not examples:
        reason = NOT_RUN.search(text)
        if not reason:
            return 0, [f"{page.name}: has no example (a block of code with a line \"$ COMMAND\")"]
        print(f"{page.name}: not run: {reason.group(1)}")
        return 0, []
    shutil.copytree(fixture.path, folder_path, symlinks=True)
    shutil.rmtree(folder_path / "bin")
    folder = Folder(folder_path, profiler)
    errors, ran = [], 0
    for block in blocks(text) if page.name in EVERY_BLOCK else examples[:1]:
        if block.language == "c":
            write_source(folder, block)
        elif any(block.commands()):
            reason = block.not_run()
            if reason:
                print(f"{page.name}:{block.line}: not run: {reason}")
                continue
            errors += run_block(folder, page, block)
            ran += 1
    return ran, errors


def a_wrong_example_is_found(folder):
    [block] = blocks("```\n$ printf '# Self Samples\\n'\n# Share  Samples\n$ false\n$ true\nx\n```\n")
    errors = run_block(folder, pathlib.Path("x.md"), block)
    assert len(errors) == 3, errors


def main(profiler, *pages):
    profiler = pathlib.Path(profiler).resolve()
    pages = [pathlib.Path(page) for page in pages]
    tutorial = next(page for page in pages if page.name == "tutorial.md")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        fixture = Folder(scratch / "fixture", profiler)
        a_wrong_example_is_found(fixture)
        if not shutil.which("gcc") or not shutil.which("jq"):
            print("SKIPPED: gcc or jq is not installed (Debian: gcc jq)")
            return 0
        code, text = fixture.run("profiler record -q -o try.data -- true")
        if code:
            print("SKIPPED: this machine does not permit recording:\n" + text)
            return 0
        prepare(fixture, tutorial)
        total, errors = 0, []
        for page in pages:
            ran, wrong = run_page(page, fixture, profiler, scratch / page.name)
            total += ran
            errors += wrong
            shutil.rmtree(scratch / page.name, ignore_errors=True)
    print(f"{total} examples ran")
    print("\n".join(errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
