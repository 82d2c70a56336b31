#!/usr/bin/env python3
"""Compares the totals of all views of a recording, event by event, exactly.

    compare_totals.py PROFILER FILE…

Samples and summed periods of `report`, `summary`, `folded` and `script` must be equal. Prints each event for which
they differ, and exits with 1 if there is one.
"""

import collections
import re
import subprocess
import sys

SAMPLES = re.compile(r"# Samples: .* of events? '(.*)'")
ROW = re.compile(r"\s*(\d+)\s*;\s*(\d+)\s*;")
SCRIPT_LINE = re.compile(r"\s*(\d+)\s+(\S.*?):\s*$")
SUMMARY_LINE = re.compile(r" in (\d+) samples")


def lines(profiler, *arguments):
    done = subprocess.run([profiler, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return done.stdout.decode(errors="replace").splitlines()


def by_report(profiler, file):
    """Returns event → [samples, period], summed over all rows."""
    totals, event = {}, None
    for line in lines(profiler, "report", "-i", file, "--no-children", "-g", "none", "--no-group", "--no-branch-stack",
                      "-F", "sample,period,comm,sym", "-t", ";"):
        heading, row = SAMPLES.match(line), ROW.match(line)
        if heading:
            event = heading.group(1)
            totals[event] = [0, 0]
        elif row and event:
            totals[event][0] += int(row.group(1))
            totals[event][1] += int(row.group(2))
    return totals


def by_script(profiler, file):
    totals = collections.defaultdict(lambda: [0, 0])
    for line in lines(profiler, "script", "-i", file, "-F", "event,period"):
        sample = SCRIPT_LINE.match(line)
        if sample:
            totals[sample.group(2)][0] += 1
            totals[sample.group(2)][1] += int(sample.group(1))
    return totals


def by_summary(profiler, file, event):
    found = [SUMMARY_LINE.search(line) for line in lines(profiler, "summary", "-i", file, "--event", event)]
    return next((int(match.group(1)) for match in found if match), 0)


def by_folded(profiler, file, event):
    return sum(int(line.rsplit(" ", 1)[1])
               for line in lines(profiler, "folded", "-i", file, "--event", event, "--full-names") if " " in line)


def main():
    profiler, files = sys.argv[1], sys.argv[2:]
    events = differences = 0
    for file in files:
        script = by_script(profiler, file)
        for event, (samples, period) in by_report(profiler, file).items():
            events += 1
            summary, folded = by_summary(profiler, file, event), by_folded(profiler, file, event)
            # Without periods, folded counts samples.
            if summary == samples and folded == (period or samples) and script[event] == [samples, period]:
                continue
            differences += 1
            print("%s: %s: report %d/%d, script %d/%d, summary %d, folded %d" %
                  (file, event, samples, period, *script[event], summary, folded))
    print("%d recordings, %d events, %d differ" % (len(files), events, differences))
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
