#!/usr/bin/env python3
"""config_test.py PROFILER: runs commands with configuration files."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROFILER = os.path.abspath(sys.argv[1])
STACKS = "app;main;hot 90\napp;main;cold 10\n"


class Config(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.home = pathlib.Path(self.folder.name)
        (self.home / ".config/profiler").mkdir(parents=True)
        (self.home / "x.folded").write_text(STACKS)

    def tearDown(self):
        self.folder.cleanup()

    @property
    def path(self):
        return str(self.home / ".config/profiler/config")

    def write(self, text):
        pathlib.Path(self.path).write_text(text)
        os.chmod(self.path, 0o644)

    def run_profiler(self, *words):
        environment = {**os.environ, "HOME": str(self.home)}
        environment.pop("XDG_CONFIG_HOME", None)
        return subprocess.run([PROFILER, *words], cwd=self.home, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)

    def output(self, *words):
        done = self.run_profiler(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def error(self, *words):
        done = self.run_profiler(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        return done.stderr

    def test_settings_count_like_options(self):
        wanted = self.output("report", "-i", "x.folded", "--sort", "symbol", "--no-children", "--percent-limit", "20")
        plain = self.output("report", "-i", "x.folded")
        self.write("[report]\nsort_order = symbol\nchildren = false\npercent-limit = 20\n")
        self.assertNotEqual(wanted, plain)
        self.assertEqual(self.output("report", "-i", "x.folded"), wanted)
        self.assertEqual(self.output("report", "--no-config", "-i", "x.folded"), plain)
        self.assertEqual(self.output("--no-config", "report", "-i", "x.folded"), plain)

    def test_options_of_the_user_win(self):
        wanted = self.output("report", "-i", "x.folded", "-s", "dso")
        self.write("[report]\nsort_order = symbol\n")
        self.assertEqual(self.output("report", "-i", "x.folded", "-s", "dso"), wanted)

    def test_output_for_programs_ignores_the_file(self):
        lines = (["report", "--json", "-i", "x.folded"], ["folded", "-i", "x.folded"], ["script", "-i", "x.folded"],
                 ["evlist", "-i", "x.folded"])
        before = [self.run_profiler(*line) for line in lines]
        self.write("[report]\nsort_order = nonsense\n[malformed\n")
        for line, wanted in zip(lines, before):
            done = self.run_profiler(*line)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (wanted.returncode, wanted.stdout, wanted.stderr), line)

    def test_errors_name_the_line(self):
        self.write("[report]\nchildren = false\n\n[top\n")
        self.assertEqual(self.error("report", "-i", "x.folded"),
                         "profiler: %s:4: the section [top is not closed by ]\n" % self.path)
        self.write("[report]\n\nchildren = maybe\n")
        self.assertEqual(self.error("report", "-i", "x.folded"),
                         "profiler: %s:3: report.children: 'maybe' is not true or false\n" % self.path)
        self.write("[hist]\npercentage = half\n[report]\nchildren\n")
        self.assertRegex(self.error("report", "-i", "x.folded"),
                         r"^profiler: %s:2: hist.percentage: .*half.*\n$" % self.path)

    def test_errors_of_options_that_nobody_typed_name_the_file(self):
        self.write("[report]\nsort_order = nonsense\n")
        lines = self.error("report", "-i", "x.folded").splitlines()
        self.assertIn("nonsense", lines[0])
        self.assertIn("%s adds --sort=nonsense (without the file: --no-config)" % self.path, lines[1])

    def test_keys_that_do_not_exist_get_a_warning(self):
        self.write("[report]\nchilden = false\n[colors]\ntop = red\n")
        done = self.run_profiler("report", "-i", "x.folded")
        self.assertEqual(done.returncode, 0)
        self.assertIn("%s:2: there is no key 'report.childen'; did you mean 'report.children'?" % self.path,
                      " ".join(done.stderr.split()))

    def test_a_command_to_record_has_its_own_options(self):
        self.write("[record]\nfreq = 99\n[call-graph]\nrecord-mode = fp\n")
        done = self.run_profiler("record", "--dry-run", "-g", "-e", "cpu-clock:u", "-vv", "--", "true", "--no-config")
        if "sample_freq" not in done.stdout + done.stderr:
            self.skipTest("events cannot be opened here: " + done.stderr)
        self.assertRegex(done.stdout + done.stderr, r"sample_freq\D+99\b")

    def test_config_prints_the_settings(self):
        self.write("# mine\n[report]\nchildren\n[call-graph] record-mode = dwarf\n")
        self.assertEqual(self.output("config"), "report.children=true\ncall-graph.record-mode=dwarf\n")
        self.assertEqual(self.output("config", "-l"), self.output("config"))
        self.assertEqual(self.output("config", "report.children"), "report.children=true\n")
        self.assertEqual(self.run_profiler("config", "top.children").returncode, 1)

    def test_a_file_of_another_user_is_not_read(self):
        self.write("[report]\nsort_order = symbol\n")
        if os.getuid() != 0:
            self.skipTest("only root can give files away")
        plain = self.output("report", "--no-config", "-i", "x.folded")
        try:
            os.chown(self.path, 12345, 12345)
        except OSError as error:
            self.skipTest(f"this root cannot give files away: {error}")
        self.assertIn("the file belongs to another user", " ".join(self.error("report", "-i", "x.folded").split()))
        # As under sudo that keeps the caller's $HOME.
        os.chown(self.home, 12345, 12345)
        self.assertEqual(self.output("report", "-i", "x.folded"), plain)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
