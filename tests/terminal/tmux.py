"""Runs programs in a terminal of tmux, types keys, and reads the screen as text.

    with Terminal(["profiler", "report"], rows=24, columns=80) as terminal:
        terminal.wait("main")
        terminal.type("h")

The program is started by an interactive shell, so Ctrl-Z and fg work, and the terminal's settings can be compared.
"""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time

PATIENCE = float(os.environ.get("PATIENCE", "120"))  # seconds; machines that test are loaded


def require_tmux():
    """Returns False, and says so, if there is no tmux."""
    if shutil.which("tmux"):
        return True
    print("SKIPPED: tmux is missing")
    return False


class Terminal:
    """A shell in a terminal of tmux. `environment` replaces variables; None removes one."""

    def __init__(self, command, rows=24, columns=80, environment=None, colours=256, directory=None):
        self.home = tempfile.mkdtemp(prefix="tmux")
        self.socket = os.path.join(self.home, "socket")
        variables = {"LANG": "C.UTF-8", "LC_ALL": None, "LC_CTYPE": None, "NO_COLOR": None, "COLUMNS": None,
                     "LINES": None, "TERM": "screen-256color" if colours == 256 else "screen",
                     "HOME": self.home, "PS1": "ready \\#> "}
        variables.update(environment or {})
        self.environment = dict(os.environ)
        for name, value in variables.items():
            self.environment.pop(name, None)
            if value is not None:
                self.environment[name] = value
        shell = ["env", "-u", "TMUX", "-u", "TMUX_PANE"]
        shell += ["-u" + name for name, value in variables.items() if value is None]
        shell += ["%s=%s" % (name, value) for name, value in variables.items() if value is not None]
        shell += ["bash", "--norc", "--noprofile", "-i"]
        configuration = os.path.join(self.home, "tmux.conf")
        with open(configuration, "w") as file:
            file.write("set -g default-terminal screen-256color\nset -g status off\nset -g escape-time 0\n"
                       "set -g remain-on-exit on\n")
        subprocess.run(["tmux", "-u", "-f", configuration, "-S", self.socket, "new-session", "-d", "-x", str(columns),
                        "-y", str(rows), "-c", directory or self.home] + [shlex.join(shell)],
                       env=self.environment, check=True)
        self.commands = 0  # command lines typed; the shell's prompt has the number of the next one
        self.wait_for_prompt()
        self.before = self.settings()
        self.run(command)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.home, ignore_errors=True)

    def tmux(self, *arguments):
        """Runs a command of tmux and returns its output."""
        return subprocess.run(["tmux", "-u", "-S", self.socket, *arguments], check=True, capture_output=True,
                              env=self.environment).stdout.decode("utf-8", "replace")

    def run(self, command):
        """Types a command line; a list of words is quoted."""
        line = command if isinstance(command, str) else shlex.join(command)
        self.commands += 1
        self.tmux("send-keys", "-l", "clear; " + line)
        self.tmux("send-keys", "Enter")

    def type(self, *keys):
        """Types keys by tmux's names, such as Enter, C-c or Down; text of several letters is typed as it is."""
        for key in keys:
            self.tmux("send-keys", key)

    def type_text(self, text):
        self.tmux("send-keys", "-l", text)

    def resize(self, rows, columns):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self, colours=False):
        """Returns the screen as lines without blanks at their ends; `colours` adds escape sequences."""
        text = self.tmux("capture-pane", "-p", *(["-e"] if colours else []))
        return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))

    def wait_until(self, holds, what):
        """Waits for a condition of the screen, and returns the screen."""
        end = time.monotonic() + PATIENCE
        while True:
            screen = self.screen()
            if holds(screen):
                return screen
            if time.monotonic() > end:
                raise AssertionError("no %s on this screen:\n%s" % (what, screen))
            time.sleep(0.02)

    def wait(self, pattern):
        """Waits for a regular expression on the screen, and returns the screen."""
        return self.wait_until(lambda screen: re.search(pattern, screen, re.M), repr(pattern))

    def wait_for_screen(self, text):
        """Waits until the screen is this text, apart from blanks at its end."""
        return self.wait_until(lambda screen: screen.rstrip() == text, "text\n" + text)

    def wait_for_prompt(self):
        """Waits until the shell has run the last command line, or has stopped it."""
        prompt = "ready %d>" % (self.commands + 1)
        return self.wait_until(lambda screen: screen.rstrip().endswith(prompt), repr(prompt))

    def settings(self):
        """Returns the terminal's settings (stty -g)."""
        path = self.tmux("display-message", "-p", "#{pane_tty}").strip()
        with open(path) as tty:
            return subprocess.run(["stty", "-g"], stdin=tty, check=True, capture_output=True).stdout.decode()

    def alternate(self):
        """True while the pane shows the alternate screen."""
        return self.tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

    def process(self, name):
        """Returns the id of the process `name` (/proc/PID/comm) below the shell."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        found = subprocess.run(["pgrep", "-P", shell, "-x", name], check=True, capture_output=True).stdout
        return int(found.split()[0])

    def cursor_is_visible(self):
        return self.tmux("display-message", "-p", "#{cursor_flag}").strip() == "1"

    def require_restored(self):
        """Waits until the terminal is as it was before the program."""
        self.wait_for_prompt()
        # A key that came too late for the program makes the shell change its settings for a moment.
        self.wait_until(lambda _: self.settings() == self.before, "settings as before (%s)" % self.before)
        self.wait_until(lambda _: not self.alternate(), "screen of the shell")
        self.wait_until(lambda _: self.cursor_is_visible(), "cursor")
        self.wait_until(lambda _: self.tmux("display-message", "-p", "#{mouse_any_flag}").strip() == "0",
                        "end of reports of the mouse")
