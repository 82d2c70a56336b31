#!/usr/bin/env python3
"""Compares our flat report and call graph with perf's on the same recording.

    compare_report.py PROFILER PERF FILE [--rows 50] [--points 0.01]

Compares the largest rows of perf's report, with and without --children. Percentages may differ by the given points
(rounding), no row may be missing, and sample counts must be equal. Lines of the call graph must be equal if both
programs name the same symbol. Ours runs with --no-fde, because perf does not know functions without a symbol, and
extends a symbol without a size to the next one. Prints every difference, and exits with 1 if there is one.
"""

import argparse
import collections
import re
import subprocess
import sys

ROW = re.compile(r"^\s+(\d+\.\d+)%(?:\s+(\d+\.\d+)%)?\s+(\S.*)$")
BRANCH = re.compile(r"(\d+\.\d+)%--(.*)$")


def run(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit("%s: exit %d\n%s" % (" ".join(command), done.returncode, done.stderr.decode()))
    return done.stdout.decode(errors="replace")


def plain(name):
    """Returns a row's name without differences between versions of perf: 7.2 prints parameter lists and marks kernel
    callers [.]; 6.1 does neither. Runs of blanks, which pad columns, count as one. Code without a file gets the name
    of perf's script."""
    name = " ".join(re.sub(r" \[[.kguH]\] ", " ", name).split())
    name = re.sub(r"\[JIT\] tid (\d+)", r"/tmp/perf-\1.map", name)
    kept, depth = "", 0
    for i, letter in enumerate(name):
        if depth == 0 and letter == "(" and not name.startswith("(anonymous namespace)", i) \
                and not kept.endswith("operator"):
            depth = 1
        elif depth > 0:
            depth += (letter == "(") - (letter == ")")
        else:
            kept += letter
    return re.sub(r" const(?=$| )", "", kept)


def rows(text):
    """Returns (section, row name) → percentages, summed over rows of the same name (overloads)."""
    found = collections.OrderedDict()
    section = ""
    for line in text.splitlines():
        if "of event" in line:
            section = line.split("of event")[1].strip()
        match = ROW.match(line)
        if match and "--" not in line.split("%")[-1][:2]:
            key = (section, plain(match.group(3)))
            percents = [float(percent) for percent in match.groups()[:2] if percent]
            found[key] = tuple(map(sum, zip(percents, found[key]))) if key in found else tuple(percents)
    return found


def branches(text):
    """Counts each `NN.NN%--symbol` line of the call graphs."""
    return collections.Counter(
        (plain(match.group(2)), match.group(1)) for match in map(BRANCH.search, text.splitlines()) if match)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("profiler")
    parser.add_argument("perf")
    parser.add_argument("file")
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--points", type=float, default=0.01)
    options = parser.parse_args()

    wrong = 0
    for children in ("--children", "--no-children"):
        command = ["report", "--stdio", "--no-inline", "-g", "none", children, "-i", options.file]
        theirs = rows(run([options.perf] + command + ["-f"]))
        ours = rows(run([options.profiler] + command + ["--no-fde"]))
        largest = sorted(theirs.items(), key=lambda item: -item[1][0])[:options.rows]
        if not largest:
            print("perf shows no rows: nothing was compared")
            wrong += 1
        for key, expected in largest:
            got = ours.get(key)
            if got is None:
                print("%s: missing: %s %s" % (children, expected, key[1]))
                wrong += 1
            elif len(got) != len(expected) or any(
                    abs(a - b) > options.points + 1e-9 for a, b in zip(got, expected)):
                print("%s: differs: perf %s, ours %s: %s" % (children, expected, got, key[1]))
                wrong += 1
        print("%s: %d rows compared of perf's %d, ours %d" % (children, len(largest), len(theirs), len(ours)))

    counts = [re.findall(r"SAMPLE events:\s+(\d+)", run([tool, "report", "--stats", "--stdio", "-i", options.file]))
              for tool in (options.perf, options.profiler)]
    if counts[0] != counts[1] or not counts[0]:
        print("sample counts differ: perf %s, ours %s" % tuple(counts))
        wrong += 1

    command = ["report", "--stdio", "--no-inline", "--children", "-i", options.file]
    theirs = branches(run([options.perf] + command + ["-f"]))
    ours = branches(run([options.profiler] + command + ["--no-fde"]))
    missing = theirs - ours
    surplus = ours - theirs
    print("call graph: %d lines in perf's, %d not in ours, %d only in ours" %
          (sum(theirs.values()), sum(missing.values()), sum(surplus.values())))
    for (name, percent), _ in list(missing.items())[:10]:
        print("  only perf:  %s%%--%s" % (percent, name))
    for (name, percent), _ in list(surplus.items())[:10]:
        print("  only ours:  %s%%--%s" % (percent, name))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
