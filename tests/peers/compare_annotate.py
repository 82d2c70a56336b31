#!/usr/bin/env python3
"""Compares `profiler annotate` with `perf annotate --stdio` on the same recording.

    compare_annotate.py PROFILER PERF FILE SYMBOL...

Each instruction's percentage may differ by 0.01 (rounding); none may be missing on either side. Prints every
difference and exits 1 when there is one. perf 6.1 annotates with objdump, so binutils must be there.
"""

import re
import subprocess
import sys

LINE = re.compile(r"^\s+(\d+\.\d+) :\s+([0-9a-f]+):\s")


def instructions(command):
    """address → percentages, one a function that has it (of several images)."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit("%s: exit %d\n%s" % (" ".join(command), done.returncode, done.stderr.decode()))
    found = {}
    for line in done.stdout.decode(errors="replace").splitlines():
        match = LINE.match(line)
        if match:
            found.setdefault(match.group(2), []).append(float(match.group(1)))
    return found


def main():
    profiler, perf, file, *symbols = sys.argv[1:]
    wrong = 0
    for symbol in symbols:
        ours = instructions([profiler, "annotate", "-i", file, symbol])
        theirs = instructions([perf, "annotate", "--stdio", "-f", "-i", file, "-s", symbol])
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
