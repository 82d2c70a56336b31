"""screen_test.py PROFILER WORKLOAD TMUX.PY: drives the screen of `profiler top` in a terminal of tmux."""

import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[3])))
import tmux  # noqa: E402

PROFILER, WORKLOAD = (os.path.abspath(path) for path in sys.argv[1:3])


class Screen(unittest.TestCase):
    def setUp(self):
        self.workload = subprocess.Popen([WORKLOAD, "busy", "600"], stdout=subprocess.DEVNULL)

    def tearDown(self):
        self.workload.kill()
        self.workload.wait()

    def command(self, *options):
        return [PROFILER, "top", "-e", "cpu-clock", "-d", "0.3", "-p", str(self.workload.pid), *options]

    def test_keys_of_perf(self):
        for rows, columns in ((24, 80), (40, 120)):
            with tmux.Terminal(self.command("-g"), rows=rows, columns=columns) as terminal:
                terminal.wait(r"workload .*Inner")
                terminal.type("Enter")
                terminal.wait(r"(?m)^ +.*Outer")
                terminal.type("/")
                terminal.type_text("Inne")
                terminal.wait("functions with Inne")
                terminal.type("Enter")
                terminal.type("Escape")
                terminal.type("d")
                terminal.wait("only image workload")
                terminal.type("Left")
                terminal.type("3")
                terminal.wait("3 images")
                terminal.type("h")
                terminal.wait("call graph below a row")
                terminal.type("q")
                terminal.type("q")
                terminal.wait_for_prompt()
                terminal.require_restored()

    def test_z_is_a_toggle_as_in_perf(self):
        with tmux.Terminal(self.command()) as terminal:
            terminal.wait("last 10 s: .*samples")
            terminal.type("z")
            terminal.wait("since last refresh: .*samples")
            terminal.wait("workload ")
            terminal.type("z")
            terminal.wait("last 10 s: .*samples")
            terminal.type("q")
            terminal.wait_for_prompt()
        with tmux.Terminal(self.command("-z")) as terminal:
            terminal.wait("since last refresh: .*samples")
            terminal.type("q")
            terminal.wait_for_prompt()

    def test_annotates_the_selected_function(self):
        with tmux.Terminal(self.command()) as terminal:
            terminal.wait(r"workload .*(Inner|::Com)")  # 80 columns cut the name Compute
            terminal.type("a")
            terminal.wait(r"(?m)\d+\.\d\d +: +[0-9a-f]+:")
            terminal.type("q")
            terminal.type("q")
            terminal.wait_for_prompt()

    def test_restores_the_terminal_at_ctrl_c_and_sigterm(self):
        for number in (None, signal.SIGTERM):
            with tmux.Terminal(self.command(), environment={"NO_COLOR": "1"}) as terminal:
                terminal.wait("workload ")
                if number is None:
                    terminal.type("C-c")
                else:
                    os.kill(terminal.process("profiler"), number)
                terminal.wait_for_prompt()
                terminal.require_restored()

    def test_follows_the_size_of_the_terminal_and_needs_no_utf8(self):
        with tmux.Terminal(self.command(), environment={"LANG": "C", "LC_ALL": "C"}, colours=8) as terminal:
            terminal.wait("workload ")
            terminal.resize(12, 60)
            terminal.wait("workload ")
            terminal.type("q")
            terminal.wait_for_prompt()
            terminal.require_restored()

    def test_saves_the_last_minute(self):
        with tmux.Terminal(self.command()) as terminal:
            terminal.wait("workload ")
            terminal.type("P")
            terminal.wait(r"The last minute is in top-\d+-1\.data")
            terminal.type("q")
            terminal.wait_for_prompt()


if __name__ == "__main__":
    if tmux.require_tmux():
        unittest.main(argv=sys.argv[:1])
