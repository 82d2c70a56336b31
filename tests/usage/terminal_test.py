#!/usr/bin/env python3
"""terminal_test.py PROFILER: types into bash, zsh and fish on a terminal, presses TAB and checks the completion.
terminal_test.py --installed: the same with the installed completions of this machine.
"""

import os
import pty
import re
import select
import shutil
import sys
import tempfile
import time

LIMIT = 60.0  # seconds, for a shell that hangs

# Colours and cursor movements.
CONTROL = re.compile("\r|\x1b(\\[[0-9;?]*[A-Za-z]|\\(B|\\][^\x07]*\x07)")


class Terminal:
    """A shell on its own terminal."""

    def __init__(self, arguments, environment):
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(arguments[0], arguments, environment)

    def type(self, text):
        self.seen = ""
        os.write(self.fd, text.encode())

    def wait_for(self, text):
        """Returns True if the text appears in time."""
        end = time.monotonic() + LIMIT
        while text not in self.seen and text not in CONTROL.sub("", self.seen):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                return False
            try:
                self.seen += os.read(self.fd, 4096).decode(errors="replace")
            except OSError:  # the shell has ended
                return False
        return True

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def shells(directory):
    """Returns for each shell its command line, and a command that loads the completion."""
    return {
        "bash": (["bash", "--norc", "--noprofile", "-i"],
                 "source <(profiler completion bash)"),
        "zsh": (["zsh", "-f", "-i"],
                f"fpath=({directory} $fpath); autoload -Uz compinit; compinit -u -D; "
                f"profiler completion zsh > {directory}/_profiler; compinit -u -D"),
        "fish": (["fish", "--no-config"], "profiler completion fish | source"),
    }


def shells_with_installed():
    return {
        "bash": (["bash", "--norc", "--noprofile", "-i"], "source /usr/share/bash-completion/bash_completion"),
        "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u -D"),
        "fish": (["fish"], "true"),
    }


# Text typed before TAB, and the expected line or list.
TYPED = [
    ("profiler record --call", "--call-graph"),
    ("profiler rec", "profiler record"),
    ("profiler record --call-graph dw", "dwarf"),
    ("profiler report --symf", "--symfs"),
]


def main():
    installed = sys.argv[1] == "--installed"
    failed, skipped = False, []
    # A shell that has ended may have left a process that still writes its cache.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        if not installed:
            os.symlink(os.path.realpath(sys.argv[1]), f"{directory}/profiler")
        environment = dict(os.environ, PATH=f"{directory}:{os.environ['PATH']}", TERM="xterm",
                           HOME=directory, PS1="$ ", COLUMNS="200", LINES="50")
        for name, (arguments, setup) in (shells_with_installed() if installed else shells(directory)).items():
            if not shutil.which(name):
                skipped.append(name)
                continue
            for typed, wanted in TYPED:
                terminal = Terminal(arguments, environment)
                # The mark is split, so that the echoed command does not contain it.
                terminal.type(setup + "; echo rea''dy\n")
                if not terminal.wait_for("ready\r"):
                    print(f"FAILED: {name} was not ready: {terminal.seen!r}")
                    failed = True
                terminal.type(typed + "\t")
                if not terminal.wait_for(wanted):
                    print(f"FAILED: {name}: '{typed}' gives no '{wanted}': {terminal.seen!r}")
                    failed = True
                terminal.close()
    if skipped:
        print("SKIPPED: not installed: " + " ".join(skipped))
    return failed


if __name__ == "__main__":
    sys.exit(main())
