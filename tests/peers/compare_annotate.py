#!/usr/bin/env python3
"""Compares `profiler annotate` with `perf annotate --stdio` on the same recording.

    compare_annotate.py PROFILER PERF FILE SYMBOL...

Percentages of instructions may differ by 0.01 (rounding), and each instruction must be on both sides. With -n, counts
of samples must be equal; with -l, source lines after instructions. Prints every difference and exits with 1 if there is
one. perf 6.1 needs objdump (binutils).
"""

import re
import subprocess
import sys

LINE = re.compile(r"^\s+(\d+(?:\.\d+)?) :\s+([0-9a-f]+):\s")
SOURCE = re.compile(r" // ([^ /]+:[1-9]\d*)$")


def lines_of(command):
    """Returns (address, weight, source line or "") of each instruction."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit("%s: exit %d\n%s" % (" ".join(command), done.returncode, done.stderr.decode()))
    found = []
    for line in done.stdout.decode(errors="replace").splitlines():
        match, source = LINE.match(line), SOURCE.search(line)
        if match:
            found.append((match.group(2), float(match.group(1)), source.group(1) if source else ""))
    return found


def instructions(command):
    """Returns address → percentages. An address has several percentages if several images have a function there."""
    found = {}
    for address, weight, _ in lines_of(command):
        found.setdefault(address, []).append(weight)
    return found


def compare_forms(ours, theirs, symbol):
    """Returns the number of lines that differ, with -n and with -l together."""
    wrong = 0
    for option in ("-n", "-l"):
        a, b = sorted(lines_of(ours + [option])), sorted(lines_of(theirs + [option]))
        if option == "-l":
            # perf prints addresses without a line as image[address].
            a, b = [[line for line in lines if line[2]] for lines in (a, b)]
            a, b = [[(address, source) for address, _, source in lines] for lines in (a, b)]
        for x, y in zip(a, b):
            if x != y:
                print("%s %s: perf %s, ours %s" % (symbol, option, y, x))
        wrong += sum(1 for x, y in zip(a, b) if x != y) + abs(len(a) - len(b))
        print("%s %s: %d lines, ours %d" % (symbol, option, len(b), len(a)))
    return wrong


def main():
    profiler, perf, file, *symbols = sys.argv[1:]
    wrong = 0
    for symbol in symbols:
        our_command = [profiler, "annotate", "--stdio", "-i", file, "-s", symbol]
        their_command = [perf, "annotate", "--stdio", "-f", "-i", file, "-s", symbol]
        ours, theirs = instructions(our_command), instructions(their_command)
        wrong += compare_forms(our_command, their_command, symbol)
        if not theirs:
            print("%s: perf shows nothing: nothing was compared" % symbol)
            wrong += 1
        for address in sorted(set(ours) | set(theirs)):
            a, b = sorted(ours.get(address, [])), sorted(theirs.get(address, []))
            if len(a) != len(b) or any(abs(x - y) > 0.0101 for x, y in zip(a, b)):
                print("%s: %s: perf %s, ours %s" % (symbol, address, b, a))
                wrong += 1
        print("%s: %d instructions, %d with samples" %
              (symbol, len(theirs), sum(1 for percents in theirs.values() if max(percents) > 0)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
