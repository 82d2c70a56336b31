#!/usr/bin/env python3
"""report_test.py PROFILER: types perf's keys into the browser of `report` in a terminal of tmux."""

import os
import subprocess
import sys
import tempfile

import tmux

PROFILER = os.path.abspath(sys.argv[1])
FOLDER = tempfile.TemporaryDirectory(prefix="report_test")
RECORDING = os.path.join(FOLDER.name, "perf.data")
REPORT = [PROFILER, "report", "-i", RECORDING]


def rows(text):
    """Returns the lines of a report that are rows, without marks and colours."""
    found = []
    for line in text.split("\n"):
        words = line.lstrip(" +-").split()
        if words and words[0].endswith("%") and words[0][0].isdigit():
            found.append(" ".join(words))
    return found


def text_of(*options):
    return subprocess.run(REPORT + ["--stdio", "-g", "none", *options], check=True, capture_output=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout.decode()


def shows_the_rows_of_the_text():
    for size in {"rows": 24, "columns": 80}, {"rows": 40, "columns": 120}:
        with tmux.Terminal(REPORT + ["-g", "none"], **size) as terminal:
            shown = rows(terminal.wait("h help"))
            expected = rows(text_of())[:len(shown)]
            assert shown, terminal.screen()
            for line, wanted in zip(shown, expected):
                assert wanted.startswith(line), (line, wanted)
            terminal.type("q")
            terminal.require_restored()


def takes_the_keys_of_perf():
    with tmux.Terminal(REPORT) as terminal:
        terminal.wait("h help")
        terminal.type("E")
        terminal.wait("^- ")
        terminal.type("C")
        terminal.wait_until(lambda screen: "\n- " not in screen, "folded rows")
        terminal.type("t")
        terminal.wait("thread: ")
        terminal.type("d")
        terminal.wait("DSO: ")
        terminal.type("Escape", "Escape")
        terminal.wait_until(lambda screen: "DSO: " not in screen and "thread: " not in screen, "no filter")
        terminal.type("h")
        terminal.wait("annotate the function")
        terminal.type("h", "/")
        terminal.wait("^Symbol:")
        terminal.type_text("no such symbol")
        terminal.wait("no rows")
        terminal.resize(40, 120)
        terminal.wait("no rows")
        terminal.type("Escape")
        terminal.wait("h help")
        terminal.type("P")
        terminal.wait("printed to perf.hist.0")
        terminal.type("C-z")
        terminal.require_restored()
        terminal.run("fg")
        terminal.wait("h help|printed")
        terminal.type("C-c")
        terminal.require_restored()


def keeps_the_text_where_it_is_wanted():
    for line in ("--stdio", "--no-pager", "--hierarchy", "-q"):
        with tmux.Terminal(REPORT[:1] + ["--no-pager"] + REPORT[1:] + ["--stdio", line]) as terminal:
            terminal.wait_for_prompt()
    for environment in {"PAGER": "cat"}, {"PROFILER_UI": "stdio", "PAGER": "cat"}, {"TERM": "dumb"}:
        with tmux.Terminal(REPORT, environment=environment) as terminal:
            terminal.wait_for_prompt()


def works_in_other_locales_and_without_colours():
    for environment in {"LANG": "C"}, {"NO_COLOR": "1"}, {"TERM": "vt100"}:
        with tmux.Terminal(REPORT, environment=environment) as terminal:
            terminal.wait("h help")
            terminal.type("h")
            terminal.wait("\\+-.* Keys " if environment.get("LANG") == "C" else " Keys ")
            terminal.type("h", "q")
            terminal.require_restored()


def main():
    if not tmux.require_tmux():
        return
    busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"
    subprocess.run([PROFILER, "record", "-g", "-o", RECORDING, "--", "sh", "-c", busy], check=True, capture_output=True)
    for test in (shows_the_rows_of_the_text, takes_the_keys_of_perf, keeps_the_text_where_it_is_wanted,
                 works_in_other_locales_and_without_colours):
        test()
        print("passed:", test.__name__)


main()
