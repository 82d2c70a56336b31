#!/usr/bin/env python3
"""Compares our views of branch stacks with perf's, for recordings of `perf record -b` and `--call-graph lbr`.

    compare_branches.py PROFILER PERF FILE... [--show N]

Compares `script -F ip,sym,brstack` line by line: addresses, names, and each branch with its flags. If the processor
kept the call chain, also compares `script` with its default fields, and `report`. compare_report.py compares `report`
of taken branches. `perf` must be of Linux 7.2.

Known differences are counted separately. They are not errors:

  kernel names   perf names a kernel of another build by this machine's kallsyms; ours leaves it unnamed
  entry          below the kernel's part of a kept call chain, perf repeats the kernel's address; ours has the user
                 instruction that entered the kernel

Prints equal and different lines of each file, and the first N differences. Exits with 1 if there is a difference.
"""

import argparse
import collections
import re
import subprocess
import sys

KERNEL = 1 << 63
LINE = re.compile(r"^(?:.*: )?\s*([0-9a-f]+)(?: ([^ ].*?))??( 0x.*)?$")


def lines_of(program, path, fields):
    command = [program, "script", "-f", "-i", path] + (["-F", fields] if fields else [])
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          timeout=600)
    if done.returncode != 0:
        sys.exit("%s: exit %d" % (" ".join(command), done.returncode))
    return done.stdout.decode(errors="replace").splitlines()


def cause(ours, perfs, last_kernel):
    """Returns the known difference between two lines, or None."""
    a, b = LINE.match(ours), LINE.match(perfs)
    if not a or not b:
        return None
    at, their_at = int(a.group(1), 16), int(b.group(1), 16)
    if a.group(3) != b.group(3):
        return None
    if at == their_at and at >= KERNEL:
        return "kernel names"
    if at < KERNEL and last_kernel is not None and their_at >= KERNEL:
        return "entry"
    return None


def compare(options, path, fields, counts):
    """Counts lines by their agreement. Returns the differences."""
    ours, perfs = (lines_of(program, path, fields) for program in (options.profiler, options.perf))
    found = []
    if len(ours) != len(perfs):
        found.append("perf %d lines, ours %d" % (len(perfs), len(ours)))
    last_kernel = None
    for a, b in zip(ours, perfs):
        match = LINE.match(b)
        same = a == b
        why = None if same else cause(a, b, last_kernel)
        if same or why:
            counts[why or "equal"] += 1
        else:
            found.append("perf %r\n      ours %r" % (b[:150], a[:150]))
        last_kernel = int(match.group(1), 16) if match and int(match.group(1), 16) >= KERNEL else None
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("profiler")
    parser.add_argument("perf")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--show", type=int, default=2)
    options = parser.parse_args()
    wrong = 0
    for path in options.files:
        for fields in ("ip,sym,brstack", "ip,sym", None):
            counts = collections.Counter()
            found = compare(options, path, fields, counts)
            text = ", ".join("%d %s" % (count, name) for name, count in counts.most_common())
            print("%s: script %s: %s, %d differ" % (path, "-F " + fields if fields else "", text, len(found)))
            for difference in found[:options.show]:
                print("    " + difference)
            wrong += len(found)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
