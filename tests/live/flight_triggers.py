#!/usr/bin/env python3
"""flight_triggers.py [--runs N] PROFILER [TRIGGER…]: tries each trigger of `record --flight-on`.

Records a program that misbehaves at a known time. Checks that exactly one file was written, that
its samples begin at least a second before that time and reach it, and that the moment in the file
is at most two seconds after it. Prints the good runs of each trigger; fails if there are fewer than
all. Skips triggers that this machine cannot watch, with the message of `record`.

Other programs can fire a trigger too: they make the whole machine wait for the disk, or take the
CPU that the program needs. The program measures both itself. Such a run says nothing about the
recorder and is repeated; after five of them, the trigger is skipped.
"""

import argparse
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

BEFORE = 1.5  # seconds from the start of the program to its misbehaviour
DISTURBED = "disturbed: "  # begins the reason of a run that other programs disturbed


def io_pressure():
    """Returns for how many seconds some thread of the machine has waited for a disk, since boot."""
    try:
        with open("/proc/pressure/io", encoding="ascii") as file:
            return int(re.search(r"^some .*total=(\d+)", file.read(), re.MULTILINE).group(1)) / 1e6
    except OSError:  # a kernel that does not measure pressure
        return 0


def spin(seconds, share=1.0):
    """Takes this share of a CPU, if other programs leave so much."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        slice_end = time.monotonic() + 0.01 * share
        while time.monotonic() < slice_end:
            pass
        if share < 1:
            time.sleep(0.01 * (1 - share))


def write_and_wait(seconds):
    """Makes four threads wait for the disk most of the time."""
    def write():
        with tempfile.TemporaryFile(dir=".") as file:
            while time.monotonic() < end:
                file.seek(0)
                file.write(os.urandom(1 << 16))
                file.flush()
                os.fsync(file.fileno())

    end = time.monotonic() + seconds
    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def exit_with_code():
    os._exit(3)


def end_by_signal():
    os.kill(os.getpid(), signal.SIGKILL)


def start_a_program():
    subprocess.run(["true"], check=True)
    spin(0.5)


# Name: the trigger, further options of record, the share of a CPU before, and the misbehaviour.
TRIGGERS = {
    "exit": ("exit:3", [], 1.0, exit_with_code),
    "signal": ("signal", [], 1.0, end_by_signal),
    "cpu-above": ("cpu>40%", [], 0.1, lambda: spin(2.5)),
    "cpu-below": ("cpu<10%", [], 1.0, lambda: time.sleep(2)),
    "blocked": ("blocked>400ms", ["--off-cpu"], 1.0, lambda: (time.sleep(0.5), spin(0.5))),
    "psi": ("psi:io>20%", [], 1.0, lambda: write_and_wait(2.5)),
    "event": ("event:sched:sched_process_fork", [], 1.0, start_a_program),
    "switch-output-event": (None, ["--switch-output-event", "sched:sched_process_fork"], 1.0,
                            start_a_program),
}


def misbehave(name):
    _, _, share, act = TRIGGERS[name]
    cpu = time.process_time()
    spin(BEFORE, share)
    facts = {"cpu": (time.process_time() - cpu) / BEFORE, "io_pressure": io_pressure()}
    with open("when", "w", encoding="ascii") as file:
        json.dump({"when": time.monotonic(), **facts}, file)
    start, cpu = time.monotonic(), time.process_time()
    act()
    # Two triggers end the program here.
    with open("after", "w", encoding="ascii") as file:
        file.write(str((time.process_time() - cpu) / (time.monotonic() - start)))


def disturbance(name, folder, program, io_pressure_before):
    """Returns how other programs could fire or delay this trigger in this run; None otherwise."""
    waited = program["io_pressure"] - io_pressure_before
    if name == "psi" and waited >= 0.2:
        return f"other programs waited {waited:.2f} s for a disk before the misbehaviour"
    if name == "cpu-below" and program["cpu"] < 0.5:
        return f"the program got {program['cpu']:.0%} of a CPU before the misbehaviour"
    if name == "cpu-above":
        with open(f"{folder}/after", encoding="ascii") as file:
            share = float(file.read())
        if share < 0.6:
            return f"the program got {share:.0%} of a CPU while it misbehaved"
    return None


def moment_and_samples(profiler, path):
    """Returns the moment, and the times of the first and the last sample, in seconds."""
    header = subprocess.run([profiler, "report", "--header-only", "-i", path], check=True,
                            capture_output=True, text=True).stdout
    times = {name: float(re.search(pattern, header).group(1)) for name, pattern in (
        ("moment", r"flight recorder : .* at ([0-9.]+), "),
        ("first", r"time of first sample : ([0-9.]+)"),
        ("last", r"time of last sample : ([0-9.]+)"))}
    return times["moment"], times["first"], times["last"]


def run_once(profiler, name, folder):
    """Returns the reason why the run is bad; None if it is good."""
    trigger, options, _, _ = TRIGGERS[name]
    on = ["--flight-on", trigger] if trigger else []
    command = [profiler, "record", "-F", "199", "--embed", "none", "--flight", "30s", *on, *options,
               "--", sys.executable, os.path.abspath(__file__), "--misbehave", name]
    io_pressure_before = io_pressure()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if not os.path.exists(f"{folder}/when"):
        return "skipped: " + done.stderr.strip()
    with open(f"{folder}/when", encoding="ascii") as file:
        program = json.load(file)
    when = program["when"]
    disturbed = disturbance(name, folder, program, io_pressure_before)
    if disturbed:
        return DISTURBED + disturbed
    files = glob.glob(f"{folder}/perf.data.*")
    if len(files) != 1:
        return f"{len(files)} files\n{done.stderr}"
    moment, first, last = moment_and_samples(profiler, files[0])
    found = f"misbehaved at {when:.3f}, moment {moment:.3f}, samples {first:.3f} to {last:.3f}"
    if first > when - 1:
        return "lacks the second before: " + found
    # An idle program has no samples. A busy one has them at least every 50 ms, if it gets a CPU.
    if last < when - 0.1:
        return "ends before the moment: " + found
    # Limits are measured over a second, five times per second.
    if not when - 0.1 <= moment <= when + 2:
        return "another moment: " + found
    return None


def run_undisturbed(profiler, name):
    """Returns the reason why the run is bad; None if it is good."""
    for _ in range(5):
        with tempfile.TemporaryDirectory(prefix="profiler-flight-") as folder:
            reason = run_once(profiler, name, folder)
        if reason is None or not reason.startswith(DISTURBED):
            return reason
    return "skipped: in each of five runs, " + reason.removeprefix(DISTURBED)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--misbehave")
    parser.add_argument("profiler", nargs="?")
    parser.add_argument("triggers", nargs="*")
    arguments = parser.parse_args()
    if arguments.misbehave:
        misbehave(arguments.misbehave)
        return 0
    profiler = os.path.abspath(arguments.profiler)
    has_failed = False
    for name in arguments.triggers or TRIGGERS:
        bad = []
        for _ in range(arguments.runs):
            reason = run_undisturbed(profiler, name)
            if reason is not None:
                bad.append(reason)
        is_skipped = any(reason.startswith("skipped: ") for reason in bad)
        has_failed |= bool(bad) and not is_skipped
        print(f"{name}: {arguments.runs - len(bad)} of {arguments.runs}", flush=True)
        for reason in bad:
            print("  " + reason.replace("\n", "\n  "), flush=True)
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
