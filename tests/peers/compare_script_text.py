#!/usr/bin/env python3
"""Compares the text of `profiler script` with that of perf script, byte by byte, for common options.

    compare_script_text.py PROFILER PERF FILE... [--options LINE]... [--show N]

Runs both over each recording with each line of options, by default the lines of OPTIONS. COMM, SYM and DSO in a line
stand for the recording's most common command, function and image. If perf refuses a line, ours must refuse it, too.
`perf` must be of Linux 7.2. Names of functions are not compared: compare_script.py does that. If the outputs for a line
of options differ, prints that line and the first N different lines of output, and exits with 1.
"""

import argparse
import collections
import os
import re
import shlex
import subprocess
import sys
import tempfile

OPTIONS = [
    "",
    "--header-only",
    "--header",
    "-F comm,pid,tid,cpu,time,event,ip,sym,dso",
    "-c COMM",
    "-S SYM",
    "--max-blocks 10",
    "--reltime",
    "--deltatime",
    "--reltime --show-mmap-events --show-task-events",
    "--deltatime --ns",
    "-v",
    "--per-event-dump",
    "-F comm,tid,period,callindent,sym",
    "-F +insn",
    "-F ip,insn,insnlen",
    "--comms COMM",
    "-G",
    "--max-stack 3",
    "--dsos DSO",
    "--show-mmap-events",
    "--time 10%-20%",
    "-C 0",
]


def run(program, options, path):
    """Returns the exit code, the output, and the written files by name."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(path), os.path.join(folder, "perf.data"))
        done = subprocess.run([program, "script"] + options, cwd=folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=300)
        files = {}
        for name in sorted(os.listdir(folder)):
            if name != "perf.data":
                with open(os.path.join(folder, name), "rb") as file:
                    files[name] = file.read()
        return done.returncode, done.stdout, files


def most_common(program, path):
    """Returns the command, function and image with the most samples."""
    words = {"COMM": collections.Counter(), "SYM": collections.Counter(), "DSO": collections.Counter()}
    _, text, _ = run(program, ["-f", "-G", "--no-inline", "-F", "comm,ip,sym,dso"], path)
    for line in text.decode(errors="replace").splitlines():
        match = re.match(r"\s*(.*?)\s+[0-9a-f]+ (.*) \((.*)\)$", line)
        if not match:
            continue
        for word, value in zip(words, match.groups()):
            if value != "[unknown]" and "," not in value:
                words[word][value] += 1
    return {word: counts.most_common(1)[0][0] if counts else "none" for word, counts in words.items()}


def lines_of(text):
    """Returns lines without perf's messages about itself, which may differ."""
    text = text.replace(b"[ profiler script: ", b"[ perf script: ")
    # perf reads the size before it has written the last block.
    text = re.sub(rb"Wrote [0-9.]+ MB", b"Wrote", text)
    text = re.sub(rb"# (quality of call chains|names|sums of samples|code) : \d+ bytes\n", b"", text)
    return text.split(b"\n")


def same_unnamed(theirs, ours):
    """True if two lines differ only because perf forgets the name of a thread that has exited."""
    forgotten = re.match(rb"\s*:(\d+)(\s+\1\b.*)", theirs)
    return forgotten and ours.endswith(forgotten.group(2))


def same_place(theirs, ours):
    """True if two lines differ only in the name of the function at an address."""
    named = re.compile(rb"(\t\s*[0-9a-f]+ |.* [0-9a-f]{16} ).*")
    a, b = named.match(theirs), named.match(ours)
    return a and b and a.group(1) == b.group(1)


def differences(ours, theirs):
    if (ours[0] == 0) != (theirs[0] == 0):
        return ["exit code: perf %d, ours %d" % (theirs[0], ours[0])]
    if theirs[0] != 0:
        return []
    found = []
    texts = [("", theirs[1], ours[1])]
    for name in sorted(set(theirs[2]) | set(ours[2])):
        texts.append((name + ": ", theirs[2].get(name, b"(no such file)"), ours[2].get(name, b"(no such file)")))
    for name, their_text, our_text in texts:
        their_lines, our_lines = lines_of(their_text), lines_of(our_text)
        if len(their_lines) != len(our_lines):
            found.append("%sperf %d lines, ours %d" % (name, len(their_lines), len(our_lines)))
        for a, b in zip(their_lines, our_lines):
            if a != b and not same_place(a, b) and not same_unnamed(a, b):
                found.append("%sperf %r\n      %sours %r" % (name, a.decode(errors="replace"), " " * len(name),
                                                              b.decode(errors="replace")))
    return found


def compare(options, path):
    """Returns how many lines of options differ on this recording."""
    words = most_common(options.profiler, path)
    wrong = 0
    for line in options.options or OPTIONS:
        arguments = [words.get(word, word) for word in shlex.split(line)]
        theirs = run(options.perf, ["-f"] + arguments, path)
        found = differences(run(options.profiler, arguments, path), theirs)
        if found:
            wrong += 1
            print("%s: script %s: %d differences" % (path, line, len(found)))
            for difference in found[:options.show]:
                print("    " + difference)
    print("%s: %d of %d lines of options differ" % (path, wrong, len(options.options or OPTIONS)))
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("profiler")
    parser.add_argument("perf")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--options", action="append", metavar="LINE")
    parser.add_argument("--show", type=int, default=1)
    options = parser.parse_args()
    options.profiler, options.perf = os.path.abspath(options.profiler), os.path.abspath(options.perf)
    sys.exit(1 if sum(compare(options, path) for path in options.files) else 0)


if __name__ == "__main__":
    main()
