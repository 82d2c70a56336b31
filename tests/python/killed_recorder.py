#!/usr/bin/env python3
"""Kills a recorder while its programs in the kernel walk the frames of Python.

  tests/python/killed_recorder.py PROFILER

Expects that the recorder has programs, that none of them is left in the kernel when it has ended, and that the recording
can be read. Exit status 77: this user or this kernel cannot load such programs.
"""
import ctypes
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from rights import may_walk

BPF_SYSCALL = {"x86_64": 321, "aarch64": 280}
BPF_PROG_GET_FD_BY_ID = 13
PATIENCE = 60  # seconds
WRITTEN = 128 << 10  # more bytes than the records before the first samples have
SPIN = "while True: sum(range(1000))"
libc = ctypes.CDLL(None, use_errno=True)


def is_loaded(program):
    attributes = (ctypes.c_uint32 * 32)(program)
    descriptor = libc.syscall(BPF_SYSCALL[os.uname().machine], BPF_PROG_GET_FD_BY_ID, attributes,
                              ctypes.sizeof(attributes))
    if descriptor >= 0:
        os.close(descriptor)
    return descriptor >= 0


def programs_of(pid):
    """Returns the ids of the BPF programs that the process holds."""
    programs = set()
    for path in glob.glob("/proc/%d/fdinfo/*" % pid):
        try:
            with open(path, encoding="ascii") as facts:
                programs.update(map(int, re.findall(r"^prog_id:\s*(\d+)", facts.read(), re.M)))
        except OSError:
            pass  # closed meanwhile
    return programs


def size_of(path):
    return os.stat(path).st_size if os.path.exists(path) else 0


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            sys.exit("not within %d seconds: %s" % (PATIENCE, what))
        time.sleep(0.01)


def main():
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "perf.data")
        python = subprocess.Popen([sys.executable, "-c", SPIN])
        recorder = subprocess.Popen([sys.argv[1], "record", "-g", "-F", "4999", "-p", str(python.pid), "-o", recording],
                                    stderr=subprocess.DEVNULL)
        try:
            # The gate, and the programs to which it passes samples.
            wait_until(lambda: len(programs_of(recorder.pid)) > 1, "the programs are loaded")
            wait_until(lambda: size_of(recording) > WRITTEN, "samples are written")
            programs = programs_of(recorder.pid)
            recorder.send_signal(signal.SIGKILL)
            recorder.wait()
            wait_until(lambda: not any(map(is_loaded, programs)), "the programs %s end" % sorted(programs))
        finally:
            for process in (recorder, python):
                process.kill()
                process.wait()
        report = subprocess.run([sys.argv[1], "report", "--stats", "-i", recording], stdout=subprocess.PIPE, check=True)
        if b"SAMPLE" not in report.stdout:
            sys.exit("the recording has no samples:\n" + report.stdout.decode())
        print("%d programs ended with the recorder" % len(programs))


if not may_walk():
    print("skipped: needs CAP_BPF, CAP_PERFMON and a kernel with BTF")
    sys.exit(77)
main()
