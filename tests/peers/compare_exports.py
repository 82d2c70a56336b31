#!/usr/bin/env python3
"""compare_exports.py PROFILER FILE… [--node DIR] [--otlp DIR]: reads our exports with other programs.

Exports each recording in every format, reads the file with an independent program, and compares the totals of each
event with `profiler report --json`.

  pprof       go tool pprof (-raw: every sample; -top: functions), protoc with the published profile.proto
  callgrind   callgrind_annotate
  firefox     @firefox-devtools/profiler-cli, and the numbers in the file
  speedscope  its own JSON schema (ajv), and the numbers in the file; with Chromium the viewer itself
  otlp        protoc with the published .proto files
  chrome      the numbers in the file

--node: folder where npm installed speedscope, @firefox-devtools/profiler-cli, ajv and playwright-core.
--otlp: a checkout of opentelemetry-proto. Checks without their program are skipped with a message.
"""

import argparse
import collections
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

PPROF_PROTO = "/usr/share/gocode/src/github.com/google/pprof/proto"


def output(*command, **options):
    result = subprocess.run(command, capture_output=True, check=False, **options)
    if result.returncode != 0:
        raise ValueError(f"{' '.join(command)}: {result.stderr.decode(errors='replace').strip()[:500]}")
    return result.stdout


def expected(profiler, path):
    """Returns event → (samples, sum of periods)."""
    document = json.loads(output(profiler, "report", "-i", path, "--json", "--no-children", "--no-group"))
    events = {}
    for event in document["events"]:
        if event["samples"]:
            events[event["event"]] = (event["samples"], int(event["amount"]))
    return events


def check(problems, what, got, wanted):
    if got != wanted:
        problems.append(f"{what}: {got}, not {wanted}")


def read_pprof(path, events, problems, _):
    raw = output("go", "tool", "pprof", "-raw", path).decode()
    types = re.search(r"^Samples:\n(.*)$", raw, re.MULTILINE).group(1).split()
    types = [t.removesuffix("[dflt]").rsplit("/", 1)[0] for t in types]
    sums = [0] * len(types)
    for values in re.findall(r"^ *((?:-?\d+ +)*-?\d+): ", raw.split("\nLocations\n")[0], re.MULTILINE):
        for i, value in enumerate(values.split()):
            sums[i] += int(value)
    sums = dict(zip(types, sums))
    for event, (samples, amount) in events.items():
        name = "samples" if len(events) == 1 else event + "_samples"
        check(problems, f"{event} samples", sums.get(name), samples)
        if amount:
            check(problems, f"{event} periods", sums.get(event, sums.get(name)), amount)
    top = output("go", "tool", "pprof", "-top", path).decode()
    if "% of" not in top and " flat " not in top:
        problems.append(f"pprof -top: {top[:200]}")
    if os.path.exists(PPROF_PROTO):
        with open(path, "rb") as file:
            text = output("protoc", "-I", PPROF_PROTO, "--decode=perftools.profiles.Profile", "profile.proto",
                          input=gzip.decompress(file.read())).decode()
        if re.search(r"^\s*\d+: ", text, re.MULTILINE):
            problems.append("protoc: fields that profile.proto does not have")


def read_callgrind(path, events, problems, _):
    text = output("callgrind_annotate", "--threshold=100", path).decode(errors="replace")
    totals = re.search(r"^(.*)PROGRAM TOTALS", text, re.MULTILINE).group(1)
    values = [int(v.replace(",", "")) for v in re.sub(r"\([^)]*\)", "", totals).split()]
    wanted = [number for samples, amount in events.values() for number in (amount, samples)]
    check(problems, "PROGRAM TOTALS", sorted(values), sorted(wanted))


def read_firefox(path, events, problems, options):
    with gzip.open(path) as file:
        document = json.load(file)
    counts = sum(len(thread["samples"]["stack"]) if thread["samples"]["weight"] is None
                 or thread["samples"]["weightType"] == "tracing-ms" else sum(thread["samples"]["weight"])
                 for thread in document["threads"])
    check(problems, "samples in the file", counts, sum(samples for samples, _ in events.values()))
    for name, table in document["shared"].items():
        if name != "stringArray":
            lengths = {len(column) for key, column in table.items() if key != "length"}
            if lengths != {table["length"]}:
                problems.append(f"{name}: columns of {lengths}, length {table['length']}")
    command = os.path.join(options.node or "", "node_modules/.bin/profiler-cli")
    if not os.path.exists(command):
        return "profiler-cli is not there"
    environment = {**os.environ, "HOME": options.scratch}
    try:
        output(command, "load", path, env=environment)
        info = output(command, "profile", "info", env=environment).decode()
        threads = int(re.search(r"(\d+) threads?", info).group(1))
        check(problems, "threads that profiler-cli sees", threads, len(document["threads"]))
        heaviest = max(range(len(document["threads"])), key=lambda i: document["threads"][i]["samples"]["length"])
        thread = document["threads"][heaviest]
        text = output(command, "thread", "functions", "--thread", f"t-{heaviest}", "--json", env=environment).decode()
        functions = json.loads(text)
        self_samples = sum(f.get("selfSamples", 0) for f in functions.get("functions", []))
        weight = thread["samples"]["weight"]
        wanted = thread["samples"]["length"] if weight is None else sum(weight)
        if functions.get("functions") and abs(self_samples - wanted) > 1e-6 * wanted:
            problems.append(f"profiler-cli: self samples of all functions {self_samples}, not {wanted}")
    finally:
        output(command, "stop", "--all", env=environment)
    return None


def read_speedscope(path, events, problems, options):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    check(problems, "weights", sum(sum(profile["weights"]) for profile in document["profiles"]),
          sum(amount or samples for samples, amount in events.values()))
    if any(len(profile["weights"]) != len(profile["samples"]) for profile in document["profiles"]):
        problems.append("as many weights as samples")
    schema = os.path.join(options.node or "", "node_modules/speedscope/dist/release/file-format-schema.json")
    if not os.path.exists(schema):
        return "ajv and speedscope are not there"
    program = ("const Ajv=require('ajv');const fs=require('fs');const a=new Ajv({strict:false});"
               "const v=a.compile(JSON.parse(fs.readFileSync(process.argv[1])));"
               "if(!v(JSON.parse(fs.readFileSync(process.argv[2])))){console.error(JSON.stringify(v.errors));process.exit(1)}")
    output("node", "-e", program, schema, path, cwd=options.node)
    return None


def read_chrome(path, events, problems, _):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)["traceEvents"]
    lanes = collections.defaultdict(list)
    instants = 0
    for event in trace:
        if event["ph"] == "X":
            begin = round(event["ts"] * 1000)
            lanes[event["pid"], event["tid"]].append((begin, begin + round(event["dur"] * 1000), event["samples"]))
        elif event["ph"] == "i":
            instants += event["args"]["samples"]
    outermost = 0
    for slices in lanes.values():
        slices.sort(key=lambda s: (s[0], -s[1], -s[2]))
        open_ends = []
        for begin, end, samples in slices:
            while open_ends and open_ends[-1] <= begin and not (begin == end == open_ends[-1]):
                open_ends.pop()
            if open_ends and end > open_ends[-1]:
                problems.append(f"a slice to {end} within one to {open_ends[-1]}")
                return
            if not open_ends:
                outermost += samples
            open_ends.append(end)
    wanted = sum(samples for samples, _ in events.values())
    if abs(outermost + instants - wanted) > 0:
        problems.append(f"samples of the outermost slices and instants: {outermost} + {instants}, not {wanted}")


def otlp_type(event):
    """Returns the type of an event, as in docs/otlp.md, "Types"."""
    name = event.split(":")[0]
    if name in ("cpu-clock", "task-clock"):
        return "cpu"
    return "off_cpu" if name in ("offcpu-time", "preempted-time") else event.replace(":", "_")


def read_otlp(path, events, problems, options):
    if not options.otlp:
        return "the published .proto files are not there"
    service = "opentelemetry/proto/collector/profiles/v1development/profiles_service.proto"
    message = "opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest"
    with open(path, "rb") as file:
        text = output("protoc", "-I", options.otlp, f"--decode={message}", service, input=file.read()).decode()
    if re.search(r"^\s*\d+: ", text, re.MULTILINE):
        problems.append("fields that the published messages do not have")
    strings = [json.loads('"' + s + '"') if "\\" not in s else s
               for s in re.findall(r'^  string_table: "(.*)"$', text, re.MULTILINE)]
    sums = collections.Counter()
    for profile in text.split("    profiles {\n")[1:]:
        kind = strings[int((re.search(r"type_strindex: (\d+)", profile) or [0, 0])[1])]
        profile = profile.split("\ndictionary {")[0]
        sums[kind] += sum(int(v) for v in re.findall(r"^        values: (\d+)", profile, re.MULTILINE))
        if kind == "samples":
            sums[kind] += len(re.findall(r"timestamps_unix_nano", profile))
    check(problems, "samples", sums["samples"], sum(samples for samples, _ in events.values()))
    wanted = collections.Counter()
    for event, (_, amount) in events.items():
        wanted[otlp_type(event)] += amount
    for kind, amount in wanted.items():
        if amount:
            check(problems, f"{kind} periods", sums[kind], amount)
    return None


FORMATS = {
    "pprof": (".pb.gz", read_pprof),
    "callgrind": (".callgrind", read_callgrind),
    "firefox": (".json.gz", read_firefox),
    "speedscope": (".speedscope.json", read_speedscope),
    "chrome": (".trace.json", read_chrome),
    "otlp": (".otlp", read_otlp),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiler")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--node")
    parser.add_argument("--otlp")
    parser.add_argument("--format", choices=FORMATS)
    options = parser.parse_args()
    skipped, differ, compared = set(), 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        options.scratch = scratch
        for path in options.files:
            try:
                events = expected(options.profiler, path)
            except ValueError as error:
                print(f"{path}: no report: {error}")
                continue
            if not events:
                print(f"{path}: no samples")
                continue
            for name, (ending, read) in FORMATS.items():
                if options.format not in (None, name):
                    continue
                written = os.path.join(scratch, "x" + ending)
                problems = []
                try:
                    output(options.profiler, "export", "-i", path, "-o", written)
                    reason = read(written, events, problems, options)
                    if reason:
                        skipped.add(f"{name}: {reason}")
                except (ValueError, KeyError, AttributeError, TypeError) as error:
                    problems.append(f"{type(error).__name__}: {error}")
                compared += 1
                differ += bool(problems)
                for problem in problems:
                    print(f"{path}: {name}: {problem}")
    for reason in sorted(skipped):
        print(f"skipped: {reason}")
    print(f"{compared} exports of {len(options.files)} recordings, {differ} read otherwise")
    return 1 if differ else 0


sys.exit(main())
