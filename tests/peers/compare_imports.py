#!/usr/bin/env python3
"""compare_imports.py PROFILER [--make DIR] [FILE…]: compares `profiler report` with `go tool pprof -top` on pprof files.

Compares the functions' own values exactly, for each type of sample of each file. --make writes files to DIR, one for
each feature of profile.proto, and compares these, too.

Names are compared as the file has them (-symbolize=none, --no-demangle). Code without a name has a row for each image.
Values are sums of the file's numbers; times are in nanoseconds. Negative values are not imported: if a file has some,
the script prints a message and compares the rest.
"""
import argparse
import collections
import gzip
import json
import os
import re
import subprocess
import sys

UNITS = {"microseconds": 1000, "us": 1000, "milliseconds": 10**6, "ms": 10**6, "seconds": 10**9, "s": 10**9}


class Proto:
    """Writes a message, field by field."""

    def __init__(self):
        self.bytes = b""

    @staticmethod
    def varint(value):
        value &= (1 << 64) - 1
        out = b""
        while value >= 0x80:
            out += bytes([value & 0x7f | 0x80])
            value >>= 7
        return out + bytes([value])

    def number(self, field, value):
        self.bytes += self.varint(field << 3) + self.varint(value)
        return self

    def data(self, field, value):
        value = value.bytes if isinstance(value, Proto) else value.encode() if isinstance(value, str) else value
        self.bytes += self.varint(field << 3 | 2) + self.varint(len(value)) + value
        return self

    def packed(self, field, values):
        return self.data(field, b"".join(self.varint(value) for value in values))


class Pprof:
    def __init__(self, types=(("samples", "count"), ("cpu", "nanoseconds")), packed=True):
        self.out, self.strings, self.is_packed = Proto(), [""], packed
        for kind, unit in types:
            self.out.data(1, Proto().number(1, self.text(kind)).number(2, self.text(unit)))

    def text(self, text):
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)

    def mapping(self, number, start, limit, offset, file, build_id="", flags=0):
        m = Proto().number(1, number).number(2, start).number(3, limit).number(4, offset)
        m.number(5, self.text(file)).number(6, self.text(build_id))
        for field in range(7, 11):
            if flags >> (field - 7) & 1:
                m.number(field, 1)
        self.out.data(3, m)
        return self

    def function(self, number, name, system_name="", file="", start_line=0):
        f = Proto().number(1, number).number(2, self.text(name)).number(3, self.text(system_name))
        self.out.data(5, f.number(4, self.text(file)).number(5, start_line))
        return self

    def location(self, number, mapping, address, lines=(), is_folded=False):
        location = Proto().number(1, number).number(2, mapping).number(3, address)
        for function, line in lines:
            location.data(4, Proto().number(1, function).number(2, line).number(3, 7))
        if is_folded:
            location.number(5, 1)
        self.out.data(4, location)
        return self

    def sample(self, locations, values, labels=()):
        sample = Proto()
        if self.is_packed:
            sample.packed(1, locations).packed(2, values)
        else:
            for location in locations:
                sample.number(1, location)
            for value in values:
                sample.number(2, value)
        for key, value, unit in labels:
            label = Proto().number(1, self.text(key))
            if isinstance(value, str):
                label.number(2, self.text(value))
            else:
                label.number(3, value)
            if unit:
                label.number(4, self.text(unit))
            sample.data(3, label)
        self.out.data(2, sample)
        return self

    def field(self, number, value):
        self.out.number(number, self.text(value) if isinstance(value, str) else value)
        return self

    def period(self, kind, unit, period):
        self.out.data(11, Proto().number(1, self.text(kind)).number(2, self.text(unit)))
        return self.field(12, period)

    def finish(self):
        for text in self.strings:
            self.out.data(6, text)
        return self.out.bytes


def usual(**options):
    """Returns a profile in which main calls work, which calls malloc with alloc inlined into it, and code without
    names."""
    pprof = Pprof(**options)
    pprof.mapping(1, 0x400000, 0x500000, 0, "/bin/server", "ab12", 15).mapping(2, 0x7f00000, 0x7f10000, 0, "/lib/c.so")
    for number, name in enumerate(["main", "work", "malloc", "alloc", "other"], 1):
        pprof.function(number, name, name, f"/src/{name}.c", 5)
    pprof.location(1, 1, 0x400100, [(1, 10)]).location(2, 1, 0x400200, [(2, 20)])
    pprof.location(3, 2, 0x7f00300, [(4, 30), (3, 31)]).location(4, 1, 0x400400, []).location(5, 1, 0x400500, [(5, 1)])
    return pprof


def fill(pprof, values=((3, 30), (2, 20), (1, 10), (4, 40))):
    for stack, value in zip(([3, 2, 1], [2, 1], [4, 1], [5, 2, 1]), values):
        pprof.sample(stack, list(value))
    return pprof


def made():
    """Returns name → bytes of a file, one for each feature of profile.proto."""
    heap = (("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes"))
    heap_values = ((1, 100, 0, 0), (2, 200, 1, 100), (3, 300, 2, 200), (4, 400, 3, 300))
    files = {
        "plain": fill(usual()),
        "not_packed": fill(usual(packed=False)),
        "drop": fill(usual().field(7, "malloc|free")),
        "drop_inlined": fill(usual().field(7, "alloc")),
        "drop_keep": fill(usual().field(7, "m.*|work").field(8, "main|work")),
        "drop_root": fill(usual().field(7, "main")),
        "drop_syntax": fill(usual().field(7, r"(?:ma\w+c|o[a-z]+er)")),
        "heap": fill(usual(types=heap), heap_values),
        "heap_default": fill(usual(types=heap).field(14, "alloc_space"), heap_values),
        "one_type": fill(usual(types=(("cpu", "nanoseconds"),)).period("cpu", "nanoseconds", 10), ((30,), (20,), (10,), (40,))),
        "count_only": fill(usual(types=(("goroutine", "count"),)), ((3,), (2,), (1,), (4,))),
        "labels": usual().sample([2, 1], [1, 10], [("bytes", 64, "bytes"), ("request", "r1", "")])
                         .sample([2, 1], [2, 20], [("bytes", 128, "bytes"), ("thread", "worker", ""), ("tid", 7, "")]),
        "comments": fill(usual().field(13, "a comment").field(13, "# hidden").field(15, "http://example.com/doc")),
        "times": fill(usual().field(9, 1_700_000_000_000_000_000).field(10, 10**10).period("cpu", "nanoseconds", 10)),
        "folded": usual().location(9, 1, 0x400900, [(5, 3)], is_folded=True).sample([9, 1], [5, 50]),
        "recursive": usual().sample([2, 2, 2, 1], [3, 30]).sample([1, 2, 1], [1, 10]),
        "no_stack": usual().sample([2, 1], [1, 10]).sample([], [1, 10]),
        "zeroes": usual().sample([2, 1], [0, 0]).sample([1], [1, 10]),
        "twice": usual().sample([2, 1], [1, 10]).sample([2, 1], [1, 10]),
        "negative": usual().sample([2, 1], [1, 10]).sample([1], [-3, -30]),
        "high_ids": Pprof().function(1 << 60, "f").location(1 << 63, 0, 0, [(1 << 60, 1)]).sample([1 << 63], [1, 10]),
        "no_mapping": Pprof().function(7, "f").location(9, 0, 0x1234, [(7, 1)]).location(3, 0, 0x99).sample([9, 3], [1, 10])
                             .sample([3], [2, 20]),
        "empty_mapping": Pprof().mapping(5, 0, 0, 0, "").location(1, 5, 0x10).function(2, "g").location(2, 5, 0x20, [(2, 0)])
                                .sample([1, 2], [1, 10]).sample([2], [1, 5]),
        "one_address": Pprof().function(1, "f").function(2, "g").location(1, 0, 0x10, [(1, 1)]).location(2, 0, 0x10, [(2, 1)])
                              .sample([1], [1, 10]).sample([2], [2, 20]),
        "same_name": Pprof().function(1, "f", "", "/a.c").function(2, "f", "", "/b.c").location(1, 0, 0, [(1, 1)])
                            .location(2, 0, 0, [(2, 1)]).sample([1], [1, 10]).sample([2], [2, 20]),
        "system_name": Pprof().function(1, "", "sys").location(1, 0, 0, [(1, 1)]).sample([1], [1, 10]),
        "odd_names": Pprof().function(1, "a;b c\td").function(2, "f(int, char)").location(1, 0, 0, [(1, 1)])
                            .location(2, 0, 0, [(2, 1)]).sample([1, 2], [1, 10]).sample([2], [2, 20]),
        "kernel": Pprof().mapping(1, 0xffffffff80000000, 0xffffffffc0000000, 0, "[kernel.kallsyms]").function(1, "vfs_read")
                         .location(1, 1, 0xffffffff80001000, [(1, 0)]).sample([1], [1, 10]),
        "same_type_twice": fill(usual(types=(("space", "bytes"), ("space", "bytes"))), ((1, 10), (2, 20), (3, 30), (4, 40))),
    }
    for unit in ("microseconds", "milliseconds", "seconds", "us", "ms", "s"):
        files[f"unit_{unit}"] = fill(usual(types=(("wall", unit),)), ((3,), (2,), (1,), (4,)))
    return {name: pprof.finish() for name, pprof in files.items()}


def types_of(path):
    raw = subprocess.run(["go", "tool", "pprof", "-raw", "-symbolize=none", path], capture_output=True, text=True,
                         check=True).stdout
    line = raw.splitlines()[raw.splitlines().index("Samples:") + 1]
    return [tuple(name.removesuffix("[dflt]").rsplit("/", 1)) for name in line.split()], "[dflt]" in line, \
        bool(re.search(r"^ +(?:-?\d+ +)*-\d+(?: +-?\d+)*:", raw, re.MULTILINE))


def pprof_rows(path, index, unit):
    """Returns function → own value."""
    # With "none", a function that has only a system name gets no name.
    names = "demangle=full" if os.path.basename(path).startswith("system_name") else "none"
    text = subprocess.run(["go", "tool", "pprof", "-top", f"-symbolize={names}", "-nodecount=1000000",
                           "-nodefraction=0", f"-sample_index={index}", f"-unit={unit}", path], capture_output=True,
                          text=True, check=True).stdout
    rows = collections.Counter()
    for line in text.splitlines():
        row = re.match(r"^ *(-?[\d.]+)\S* +\S+ +\S+ +\S+ +\S+  ?(.*)$", line)
        if row:
            name = re.sub(r" \((?:partial-)?inline\)$", "", row.group(2))
            rows[name] += round(float(row.group(1)) * UNITS.get(unit, 1))
    # Samples without a stack have no row, but count in the total.
    total = re.search(r"of (-?[\d.]+)\S* total", text)
    if total:
        rows["<unknown>"] += round(float(total.group(1)) * UNITS.get(unit, 1)) - sum(rows.values())
    return +rows


def our_rows(profiler, path, number_of_event, is_samples):
    text = subprocess.run([profiler, "report", "--json", "--no-children", "--no-demangle", "--no-group", "-s", "dso,sym",
                           "-i", path], capture_output=True, text=True, errors="replace", check=True).stdout
    events = json.loads(text)["events"]
    rows = collections.Counter()
    event = next((e for e in events if e["event"] == number_of_event), None)
    for row in event["rows"] if event else []:
        name = row.get("symbol") or ""
        if not name or re.fullmatch(r"0x[0-9a-f]+", name):
            name = "<unknown>" if row["dso"] == "[unknown]" else f"[{row['dso'].strip('[]')}]"
        rows[name] += round(row["self"]["samples" if is_samples else "amount"])
    return +rows


def is_count_of_next(types, index):
    kind, unit = types[index]
    follows = index + 1 < len(types)
    return unit == "count" and follows and (kind in ("samples", "sample") or kind == types[index + 1][0] + "_samples")


def names_of(types):
    """Returns the names of our events. Equal types are distinguished by their units, or else by numbers."""
    names = []
    for kind, unit in types:
        name, number = kind, 1
        while name in names:
            name = f"{kind}_{unit}" + (f"_{number}" if number > 1 else "")
            number += 1
        names.append(name)
    return names


def compare(profiler, path):
    """Returns two numbers: how many types differ, and how many types there are."""
    types, _, has_negative = types_of(path)
    names = names_of(types)
    differ = 0
    for index, (kind, unit) in enumerate(types):
        is_samples = is_count_of_next(types, index)
        event = names[index + 1] if is_samples else names[index]
        try:
            ours = our_rows(profiler, path, event, is_samples)
        except subprocess.CalledProcessError as error:
            print(f"DIFFERENT {path} {kind}: {error.stderr.strip()[:200]}")
            differ += 1
            continue
        theirs = pprof_rows(path, index, unit)
        if ours == theirs:
            continue
        if has_negative:
            print(f"not compared {path} {kind}: it has values below zero")
            continue
        differ += 1
        print(f"DIFFERENT {path} {kind}: ours {dict((ours - theirs).most_common(4))}, "
              f"pprof {dict((theirs - ours).most_common(4))}")
    return differ, len(types)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiler")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--make", metavar="DIR")
    options = parser.parse_args()
    files = list(options.files)
    if options.make:
        os.makedirs(options.make, exist_ok=True)
        for number, (name, data) in enumerate(made().items()):
            path = os.path.join(options.make, name + (".pb.gz" if number % 2 else ".pb"))
            with open(path, "wb") as file:
                file.write(gzip.compress(data) if number % 2 else data)
            files.append(path)
    differ = all_types = 0
    for path in files:
        try:
            differs, types = compare(options.profiler, path)
        except subprocess.CalledProcessError as error:
            print(f"{path}: pprof does not read it: {error.stderr.strip()[:200]}")
            continue
        differ += differs
        all_types += types
    print(f"{len(files)} files, {all_types} types of samples, {differ} with other rows")
    return differ != 0


sys.exit(main())
