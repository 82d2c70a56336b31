#!/usr/bin/env python3
"""commands_test.py PROFILER PAGE…: checks that commands in the pages exist and have the options that the pages use.

Command lines are looked for in blocks of code and in `spans of code` that begin with "profiler".
"""

import pathlib
import re
import subprocess
import sys

from pages import blocks, without_code

GENERAL = {"--help", "--version", "--no-pager", "--no-config", "--color"}


def command_lines(text):
    """Yields each command line that begins with "profiler"."""
    for block in blocks(text):
        has_prompts = any(block.commands())
        for line in block.lines:
            if has_prompts and not re.match(r"(\S*\$|sudo) ", line):
                continue
            line = re.sub(r"\s#\s.*", "", line)
            found = re.match(r"(?:\S*\$ |sudo )*(?:\w+ \d+ )?profiler (.*)", line)
            if found:
                yield found.group(1)
    for span in re.findall(r"`([^`]+)`", without_code(text)):
        span = " ".join(span.split())
        if span.startswith("profiler "):
            yield span[len("profiler "):]


def parts(line):
    """Returns (command, long options) of a command line without "profiler"."""
    line = re.split(r" -- |[|;&>]| profiler ", re.sub(r"'[^']*'|\"[^\"]*\"", "''", line))[0]
    words = line.split()
    command = next((word for word in words if not word.startswith("-")), "")
    return command, re.findall(r"(?<!\S)(--[a-z][a-z-]*)", line)


def text_of(*arguments):
    return subprocess.run(arguments, stdout=subprocess.PIPE, check=True).stdout.decode()


def main(profiler, *pages):
    assert parts("report --json -i 'a --b' | jq --c") == ("report", ["--json"]), parts("report --json -i 'a --b' | jq --c")
    assert [*command_lines("```\n$ profiler x --y  # z\n```\n`profiler a` `--b`\n")] == ["x --y ", "a"]
    commands = re.findall(r"^  ([a-z][a-z-]*) ", text_of(profiler, "--help"), re.MULTILINE)
    options = {command: GENERAL | set(re.findall(r"--[a-z][a-z-]*", text_of(profiler, command, "--help")))
               for command in commands}
    options["fleet"] |= set(re.findall(r"--[a-z][a-z-]*", text_of(profiler, "fleet", "init", "--help")))
    count, wrong = 0, []
    texts = {pathlib.Path(page).name: pathlib.Path(page).read_text() for page in pages}
    for command in commands:
        examples = texts.get(f"{command}.md", "").partition("\n## Examples\n")[2].partition("\n## ")[0]
        if len(re.findall(r"^\| `profiler ", examples, re.MULTILINE)) < 2 + (command != "version"):
            wrong.append(f"docs/{command}.md: has less than three examples")
    for page in pages:
        for line in command_lines(pathlib.Path(page).read_text()):
            command, used = parts(line)
            if not command or command.isupper():
                command = next(iter(commands))
            count += 1
            if command not in options:
                wrong.append(f"{page}: profiler {line}: no such command")
            else:
                wrong += [f"{page}: profiler {line}: no such option: {option}" for option in used
                          if option not in options[command]]
    print(f"{count} command lines")
    print("\n".join(wrong))
    return 1 if wrong or count < 100 else 0


sys.exit(main(*sys.argv[1:]))
