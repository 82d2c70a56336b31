#!/usr/bin/env python3
"""Compares the output of two builds of the profiler, byte for byte, before and after a change that should have no effect.

    tests/peers/compare_outputs.py BEFORE AFTER [--make DIR] [--corpus DIR] [FILE ...]

BEFORE and AFTER are programs. Each FILE is a recording; --corpus adds all recordings below a folder. --make lets BEFORE
record ten of this machine's programs into DIR, unless the recordings exist. Prints every difference, and exits with 1
if there is one. Each build has its own cache of names, and asks no server for files.
"""
import argparse
import difflib
import os
import shutil
import subprocess
import sys
import tempfile

# Views of every recording.
VIEWS = [
    ["report", "-i", "{}"],
    ["report", "-i", "{}", "--no-children", "-g", "none", "-n"],
    ["report", "-i", "{}", "--no-children", "-s", "pid,tid,comm"],
    ["report", "-i", "{}", "--no-children", "-s", "cpu,dso"],
    ["report", "-i", "{}", "-G", "--percent-limit", "1"],
    ["report", "-i", "{}", "-s", "srcline,symbol", "--no-children", "-g", "none"],
    ["report", "-i", "{}", "--no-inline", "--no-demangle", "-g", "folded"],
    ["report", "-i", "{}", "--header", "--chains"],
    ["report", "-i", "{}", "--stats"],
    ["report", "-i", "{}", "--unresolved"],
    ["report", "-i", "{}", "--header-only"],
    ["folded", "-i", "{}"],
    ["flamegraph", "-i", "{}", "-o", "-"],
    ["script", "-i", "{}"],
    ["script", "-i", "{}", "--show-task-events", "--show-mmap-events", "-F", "+srcline,+period"],
    ["annotate", "-i", "{}"],
    ["dump", "-i", "{}"],
    ["convert", "{}", "-o", "-"],
]

CODE = "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); } int main() { return f(34) & 1; }"
COMPILE = ["g++", "-O2", "-x", "c++", "-c", "-o", "/dev/null", "-include", "regex", "-"]
SORT = ["python3", "-c", "print(sorted(str(i * 7919 % 100003) for i in range(200000))[:3])"]
READ = ["sh", "-c", "ls -lR /usr/share | sort | gzip -9 | wc -c"]

# Recordings: name, options of `record`, command, and its standard input.
RECORDINGS = [
    ("flat", ["-F", "1999"], COMPILE, CODE),
    ("frame_pointers", ["-F", "1999", "--call-graph", "fp"], COMPILE, CODE),
    ("unwound", ["-F", "1999", "--call-graph", "dwarf"], COMPILE, CODE),
    ("stacks", ["-F", "499", "--call-graph", "dwarf", "--post-unwind"], COMPILE, CODE),
    ("python", ["-F", "1999", "--call-graph", "dwarf"], SORT, None),
    ("compressed", ["-F", "1999", "-g", "-z"], READ, None),
    ("events", ["-e", "cpu-clock,page-faults,context-switches", "-g"], READ, None),
    ("without_names", ["-F", "1999", "-g", "--embed", "none"], READ, None),
    ("with_code", ["-F", "1999", "-g", "--embed", "code"], SORT, None),
    ("system", ["-F", "1999", "-a", "-g"], READ, None),
]


def record(program, folder):
    os.makedirs(folder, exist_ok=True)
    made = []
    for name, options, command, text in RECORDINGS:
        path = os.path.join(folder, name + ".perf.data")
        made.append(path)
        if os.path.exists(path):
            continue
        arguments = [program, "record", "-q", "-o", path, *options, "--", *command]
        subprocess.run(arguments, input=text, text=True, stdout=subprocess.DEVNULL, check=True)
    return made


def is_recording(path):
    with open(path, "rb") as file:
        return file.read(8) in (b"PERFILE2", b"2ELIFREP", b"PERFFILE", b"ELIFFREP")


def recordings_below(folder):
    for directory, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if is_recording(os.path.join(directory, name)):
                yield os.path.join(directory, name)


def printed(program, arguments, cache):
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "DEBUGINFOD_URLS": ""}
    done = subprocess.run([program, *arguments], capture_output=True, env=environment, check=False)
    return done.stdout, done.stderr, done.returncode


def show(before, after):
    lines = [bytes_.decode(errors="replace").splitlines() for bytes_ in (before, after)]
    for number, line in enumerate(difflib.unified_diff(*lines, lineterm="", n=0)):
        if number == 12:
            print("    …")
            break
        if number > 1:
            print("   ", line[:200])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--make", metavar="DIR")
    parser.add_argument("--corpus", metavar="DIR")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    files = list(options.files)
    if options.make:
        files += record(os.path.abspath(options.before), options.make)
    if options.corpus:
        files += recordings_below(options.corpus)
    caches = [tempfile.mkdtemp(prefix="profiler-cache-") for _ in range(2)]
    compared = different = 0
    for path in files:
        for view in VIEWS:
            arguments = [argument.replace("{}", path) for argument in view]
            before = printed(options.before, arguments, caches[0])
            after = printed(options.after, arguments, caches[1])
            compared += 1
            if before == after:
                continue
            different += 1
            print(f"different: {' '.join(arguments)}: exit {before[2]}, {after[2]}")
            show(before[0], after[0])
            show(before[1], after[1])
    for cache in caches:
        shutil.rmtree(cache)
    print(f"{compared} outputs of {len(files)} recordings compared, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
