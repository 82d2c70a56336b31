#!/usr/bin/env python3
"""Compares the text of `report` with perf's, for common options.

    compare_text.py PROFILER PERF FILE… [--foreign] [--rows 200] [--line OPTIONS] [--verbose]

Runs each line of options with both programs on each recording. Headings and rows must be equal and in the same order;
only rows of equal weight may be in any order. Runs of blanks count as one, and names are compared as in
compare_report.py. Call graphs are left out unless the line requests one. Known differences are counted with their
reason, and are no failures. Exits with 1 if there is any other difference.

--foreign is for recordings of other machines: then neither program reads files of this machine. Without it, perf would
name any kernel code by this machine's kernel.
"""

import argparse
import collections
import re
import shlex
import subprocess
import sys
import tempfile

from compare_report import plain

LINES = [
    "-F overhead,comm,dso,sym", "--fields overhead,sample,period,sym", "-F sym,overhead", "-F overhead",
    "-F +period", "-F overhead_children,overhead,sym", "-F overhead_us,overhead_sys,comm,sym",
    "-F overhead,sym -s comm", "--no-children -F overhead_children,overhead,sym",
    "--sort overhead,comm,sym", "-s overhead_children,sym", "-s comm,overhead,sym --no-children",
    "-s sym,sample,period", "-s +cpu", "-s comm,overhead_sys,sym",
    "--comm {comm}", "-c {comm} -s comm", "-S {symbol}", "-d {dso} --no-children", "--symbol-filter={part}",
    "--no-children -t,", "-t: -F pid,overhead", "-w 10,20,40", "-w 0,0,4,5,9", "-n --show-total-period",
    "-t, -w 20,20", "--showcpuutilization", "--showcpuutilization -n --no-children",
    "-p {symbol}", "-p {symbol} -x", "--parent {symbol} -s parent", "-x -p {symbol} -s parent,sym --no-children",
    "--no-children --ignore-callees={symbol}", "-U", "-U --no-children", "--socket-filter 0",
    "-s socket --no-children", "-s comm_nodigit", "-s time --no-children", "-s time,comm --no-children --time-quantum 20ms",
    "-s cgroup --no-children", "-s trace --no-children", "--time 10%/2", "--time 10%-30%,50%-60%", "--time 10%/1,10%/3",
    "--time 20% --no-children", "--skip-empty", "--raw-trace", "-T", "-I", "--total-cycles", "--percent-limit 5",
    "--kallsyms=/proc/kallsyms", "--hierarchy --no-children", "--hierarchy --no-children -s comm,sym -F overhead,sample",
    "--tasks", "--mmaps",
]

# Known differences between lines: (text in the line, reason).
KNOWN = [
    (r"--hierarchy.*-F", "the levels of a hierarchy are the keys of --sort here, and --fields is refused"),
    (r"--socket-filter", "samples that do not say their CPU are refused here, where perf shows an empty report"),
    (r"--hierarchy(?!.*--no-children)", "perf has no weight of callees above the last level"),
    (r"--ignore-callees", "perf looks at no chains with -g none, and forgets callers with --children"),
    (r"--mmaps", "perf shows the mappings of a process once a thread, and every one as shared"),
    (r"^-U", "perf says that there are no samples where none has a symbol"),
    (r"--symbol-filter", "perf lets code without a symbol pass, and here it has no name with the text in it"),
    (r"(^|\s)(-p|--parent) ", "perf has no rows where samples have no call chains, and here they are [other]"),
    (r"-s (time|cgroup|socket)(?!.*--no-children)",
     "perf counts a sample once for each function on its stack, so that shares are above 100 %"),
]

# If a function ends with a call that never returns, the return address belongs to the next
# function. perf names the call after that next function.
NEVER_RETURN = re.compile(r"\b(_dl_start_user|_start|__pfx_clear_bss|x86_64_start_reservations)\b")

# Differences within a row for a known reason, and the text that replaces both:
ALIKE = [
    # perf looks up an address by the mode of the address's sample. This profiler recognises kernel
    # addresses by their value.
    (re.compile(r"(\[unknown\]|\[kernel\.kallsyms\])(?=\W+0x(ff|80))"), "[kernel.kallsyms]"),
    # Code of a module without a symbol: perf counts from the module's start.
    (re.compile(r"(\[\w+\]\W+)0x[0-9a-f]+"), r"\1ADDRESS"),
    # perf truncates times to 12 characters, and names that appear after it has laid out its
    # columns.
    (re.compile(r"\b(\d{6,}\.\d{5})\d?\b"), r"\1"),
    (re.compile(r"\b(perf-ex|simplep)\w*"), r"\1"),
]

# Tables of branches have only the columns of --sort. They show unnamed code by its offset in the
# image.
BRANCHES = re.compile(r"Source Symbol")
OF_BRANCHES = "tables of branches have no other columns, and unnamed code at its offset in the image"
# If all events are tracepoints, perf groups by their text: -s trace.
TRACE = re.compile(r"Trace output")
OF_TRACE = "perf sorts recordings of tracepoints by trace"
UNWOUND = re.compile(r"^# Call chains:", re.MULTILINE)
OF_UNWOUND = "perf unwinds no stack without its images, and here the interrupted function is on it"

NOISE = re.compile(r"^# (To display|\(Tip|Names:|Losses:|Warning:|Call chains|Chains by|Total Lost)|^#?\s*$|^# [.\s]+$")


def run(tool, options, path):
    command = [tool, "report", "--stdio", "-i", path] + shlex.split(options)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def parts(text):
    """Returns comment lines and rows, both without irrelevant differences."""
    comments, found = [], []
    for line in text.splitlines():
        if NOISE.match(line):
            continue
        line = line.replace("cpu-clock:ppp", "cpu-clock").replace("task-clock:ppp", "task-clock")
        if line.startswith("#"):
            comments.append(" ".join(line.replace(" ,", ",").split()))
        elif not NEVER_RETURN.search(line):
            line = re.sub(r"\[[.kguH]\] ", "", line.replace(" (inlined)", ""))
            row = plain(line)
            for pattern, alike in ALIKE:
                row = pattern.sub(alike, row)
            found.append(row)
    return comments, found


def difference(theirs, ours, limit):
    """Returns the differences as lines; empty if there are none."""
    said = []
    for theirs_has, ours_has in zip(theirs[0] + [""] * 9, ours[0] + [""] * 9):
        if theirs_has != ours_has:
            said.append("  perf %s\n  ours %s" % (theirs_has, ours_has))
    missing = collections.Counter(theirs[1][:limit]) - collections.Counter(ours[1])
    surplus = collections.Counter(ours[1][:limit]) - collections.Counter(theirs[1])
    for name, lines in (("perf", missing), ("ours", surplus)):
        if lines:
            said.append("  only %s: %d rows of %d, such as\n    %s" %
                        (name, sum(lines.values()), limit, "\n    ".join(list(lines)[:3])))
    if not said:
        # Rows of equal weight may be in any order; each line begins with the weight.
        weights = [[row.split("%")[0] for row in rows[1][:limit]] for rows in (theirs, ours)]
        if weights[0] != weights[1]:
            at = next(i for i, pair in enumerate(zip(*weights)) if pair[0] != pair[1])
            said.append("  order: row %d: perf %s, ours %s" % (at, theirs[1][at], ours[1][at]))
    return said


def names_in(perf, path, more):
    """Returns the heaviest comm, dso and symbol, to put into the lines of options."""
    _, text, _ = run(perf, "-f -g none --no-children -F overhead,comm,dso,sym -t ;" + more, path)
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(";")]
        if len(cells) == 4 and not line.startswith("#") and " 0x" not in cells[3]:
            symbol = cells[3][4:].split("(")[0]
            return {"comm": shlex.quote(cells[1]), "dso": shlex.quote(cells[2]), "symbol": shlex.quote(symbol),
                    "part": shlex.quote(symbol[:5])}
    return {"comm": "none", "dso": "none", "symbol": "none", "part": "none"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("profiler")
    parser.add_argument("perf")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--foreign", action="store_true")
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--line", action="append")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()

    same = known = wrong = 0
    nowhere = tempfile.TemporaryDirectory()
    elsewhere = " --symfs " + nowhere.name if options.foreign else ""
    for path in options.files:
        names = names_in(options.perf, path, elsewhere)
        usual = run(options.profiler, "-g none", path)[1]
        for line in options.line or LINES:
            if options.foreign and "--kallsyms" in line:
                continue
            line = line.format(**names)
            common = line if "-g " in line else line + " -g none"
            theirs = run(options.perf, common + elsewhere + " --no-inline -f", path)
            if theirs[0] != 0 or not theirs[1].strip():
                continue  # perf has no answer
            ours = run(options.profiler, common + elsewhere + " --no-inline --no-fde", path)
            said = [ours[2]] if ours[0] != 0 else difference(parts(theirs[1]), parts(ours[1]), options.rows)
            reason = next((reason for pattern, reason in KNOWN if re.search(pattern, line)), None)
            if BRANCHES.search(usual):
                reason = OF_BRANCHES
            elif TRACE.search(theirs[1]) and "trace" not in line:
                reason = OF_TRACE
            elif options.foreign and UNWOUND.search(usual) and all("only ours" in text for text in said):
                reason = OF_UNWOUND
            if not said:
                same += 1
                continue
            if reason:
                known += 1
            else:
                wrong += 1
            if not reason or options.verbose:
                print("%s: report %s%s\n%s" % (path.split("/")[-1], line, " [%s]" % reason if reason else "",
                                               "\n".join(said)))
    print("%d the same, %d differ for a known reason, %d differ" % (same, known, wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
