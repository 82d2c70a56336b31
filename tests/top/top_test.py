"""top_test.py PROFILER WORKLOAD SCHEMA: runs `profiler top` on programs of this machine."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

import jsonschema

PROFILER, WORKLOAD, SCHEMA = (os.path.abspath(path) for path in sys.argv[1:4])
SPIN = [WORKLOAD, "busy", "600"]


def can_record():
    """True if this user may record its own processes here. Says why not."""
    done = subprocess.run([PROFILER, "record", "-q", "-e", "cpu-clock:u", "-o", "/dev/null", "true"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        print("SKIPPED: " + done.stderr.decode(errors="replace"))
    return done.returncode == 0


def descendants(pid):
    """Returns the processes below a process."""
    found = set()
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task), encoding="ascii") as children:
                found.update(map(int, children.read().split()))
    except (FileNotFoundError, ProcessLookupError):
        pass  # It ends just now.
    return found.union(*map(descendants, found))


class Spinner:
    """A program that runs until the end of a test."""

    def __enter__(self):
        self.process = subprocess.Popen(SPIN)
        return str(self.process.pid)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Top(unittest.TestCase):
    def top(self, *options, code=0):
        done = subprocess.run([PROFILER, "top", "-e", "cpu-clock", *options], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        errors = done.stderr.decode()
        self.assertEqual(done.returncode, code, errors)
        return done.stdout.decode(), errors

    def test_prints_a_table_at_each_refresh(self):
        with Spinner() as pid:
            text, _ = self.top("--stdio", "-d", "0.2", "--iterations", "3", "-p", pid)
        headings = re.findall(r"^# \d\d:\d\d:\d\d, the last 10 s: (\d+) samples in .* at 999 Hz, process " + pid +
                              "; lost 0$", text, re.MULTILINE)
        self.assertEqual(len(headings), 3, text)
        self.assertNotIn("\x1b", text)
        self.assertRegex(text, r"(?m)^ +\d+\.\d\d%  workload .*Compute")

    def test_shows_callers_and_callees_with_call_chains(self):
        with Spinner() as pid:
            text, _ = self.top("--stdio", "-d", "1", "--iterations", "1", "-g", "-p", pid)
        self.assertRegex(text, r"# Children +Self +Command")
        self.assertRegex(text, r"(?m)^ +\d+\.\d\d% .* Outer")

    def test_prints_valid_json_documents_of_one_line(self):
        with open(SCHEMA, encoding="utf-8") as file:
            validator = jsonschema.Draft202012Validator(json.load(file))
        with Spinner() as pid:
            text, _ = self.top("--json", "-d", "0.3", "--iterations", "2", "-p", pid)
        documents = [json.loads(line) for line in text.splitlines()]
        self.assertEqual(len(documents), 2)
        for document in documents:
            validator.validate(document)
            self.assertEqual(document["view"], "top")
        samples = documents[-1]["events"][0]["samples"]
        self.assertEqual(sum(row["self"]["samples"] for row in documents[-1]["events"][0]["rows"]), samples)

    def test_limits_rows_and_filters_them(self):
        with Spinner() as pid:
            text, _ = self.top("--stdio", "-d", "1", "--iterations", "1", "-E", "1", "-p", pid)
            self.assertEqual(len(re.findall(r"(?m)^ +\d+\.\d\d%", text)), 1, text)
            text, _ = self.top("--stdio", "-d", "1", "--iterations", "1", "--comms", "nobody", "-p", pid)
            self.assertEqual(re.findall(r"(?m)^ +\d+\.\d\d%", text), [], text)

    def test_hides_user_code(self):
        with Spinner() as pid:
            text, _ = self.top("--stdio", "-d", "1", "--iterations", "1", "-U", "-p", pid)
        self.assertNotIn("[.]", text)

    def test_writes_what_it_recorded_as_a_private_recording(self):
        with tempfile.TemporaryDirectory() as folder, Spinner() as pid:
            path = os.path.join(folder, "shown.data")
            self.top("--stdio", "-d", "0.5", "--iterations", "2", "-w", path, "-p", pid)
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            report = subprocess.run([PROFILER, "report", "--stdio", "-i", path], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, check=True).stdout.decode()
            self.assertRegex(report, r"(?m)^ +\d+\.\d\d% .*workload .*Compute")

    def test_ends_well_at_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with Spinner() as pid:
                process = subprocess.Popen([PROFILER, "top", "--stdio", "-d", "0.2", "-e", "cpu-clock", "-p", pid],
                                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
                # The first table shows that it runs.
                while not re.match(rb" +\d+\.\d\d%", process.stdout.readline()):
                    pass
                process.send_signal(number)
                rest = process.stdout.read()
                self.assertEqual(process.wait(), 0)
                self.assertTrue(rest == b"" or rest.endswith(b"\n"))
                process.stdout.close()

    def test_shows_an_empty_table_for_a_program_that_sleeps(self):
        sleeper = subprocess.Popen(["sleep", "600"])
        text, _ = self.top("--stdio", "-d", "0.2", "--iterations", "2", "-p", str(sleeper.pid))
        sleeper.kill()
        sleeper.wait()
        self.assertIn(": 0 samples in", text)

    def test_ends_when_its_targets_end(self):
        text, _ = self.top("--stdio", "-d", "0.2", "--", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
        self.assertIn("# ", text)

    def test_has_the_exit_code_of_its_command(self):
        self.top("--stdio", "-d", "0.2", "--", "sh", "-c", "exit 7", code=7)

    def test_wrong_options_are_one_message(self):
        for options, words in ((["-d", "0"], "-d"), (["--last", "5x"], "--last"), (["-w", "10,20"], "column widths"),
                               (["-s", "time"], "--sort"), (["-b"], "record -b"), (["-p", "999999999"], "999999999")):
            _, errors = self.top("--stdio", *options, code=2)
            self.assertIn(words, errors)
            self.assertEqual(len(errors.splitlines()), 1, errors)

    def test_counts_its_own_samples_apart(self):
        """Also shows a profiler that it has not started: a spinning program of that name."""
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
            stranger = os.path.join(folder, "profiler")
            os.symlink(WORKLOAD, stranger)
            spinner = subprocess.Popen([stranger, *SPIN[1:]])
            top = subprocess.Popen([PROFILER, "top", "--json", "-d", "1", "--last", "all", "-a", "-e", "cpu-clock",
                                    "-F", "1999", "-s", "tgid,comm"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=errors)
            own, shown, left_out = {top.pid}, {}, 0
            # A quiet machine may need some documents until a sample hits top itself.
            try:
                for line in top.stdout:
                    own |= descendants(top.pid)
                    document = json.loads(line)
                    left_out = document["left_out"]["own"]
                    shown = {row["pid"]: row["comm"] for event in document["events"] for row in event["rows"]}
                    if left_out > 0 and spinner.pid in shown or not own.isdisjoint(shown):
                        break
            finally:
                for process in spinner, top:
                    process.kill()
                    process.wait()
                top.stdout.close()
            errors.seek(0)
            said = errors.read().decode()
        if "only your own processes" in said:
            self.skipTest(said)
        self.assertGreater(left_out, 0, said)
        self.assertEqual(shown.pop(spinner.pid, None), "profiler", said)
        comms = [comm for pid, comm in shown.items() if pid in own]
        self.assertNotIn("profiler", comms)
        self.assertEqual(comms, [])


if __name__ == "__main__":
    if can_record():
        unittest.main(argv=sys.argv[:1])
