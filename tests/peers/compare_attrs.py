#!/usr/bin/env python3
"""Compares the events that `profiler record` opens with those that perf opens, field by field.

    compare_attrs.py PROFILER PERF [--lines FILE] [--random N [--seed S]] [--show N]

Runs command lines with -vv through both programs, and compares each printed perf_event_attr. The lines are: each `perf
record` line of FILE (PID stands for a busy process), the event strings below, and N random strings of the event grammar.
Differences with a known reason (REASONS) are counted by reason. Other differences are printed, and make the exit code 1.
Events that this machine lacks are compared as first tried. Strings that one program refuses are counted and, with
--show, printed, but are no differences. Needs root and a mounted tracefs.
"""

import argparse
import collections
import ctypes
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile

EVENTS = """
cpu-clock  cpu-clock:u  cpu-clock:k  cpu-clock:uk  cpu-clock:h  cpu-clock:H  cpu-clock:G  cpu-clock:GH  cpu-clock:I
cpu-clock:D  cpu-clock:e  cpu-clock:uI  cpu-clock:ukD  task-clock:u  task-clock:k  page-faults  page-faults:u  faults
minor-faults:k  major-faults  context-switches  cs:k  cpu-migrations  migrations:u  alignment-faults  emulation-faults
cgroup-switches  bpf-output  cycles  cycles:u  cycles:k  cycles:p  cycles:pp  cycles:ppp  cycles:P  cycles:upp
instructions  instructions:G  branches:H  branch-misses  cache-misses:kP  ref-cycles  bus-cycles  L1-dcache-loads
L1-dcache-load-misses:u  LLC-loads  dTLB-load-misses  iTLB-loads  branch-load-misses  node-stores  r1a8  r1a8:u  rff:kp
1:0  1:2:u  0:1  4:0x1a8  mem:0x601040  mem:0x601040:w  mem:0x601040:r  mem:0x601040/8:rw  mem:0x601040/2:w:u
mem:0x601040:x  mem:0x601040/8:x:k  sched:sched_switch  sched:sched_switch:u  sched:sched_process_exec:k
sched:sched_process_*  syscalls:sys_enter_openat  raw_syscalls:sys_enter:k  cpu-clock/period=100000/
cpu-clock/freq=500/u  cpu-clock/period=5000,name=mine/  cpu-clock/call-graph=fp/  cpu-clock/call-graph=no/
cpu-clock/time=0/  cpu-clock/max-stack=5/  cpu-clock/no-inherit/  cpu-clock/inherit=0/  page-faults/period=7/k
msr/tsc/  msr/tsc/u  software/config=0/  software/cpu-clock/  software/cpu-clock/k  {cpu-clock,task-clock}
{cpu-clock,page-faults}:S  {cpu-clock:u,page-faults}  {cpu-clock,page-faults:k}:u  {cpu-clock,page-faults}:D
{cpu-clock,task-clock}:e  name{cs,faults}  cpu-clock,page-faults:u,{cs,migrations}  {cpu-clock/period=99999/,faults}
kprobe:do_exit  cpu/event=0x3c/  cpu/cycles/  cpu/event=0x3c,umask=1/p
""".split()

SIDEBAND = "perf's first event carries the sideband; ours is an event of its own"
# Fields that may differ, and the reason.
REASONS = {
    "size": "ours is the smallest that holds the fields",
    "mmap": SIDEBAND, "mmap2": SIDEBAND, "comm": SIDEBAND, "comm_exec": SIDEBAND, "task": SIDEBAND,
    "ksymbol": SIDEBAND, "bpf_event": SIDEBAND, "build_id": SIDEBAND, "mmap_data": SIDEBAND,
    "context_switch": SIDEBAND,
    "use_clockid": "ours are always of CLOCK_MONOTONIC", "clockid": "ours are always of CLOCK_MONOTONIC",
    "watermark": "the ring wakes each recorder as that wants",
    "{ wakeup_events, wakeup_watermark }": "the ring wakes each recorder as that wants",
    "write_backward": "--overwrite keeps the end of a recording there; ours keeps all of it",
}
# Bits of sample_type that a recorder needs to distinguish events and rings. perf and this profiler may differ in them.
OWN_SAMPLE_BITS = {"IDENTIFIER", "ID", "CPU", "TIME", "PERIOD", "TID", "IP"}
OWN_READ_BITS = {"ID", "LOST", "TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING"}
DEFAULT_RATES = {"999", "4000"}
CLOCKS = {"0 (PERF_COUNT_SW_CPU_CLOCK)", "0x1 (PERF_COUNT_SW_TASK_CLOCK)"}
FALLS_BACK = re.compile(r"\bcycles\b|\bcpu-cycles\b|\b0:0\b|^perf record (?!.*-e )")
MIXES = re.compile(r"\{.*(sched|syscalls|mem):.*\}")
READS = re.compile(r"\}:\w*S")
REFUSED = re.compile("^profiler: event ", re.MULTILINE)
DUMMY = "0x9 (PERF_COUNT_SW_DUMMY)"


def attrs(text):
    """Returns attrs as {field: value}: first the attrs that could be opened, in order and without duplicates; then all
    tried."""
    tried, opened, current = [], [], None
    lines = iter(text.splitlines())
    for line in lines:
        if line == "perf_event_attr:":
            current = {}
            for field in lines:
                if field.startswith("---"):
                    break
                name, value = re.fullmatch(r"\s+(\{.*?\}|\S+)\s+(.*)", field).groups()
                current[name] = value
            tried.append(current)
        elif re.match(r"sys_perf_event_open: .* = \d+$", line) and current is not None and current not in opened:
            opened.append(current)
    return opened, tried


def is_sideband(attr, of_perf):
    if attr["config"] != DUMMY or not attr["type"].startswith("1 "):
        return False
    return of_perf or "mmap" in attr


def bits(text, own):
    return set(filter(None, (text or "").split("|"))) - own


def key(attr):
    return [attr[field].split()[0] if field in ("type", "config") else attr.get(field, "0")
            for field in ("type", "config", "{ bp_addr, config1 }", "exclude_user", "exclude_kernel", "precise_ip",
                          "sample_max_stack")]


LEADS = {"disabled", "enable_on_exec", "pinned", "exclusive", "read_format"}


def kinds(found):
    """Counts distinct attrs. Fields with known differences, and fields of group leadership, are ignored. If an event is
    requested twice and perf puts the sideband on the first, perf has two attrs where this profiler has one."""
    return len({frozenset((field, value) for field, value in attr.items() if field not in REASONS and field not in LEADS)
                for attr in found})


def matched(ours, perfs):
    """Matches attrs by the event that they count, because perf opens a pattern's events in the order of a folder, and
    sorts groups by PMU."""
    rest, found = list(perfs), []
    for attr in ours:
        best = min(rest, key=lambda other: [a != b for a, b in zip(key(attr), key(other))], default=None)
        if best is not None:
            rest.remove(best)
            found.append(best)
    return ours, found + rest


def reason_of(field, ours, perfs, what):
    """Returns why this field may differ; None if it may not."""
    frames = ("sample_regs_user", "exclude_callchain_user", "sample_stack_user", "sample_type")
    if field == "sample_stack_user" and "sample_stack_user" in perfs:
        return "64 KiB of a stack are copied by default here, 8 KiB there"
    if field in frames and re.search(r" -a?g ", what) and "sample_stack_user" in ours:
        return "-g takes copied stacks here where the program has no frame pointers"
    if field in ("config", "precise_ip") and FALLS_BACK.search(what) and {ours["config"], perfs["config"]} <= CLOCKS:
        return "without hardware counters perf takes task-clock for threads and keeps 'p', ours takes cpu-clock"
    if field in ("disabled", "enable_on_exec", "pinned", "exclusive") and MIXES.search(what):
        return "perf sorts the events of a group by PMU, so another one may lead"
    if field in ("read_format", "freq", "{ sample_period, sample_freq }") and MIXES.search(what) and READS.search(what):
        return "perf makes groups of what is on several PMUs anew, so their events are sampled each"
    if field == "sample_type" and READS.search(what) and "{ sample_period, sample_freq }" not in ours:
        return "with S the leader alone is sampled, so what a member asks for beside it is no matter"
    if field in ("pinned", "exclusive") and field not in ours and "{" in what:
        return "the kernel takes it of leaders alone, so members do without here"
    if field == "{ sample_period, sample_freq }" and "freq" in ours and "freq" in perfs:
        rates = {ours[field], perfs[field]}
        return "the default frequency is 999 here, 4000 there" if rates == DEFAULT_RATES else None
    if field == "branch_sample_type" and bits(ours.get(field), {"USER", "KERNEL", "HV"}) == bits(perfs.get(field), set()):
        return "perf forgets the levels of -j where no kind of branch is named"
    if field == "{ bp_addr, config1 }" and int(ours["type"].split()[0]) > 5:
        return "the name of what is probed is at an address in the recorder"
    return REASONS.get(field)


def compare(ours, perfs, what):
    """Returns the differences of one attr: [(field, ours, perf's, reason or None)]."""
    found = []
    for field in sorted(set(ours) | set(perfs)):
        a, b = ours.get(field, "0"), perfs.get(field, "0")
        if field == "sample_type":
            a, b = bits(a, OWN_SAMPLE_BITS), bits(b, OWN_SAMPLE_BITS)
            a, b = "|".join(sorted(a)), "|".join(sorted(b))
        elif field == "read_format":
            a, b = bits(a if a != "0" else "", OWN_READ_BITS), bits(b if b != "0" else "", OWN_READ_BITS)
            a, b = "|".join(sorted(a)), "|".join(sorted(b))
        elif field in ("type", "config"):
            a, b = a.split()[0], b.split()[0]
        if a == b:
            continue
        found.append((field, a, b, reason_of(field, ours, perfs, what)))
    return found


PR_SET_PDEATHSIG = 1  # include/uapi/linux/prctl.h


def die_with_parent():
    """Runs in a new process: it ends whenever this script ends, even by SIGKILL."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run_for(command, seconds, cwd):
    """Returns the output of a command within a time. Its children end with it."""
    with subprocess.Popen(command, shell=True, text=True, errors="replace", cwd=cwd, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            return process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[0]


class Comparison:
    def __init__(self, args, scratch):
        self.args, self.scratch = args, scratch
        self.lines = self.equal = self.attrs = 0
        self.known = collections.Counter()
        self.refused = collections.Counter()
        self.wrong = 0

    def run(self, program, command):
        # perf's -vv prints for minutes with all CPUs, after it has opened all events.
        printed = run_for(command.replace("perf record", f"{program} record -vv", 1), 30, self.scratch)
        return [[a for a in found if not is_sideband(a, program == self.args.perf)] or found[:1]
                for found in attrs(printed)] + [printed]

    def add(self, what, command):
        ours, ours_tried, ours_printed = self.run(self.args.profiler, command)
        perfs, perfs_tried, _ = self.run(self.args.perf, command)
        if not ours_tried or not perfs_tried:
            who = "both" if not ours_tried and not perfs_tried else "perf" if not perfs_tried else "ours"
            self.refused[who] += 1
            if self.args.show and who != "both":
                print(f"{who} refuses {what}")
            return
        self.lines += 1
        problems = []
        if ours and kinds(perfs) > kinds(ours) and not REFUSED.search(ours_printed):
            problems.append(f"{len(ours)} attrs, perf has {len(perfs)}")
        # perf continues without events that it cannot open; this profiler does not.
        if not ours or len(ours) > len(perfs) or REFUSED.search(ours_printed):
            perfs = perfs_tried
        ours, perfs = matched(ours or ours_tried[:1], perfs)
        if len(ours) > len(perfs):
            problems.append(f"{len(ours)} attrs, perf tried {len(perfs)}")
        for i, (a, b) in enumerate(zip(ours, perfs)):
            self.attrs += 1
            for field, mine, theirs, reason in compare(a, b, what):
                if reason is None:
                    problems.append(f"attr {i}: {field} is {mine or 0}, perf's {theirs or 0}")
                else:
                    self.known[reason] += 1
        if problems:
            self.wrong += 1
            print(f"{what}\n  " + "\n  ".join(problems))
        else:
            self.equal += 1

    def event(self, text):
        self.add(text, f"perf record -o events.data -e {shlex.quote(text)} -- true")


class Grammar:
    """Generates strings of the grammar in src/machine/events/event_text.h."""

    SOFTWARE = ("cpu-clock task-clock page-faults faults minor-faults major-faults context-switches cs "
                "cpu-migrations migrations alignment-faults emulation-faults cgroup-switches").split()
    HARDWARE = ("cycles instructions branches branch-misses cache-misses cache-references cpu-cycles bus-cycles "
                "stalled-cycles-frontend L1-dcache-loads L1-icache-load-misses LLC-stores dTLB-loads "
                "iTLB-load-misses branch-loads node-load-misses").split()
    TRACEPOINTS = ("sched:sched_switch sched:sched_wakeup sched:sched_process_fork syscalls:sys_enter_read "
                   "raw_syscalls:sys_exit sched:sched_process_ex*").split()

    def __init__(self, seed):
        self.dice = random.Random(seed)

    def number(self, most):
        n = self.dice.randrange(most)
        return self.dice.choice([str(n), hex(n)])

    def modifiers(self, letters="ukhHGpPDIe"):
        dice = self.dice
        if dice.random() < 0.4:
            return ""
        chosen = dice.sample(letters, dice.randrange(1, 4))
        return "".join(c * (dice.randrange(1, 4) if c == "p" else 1) for c in chosen)

    def term(self):
        dice = self.dice
        return dice.choice([
            lambda: f"period={self.number(100000) }", lambda: f"freq={dice.randrange(1, 2000)}",
            lambda: "call-graph=" + dice.choice(["fp", "no"]), lambda: f"time={dice.randrange(2)}",
            lambda: f"max-stack={dice.randrange(1, 100)}", lambda: dice.choice(["inherit", "no-inherit"]),
            lambda: "name=" + dice.choice(["mine", "x1", "a_b"]), lambda: f"config={self.number(12)}",
            lambda: f"config1={self.number(5)}", lambda: f"config2={self.number(5)}"])()

    def terms(self):
        return "/" + ",".join(self.term() for _ in range(self.dice.randrange(1, 4))) + "/"

    def event(self, alone=False):
        """Returns an event. If alone, it may be one that this machine lacks, because no list fails with it."""
        dice = self.dice
        kind = dice.randrange(10 if alone else 7)
        words = self.SOFTWARE + (self.HARDWARE if alone else [])
        if kind < 3:
            letters = self.modifiers()
            return dice.choice(words) + (":" + letters if letters else "")
        if kind < 5:
            return dice.choice(words) + self.terms() + self.modifiers()
        if kind == 5:
            letters = self.modifiers("ukhHG")
            return dice.choice(self.TRACEPOINTS) + (":" + letters if letters else "")
        if kind == 6:
            access = dice.choice(["", ":r", ":w", ":rw", ":x"])
            length = dice.choice(["", "/1", "/2", "/4", "/8"])
            letters = self.modifiers("ukh") if access else ""
            return f"mem:{hex(dice.randrange(1 << 12) * 8)}{length}{access}" + (":" + letters if letters else "")
        if kind == 7:
            letters = self.modifiers()
            return f"r{dice.randrange(1 << 20):x}" + (":" + letters if letters else "")
        if kind == 8:
            letters = self.modifiers()
            return f"{dice.randrange(2)}:{dice.randrange(9)}" + (":" + letters if letters else "")
        pmu = dice.choice(["software/cpu-clock", "software/config=2", "msr/tsc", "software/task-clock,period=1000"])
        return pmu + "/" + self.modifiers("ukhHG")

    def item(self):
        if self.dice.random() < 0.7:
            return self.event()
        members = ",".join(self.event() for _ in range(self.dice.randrange(1, 4)))
        letters = self.modifiers("ukhSDe")
        return "{" + members + "}" + (":" + letters if letters else "")

    def list(self):
        items = self.dice.choice([0, 0, 1, 1, 2, 3])
        return ",".join(self.item() for _ in range(items)) if items else self.event(alone=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiler")
    parser.add_argument("perf")
    parser.add_argument("--lines", help="file of command lines")
    parser.add_argument("--random", type=int, default=0, help="how many strings to make")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print what one of the two refuses")
    args = parser.parse_args()
    busy = subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=die_with_parent)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            comparison = Comparison(args, scratch)
            if args.random:
                grammar = Grammar(args.seed)
                for _ in range(args.random):
                    comparison.event(grammar.list())
            else:
                for line in open(args.lines) if args.lines else []:
                    if line.startswith("perf record"):
                        comparison.add(line.strip(), line.strip().replace("PID", str(busy.pid)))
                for event in EVENTS:
                    comparison.event(event)
    finally:
        busy.kill()
    print(f"{comparison.lines} compared ({comparison.attrs} attrs): {comparison.equal} equal except for known "
          f"differences, {comparison.wrong} not; refused by {dict(comparison.refused)}")
    for reason, count in comparison.known.most_common():
        print(f"{count:6} fields: {reason}")
    return 1 if comparison.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
