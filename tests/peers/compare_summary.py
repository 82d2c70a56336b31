#!/usr/bin/env python3
"""Compares `summary` with perf's report and our own report of the same recordings.

    compare_summary.py PROFILER PERF FILE…

Compares the first event of each recording: samples and their sum, functions, threads and modes with perf's report;
names, chains and losses with the lines above our own report. If samples are missing, shares are not compared, because
only `summary` corrects shares for missing samples. Prints each different line, and exits with 1 if there is one.
"""

import json
import re
import subprocess
import sys
import tempfile

NOWHERE = tempfile.TemporaryDirectory()
COMMON = ["--no-inline", "--symfs", NOWHERE.name]


def run(arguments):
    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False)
    return done.stdout.decode(errors="replace")


def bare(event):
    """Returns an event's name without modifiers."""
    return re.sub(r":[a-zA-Z]{1,4}$", "", event)


def rows(text, event):
    """Returns the cells of the event's table; the first cells are percentages."""
    found, is_wanted = [], False
    for line in text.splitlines():
        heading = re.match(r"# Samples: .* of events? '(.*)'", line)
        if heading:
            is_wanted = bare(heading.group(1)) == bare(event)
        elif is_wanted and not line.startswith("#") and ";" in line:
            found.append([cell.strip() for cell in line.split(";")])
    return found


def percent(cell):
    return float(cell.rstrip("%")) / 100


def summed(cells, key, weight=0):
    sums = {}
    for row in cells:
        name = re.sub(r"^\[.\] ", "", row[key])
        sums[name] = sums.get(name, 0) + percent(row[weight])
    return sums


class Recording:
    def __init__(self, profiler, perf, path):
        self.profiler, self.perf, self.path = profiler, perf, path
        self.wrong, self.lines = [], 0
        self.summary = json.loads(run([profiler, "summary", "--json", "-i", path, *COMMON]))
        self.ours = run([profiler, "report", "-i", path, "-g", "none", "--no-group", "--no-children", *COMMON])

    def by_perf(self, *options):
        return rows(run([self.perf, "report", "--stdio", "-f", "-i", self.path, "-g", "none", "--no-children",
                         "--no-branch-stack", "-t", ";",
                         *options, *COMMON]), self.summary["event"])

    def check(self, what, said, expected, within=0.0002):
        self.lines += 1
        if abs(said - expected) > within:
            self.wrong.append("%s: %s: summary says %s, and it is %s" % (self.path.split("/")[-1], what, said, expected))

    def compare(self):
        summary = self.summary
        counted = self.by_perf("-F", "overhead,sample,period,comm")
        if not counted:
            return False
        self.check("samples", summary["samples"], sum(int(row[1]) for row in counted))
        self.check("amount", summary["amount"], sum(int(row[2]) for row in counted))
        if summary["missing"] == 0:
            self.compare_shares(counted)
        self.compare_lines_of_report()
        return True

    def compare_shares(self, counted):
        # Percentages have two digits, so sums of many rows accumulate rounding errors.
        comms = summed(counted, 3)
        for thread in self.summary["threads"]:
            # perf truncates names that appear after it has laid out its columns.
            share = next((share for name, share in comms.items() if name == thread["name"]),
                         next((share for name, share in comms.items()
                               if len(name) >= len("Command") and thread["name"].startswith(name)), 0))
            self.check("thread " + thread["name"], thread["share"], share, within=0.0001 * len(counted))
        symbols = self.by_perf("-s", "sym", "-F", "overhead,sym")
        named = summed(symbols, 1)
        for function in self.summary["functions"]:
            if function["function"] in named and not function["function"].startswith("["):
                self.check("function " + function["function"], function["self"]["share"], named[function["function"]])
        modes = self.by_perf("-F", "overhead_us,overhead_sys,comm")
        outside = self.summary["modes"]
        self.check("user", outside["user"], sum(percent(row[0]) for row in modes), within=0.0001 * len(modes))
        self.check("kernel and idle", outside["kernel"] + outside["idle"], sum(percent(row[1]) for row in modes),
                   within=0.0001 * len(modes))
        self.check("all modes", sum(outside.values()), 1, within=1e-9)
        listed = sum(function["self"]["share"] for function in self.summary["functions"])
        self.check("all functions", listed + self.summary["others"]["share"], 1, within=1e-9)
        path = [step["share"] for step in self.summary["path"]]
        self.check("a path that only gets less", float(path != sorted(path, reverse=True)), 0)

    def compare_lines_of_report(self):
        names = re.search(r"^# Names: ([0-9.]+)% by symbol", self.ours, re.MULTILINE)
        if names and self.summary["missing"] == 0:
            self.check("names", self.summary["named"], float(names.group(1)) / 100)
        chains = re.search(r"^# Call chains: ([0-9.]+)% of (\d+)", self.ours, re.MULTILINE)
        unwound = self.summary["chains"]["unwound"]
        if chains:
            self.check("chains", unwound, int(chains.group(2)))
            self.check("whole chains", self.summary["chains"]["whole"] / max(1, unwound), float(chains.group(1)) / 100)
        lost = re.search(r"^# Losses: (\d+) records lost", self.ours, re.MULTILINE)
        self.check("lost records", self.summary["losses"]["lost_records"], int(lost.group(1)) if lost else 0)


def main(profiler, perf, *paths):
    compared = lines = 0
    wrong = []
    for path in paths:
        try:
            recording = Recording(profiler, perf, path)
        except ValueError:
            continue  # no recording
        if recording.compare():
            compared += 1
            lines += recording.lines
            wrong += recording.wrong
    print("\n".join(wrong + ["%d recordings, %d figures, %d differ" % (compared, lines, len(wrong))]))
    sys.exit(1 if wrong or compared == 0 else 0)


main(*sys.argv[1:])
