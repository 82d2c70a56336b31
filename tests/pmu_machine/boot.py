"""Runs commands in the emulated machine: all commands of a boot at once. Judges their output files when the machine is
off."""

import os
import re
import subprocess
from collections import Counter

# Runs with the environment that perf gives its commands, because the count of instructions includes
# reading the environment when a program starts.
PROFILER = "env -i $(cat /tmp/environment) /t/profiler"
WORKLOAD = "/t/workload"

# The start of the counted program must be the same each time. Kernel symbols are hidden, because
# reading them would take a second for each recording.
PREPARE = ("echo 0 >/proc/sys/kernel/randomize_va_space; echo 2 >/proc/sys/kernel/kptr_restrict;"
           "perf stat -o /dev/null env >/tmp/environment")

# Skips perf's preparations for later reports, which take longer than the recording.
PERF_RECORD = "perf record -BN --no-bpf-event"


class Table:
    """The table of comparisons. Each row is printed immediately."""

    def __init__(self):
        self.failed = 0
        self.made = 0
        print(f"{'':4} {'what':60} {'profiler':>15} {'expected':>15}  within")

    def add(self, what, ours, theirs, within=0.0):
        """Compares a value with the expected value, `theirs`: perf's, or one that is known beforehand. `within` is the
        permitted difference, as a share of the expected value."""
        try:
            passed = abs(float(ours) - float(theirs)) <= within * abs(float(theirs))
        except (TypeError, ValueError):
            passed = ours == theirs
        self.made += 1
        self.failed += not passed
        limit = f"{within:.1%}" if within else "exactly"
        print(f"{'ok' if passed else 'FAIL':4} {what:60} {str(ours):>15} {str(theirs):>15}  {limit}")


class Done:
    """The output of a command that ran in the machine."""

    def __init__(self, folder, name):
        def text(kind):
            path = os.path.join(folder, f"{name}.{kind}")
            return open(path, errors="replace").read() if os.path.exists(path) else ""

        self.out, self.err, self.status = text("out"), text("err"), text("status").strip()

    def counts(self):
        """Parses `stat -x,`: [(event, value, percent of the time)]."""
        rows = [line.split(",") for line in self.err.splitlines() if line.count(",") >= 5]
        return [(row[2], row[0], row[4]) for row in rows]

    def samples(self):
        """Parses `perf script -F event,ip,sym`: {(event, symbol): samples}."""
        found = Counter()
        for line in self.out.splitlines():
            match = re.match(r"\s*(\d+)\s+(\S+?):\s+[0-9a-f]+ (.*)", line)
            if match:
                found[match[2], match[3].strip()] += int(match[1])
        return found

    def samples_by_event(self):
        events = Counter()
        for (event, _), count in self.samples().items():
            events[event] += count
        return events


class Boot:
    """The commands of one boot, and the functions that judge their output afterwards."""

    def __init__(self, table, folder):
        self.table = table
        self.folder = folder
        self.names = []  # prefixes of the commands' output files
        self.commands = []
        self.judges = []

    def command(self, line):
        name = f"{len(self.names):03}"
        self.names.append(name)
        self.commands.append(f"( {line}\n) >/out/{name}.out 2>/out/{name}.err; echo $? >/out/{name}.status;"
                             f"echo {name} until $(cut -d' ' -f1 /proc/uptime) >>/out/times")
        return name

    def judge(self, function, *names):
        self.judges.append((function, names))

    def both(self, ours, theirs, function):
        """Runs a command with both programs; `function` gets the results (profiler, perf)."""
        self.judge(function, self.command(f"{PROFILER} {ours}"), self.command(f"perf {theirs}"))

    def run(self, machine, environment):
        """Boots the machine, and judges the results."""
        script = os.path.join(self.folder, "commands.sh")
        with open(script, "w") as file:
            file.write("\n".join([PREPARE] + self.commands) + "\n")
        out = os.path.join(self.folder, "out")
        # On a busy host the emulator sometimes ends early without a message, or returns only half
        # of the output.
        for _ in range(2):
            subprocess.run([machine, "run", self.folder, "sh /t/commands.sh"], env={**os.environ, **environment})
            missing = [name for name in self.names if not Done(out, name).status]
            if not missing:
                break
            print(f"{len(missing)} of {len(self.names)} commands left no output", flush=True)
        if missing:
            self.table.add("commands of which something came", len(self.names) - len(missing), len(self.names))
            return
        for function, names in self.judges:
            function(*(Done(out, name) for name in names))
