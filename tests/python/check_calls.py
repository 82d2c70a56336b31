#!/usr/bin/env python3
"""Records a Python program whose calls are known, and compares each call in each sample with them.

  tests/python/check_calls.py PROFILER PYTHON [ROUNDS [OPTION…]]

PYTHON runs known_calls.py, which lists its own calls (sys.setprofile, creations.py) and is then recorded with
`record -F 999 -g` and the OPTIONs. Prints how many samples in the interpreter have their whole Python stack, and every call that the program does not
make. Exit status 0: there is none; 1: there is one, or no sample has Python frames; 77: this user or this kernel cannot
walk Python's frames.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

from rights import may_walk

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "known_calls.py")
LOOP = "_PyEval_EvalFrameDefault"
UNKNOWN = "[unknown Python"
# A stack of the program begins with one of these. Others belong to the start or the end of the interpreter.
ROOTS = ("__main__.<module>", "threading.Thread._bootstrap", "threading._bootstrap")


# These modules have other names until importlib itself is imported.
EARLY_NAMES = (("_frozen_importlib_external.", "importlib._bootstrap_external."),
               ("_frozen_importlib.", "importlib._bootstrap."))


def final_name(name):
    for early, final in EARLY_NAMES:
        if name.startswith(early):
            return final + name[len(early):]
    return name


def known_edges(python):
    output = subprocess.run([python, PROGRAM, "3", "--edges"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return {tuple(map(final_name, line.split("\t"))) for line in output.splitlines() if "\t" in line}


def stacks(profiler, recording):
    """Returns [stack, leaf first, of (name, True if it is a Python function)] of all samples."""
    text = subprocess.run([profiler, "script", "-i", recording, "-F", "ip,sym,dso"], stdout=subprocess.PIPE,
                          check=True).stdout.decode(errors="replace")
    samples, stack = [], []
    for line in text.splitlines():
        words = line.split(None, 1)
        if not words:
            if stack:
                samples.append(stack)
            stack = []
        elif len(words) == 2:
            name, _, image = words[1].strip().rpartition(" (")
            stack.append((final_name(name), "/[python]/" in image))
    if stack:
        samples.append(stack)
    return samples


def main():
    profiler, python = sys.argv[1:3]
    rounds = sys.argv[3] if len(sys.argv) > 3 else "150"
    edges = known_edges(python)
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "perf.data")
        record = [profiler, "record", "-F", "999", "-g", "-o", recording] + sys.argv[4:]
        recorded = subprocess.run(record + ["--", python, PROGRAM, rounds], stderr=subprocess.PIPE)
        if recorded.returncode != 0:
            print(recorded.stderr.decode(errors="replace"), file=sys.stderr)
            return 77
        samples = stacks(profiler, recording)

    counts = collections.Counter()
    wrong = collections.Counter()
    for stack in samples:
        python_frames = [name for name, is_python in stack if is_python]
        loops = sum(name.split("+")[0] == LOOP for name, _ in stack)
        if not python_frames and not loops:
            continue
        counts["in the interpreter"] += 1
        is_whole = bool(python_frames) and not loops and not any(f.startswith(UNKNOWN) for f in python_frames)
        counts["whole"] += is_whole
        if not any(root in python_frames for root in ROOTS):
            continue
        counts["of the program"] += 1
        counts["of the program and whole"] += is_whole
        for callee, caller in zip(python_frames, python_frames[1:]):
            if callee.startswith(UNKNOWN) or caller.startswith(UNKNOWN):
                continue
            counts["calls"] += 1
            if (caller, callee) not in edges:
                wrong[(caller, callee)] += 1

    def percent(part, whole):
        return 100.0 * counts[part] / counts[whole] if counts[whole] else 0.0

    print(json.dumps({
        "python": python,
        "samples": len(samples),
        "in_the_interpreter": counts["in the interpreter"],
        "whole_percent": round(percent("whole", "in the interpreter"), 2),
        "of_the_program": counts["of the program"],
        "of_the_program_whole_percent": round(percent("of the program and whole", "of the program"), 2),
        "calls": counts["calls"],
        "wrong_calls": sum(wrong.values()),
    }))
    for (caller, callee), count in wrong.most_common(20):
        print("wrong: %s calls %s, %d times" % (caller, callee, count))
    if not counts["calls"]:
        print("no sample has Python frames")
    return 1 if wrong or not counts["calls"] else 0


if not may_walk():
    print("skipped: needs CAP_BPF, CAP_PERFMON and a kernel with BTF")
    sys.exit(77)
sys.exit(main())
