#!/usr/bin/env python3
"""Compares our `script` with perf's on recordings with copied stacks, sample by sample and line by line.

    compare_script.py PROFILER PERF FILE... [--show N]

Both unwind the copied stacks while they print. If the chains have the same addresses, all lines must be equal;
otherwise the result says which chain stops early. Runs of blanks count as one, because columns differ between versions
of perf. perf 6.1 prints user addresses relative to their image, so only the offset within the page is compared; it also
prints no parameters, so perf 7.2 is better for names. Both programs take names from this machine's files, so the
recordings should come from it. Prints a line for each file and the first N differences. Exits with 1 if samples or
lines differ that should not.
"""

import argparse
import collections
import re
import sys

from compare_report import run

FIELDS = "comm,pid,tid,time,event,period,ip,sym,symoff,dso"
KERNEL = 1 << 63
NOWHERE = (1 << 64) - 1


def samples(text):
    """Returns (head line, chain lines) of each sample; the innermost frame first."""
    found = []
    for line in text.splitlines():
        if line.startswith("\t"):
            # perf 6.1 ends a lost chain with a frame at address -1.
            if address(line) != NOWHERE:
                found[-1][1].append(" ".join(line.split()))
        elif line.strip():
            # perf appends modifiers of the attr to events without a name in the file: cycles:H.
            found.append((re.sub(r":[HG]+:$", ":", " ".join(line.split())), []))
    return found


def address(line):
    return int(line.split()[0], 16)


def name(line):
    return line.split(" ", 1)[1]


def same_place(ours, perfs):
    a, b = address(ours), address(perfs)
    return a == b or (a < KERNEL and a % 4096 == b % 4096)


def verdict(ours, perfs):
    """Returns how the two chains of one sample agree."""
    for i, (a, b) in enumerate(zip(ours, perfs)):
        if not same_place(a, b):
            return "other frame"
    if len(perfs) < len(ours):
        return "perf stops early"
    if len(perfs) > len(ours):
        return "we stop early"
    return "equal" if list(map(name, ours)) == list(map(name, perfs)) else "other names"


def compare(profiler, perf, path, show):
    """Counts the verdicts. Also returns True if all required lines are equal."""
    ours = samples(run([profiler, "script", "--no-inline", "-F", FIELDS, "-i", path]))
    theirs = samples(run([perf, "script", "--no-inline", "-f", "-F", FIELDS, "-i", path]))
    counts = collections.Counter()
    shown = 0
    for (our_head, our_chain), (their_head, their_chain) in zip(ours, theirs):
        what = verdict(our_chain, their_chain) if our_head == their_head else "other head"
        counts[what] += 1
        if what != "equal" and shown < show:
            shown += 1
            print("%s: %s\n  ours:  %s\n  perf:  %s" % (path, what, "\n         ".join([our_head] + our_chain),
                                                       "\n         ".join([their_head] + their_chain)))
    print("%s: %d samples%s, %s" % (path, len(theirs), "" if len(ours) == len(theirs) else ", ours %d" % len(ours),
                                    ", ".join("%d %s" % (counts[what], what) for what in sorted(counts))))
    return len(ours) == len(theirs) and theirs and not counts["other head"] and not counts["other names"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("profiler")
    parser.add_argument("perf")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    good = [compare(options.profiler, options.perf, path, options.show) for path in options.files]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
