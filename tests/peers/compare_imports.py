#!/usr/bin/env python3
"""Compares the totals of imported pprof profiles with those of `go tool pprof -raw`.

compare_imports.py PROFILER FILE...
"""
import re
import subprocess
import sys


def pprof_totals(path):
    """By type of value: the sum over all samples, as pprof reads them."""
    raw = subprocess.run(["go", "tool", "pprof", "-raw", path], capture_output=True, text=True, check=True).stdout
    lines = raw.splitlines()
    start = lines.index("Samples:")
    types = [name.split("/")[0] for name in lines[start + 1].split()]
    totals = [0] * len(types)
    for line in lines[start + 2:]:
        if line.startswith("Locations"):
            break
        sample = re.match(r"^ +(-?\d+(?: +-?\d+)*):", line)
        if sample:
            for i, value in enumerate(sample.group(1).split()):
                totals[i] += int(value)
    return dict(zip(types, totals))


def our_total(profiler, path, event):
    """The sum of the folded stacks of an event."""
    folded = subprocess.run([profiler, "folded", "--full-names", "--event", event, "-i", path],
                            capture_output=True, text=True, errors="replace", check=True).stdout
    return sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())


def main():
    differences = 0
    for path in sys.argv[2:]:
        for event, total in pprof_totals(path).items():
            if event == "samples":  # how many there are of the event behind it
                continue
            ours = our_total(sys.argv[1], path, event)
            print(f"{'same' if ours == total else 'DIFFERENT'} {path} {event}: {ours}, pprof {total}")
            differences += ours != total
    return differences != 0


sys.exit(main())
