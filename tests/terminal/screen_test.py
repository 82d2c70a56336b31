#!/usr/bin/env python3
"""screen_test.py DEMO: drives DEMO, a small program with a screen, in a terminal of tmux."""

import os
import re
import signal
import sys

import tmux

DEMO = os.path.abspath(sys.argv[1])

SHOWN = """\
size 24 x 80, started

hot warm
plain                                   │
\\033[2J\\033]0;title\\007                 │
wide 漢字                               │
combining e\u0301                             │
right to left \\342\\200\\256\\342\\200\\217  │
bytes \\377\\233                          │
lines ┌─┐                               │"""

SHOWN_IN_ASCII = """\
size 24 x 80, started

hot warm
plain                                   |
\\033[2J\\033]0;title\\007                 |
wide ????                               |
combining e                             |
right to left \\342\\200\\256\\342\\200\\217  |
bytes \\377\\233                          |
lines +-+                               |"""


def shows_text_safely():
    with tmux.Terminal([DEMO]) as terminal:
        terminal.wait_for_screen(SHOWN)
        assert terminal.alternate()
    for locale in "C", "POSIX":
        with tmux.Terminal([DEMO], environment={"LANG": locale}) as terminal:
            terminal.wait_for_screen(SHOWN_IN_ASCII)
    with tmux.Terminal([DEMO], environment={"LANG": "xx_YY.UTF-8"}) as terminal:
        terminal.wait_for_screen(SHOWN)  # although this machine lacks the locale


def shows_colours():
    def escapes(**options):
        with tmux.Terminal([DEMO], **options) as terminal:
            terminal.wait("lines")
            line = terminal.screen(colours=True).split("\n")[2]
            return line[:line.index("hot")]

    many, few = escapes(), escapes(colours=8)
    none = escapes(environment={"NO_COLOR": "1"}), escapes(environment={"TERM": "vt100"})
    assert "38;5;" in many, repr(many)
    assert "[31m" in few, repr(few)
    for escape in none:
        assert not re.search(r"38;5;|\[3[0-7]m", escape), repr(escape)


def reads_keys():
    with tmux.Terminal([DEMO]) as terminal:
        terminal.wait("started")
        for key, shown in (("h", "key h"), ("/", "key /"), ("Enter", "key 10"), ("Tab", "key 9"),
                           ("BSpace", "key 127"), ("Up", "key %d" % 0x110000), ("Down", "key %d" % 0x110001),
                           ("Home", "key %d" % 0x110004), ("NPage", "key %d" % 0x110007),
                           ("F1", "key %d" % 0x11000a), ("C-l", "key 12"), ("Escape", "key 27")):
            terminal.type(key)
            terminal.wait(", " + shown + "$")
        terminal.type_text("ß")
        terminal.wait("key %d$" % ord("ß"))
        terminal.type("q")
        terminal.require_restored()


def follows_the_size():
    with tmux.Terminal([DEMO]) as terminal:
        terminal.wait("size 24 x 80")
        for rows, columns in ((40, 120), (5, 20), (1, 1), (24, 80)):
            terminal.resize(rows, columns)
            if columns >= 20:
                terminal.wait("^size %d x %d" % (rows, columns))
        terminal.type("q")
        terminal.require_restored()


def restores_the_terminal():
    with tmux.Terminal([DEMO]) as terminal:
        for key in "q", "C-c", "x", "v", "a", "o":
            terminal.wait("started")
            terminal.type(key)
            terminal.require_restored()
            terminal.run([DEMO])
        for number in signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGINT:
            terminal.wait("started")
            os.kill(terminal.process("demo"), number)
            terminal.require_restored()
            terminal.run([DEMO])
        terminal.wait("started")
        terminal.type("l", "C-c", "C-c")
        terminal.require_restored()


def stops_and_continues():
    with tmux.Terminal([DEMO]) as terminal:
        terminal.wait("started")
        for _ in range(2):
            terminal.type("C-z")
            terminal.require_restored()
            terminal.run("fg")
            terminal.wait_for_screen(SHOWN.replace("started", "redraw"))
            assert terminal.alternate()
            terminal.type("h")
            terminal.wait("key h")
        terminal.type("q")
        terminal.require_restored()


def explains_refusals():
    with tmux.Terminal("TERM=no-such-terminal %s; TERM= %s; TERM=dumb %s; %s </dev/null" % ((DEMO,) * 4)) as terminal:
        screen = terminal.wait_for_prompt()
        assert "names no known terminal: 'no-such-terminal'" in screen, screen
        assert "$TERM is not set" in screen, screen
        assert "'dumb' cannot move its cursor" in screen, screen
        assert "standard input is no terminal" in screen, screen
    nowhere = {"TERMINFO": "/nonexistent", "TERMINFO_DIRS": "/nonexistent"}
    with tmux.Terminal([DEMO], environment=nowhere) as terminal:
        terminal.wait("lines")
    # A terminal that no file describes, but that emulates a common one.
    with tmux.Terminal("TERM=xterm-new %s" % DEMO, environment=nowhere) as terminal:
        terminal.wait("lines")


def main():
    if not tmux.require_tmux():
        return
    for test in (shows_text_safely, shows_colours, reads_keys, follows_the_size, restores_the_terminal,
                 stops_and_continues, explains_refusals):
        test()
        print("passed:", test.__name__)


main()
