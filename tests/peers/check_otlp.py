#!/usr/bin/env python3
"""check_otlp.py PROFILER FILE… [--push SPOOL…] [--otlp DIR]: checks our OTLP profiles against their conventions.

Exports each recording, reads the bytes with an independent reader (no library, no .proto file), and checks the rules of
docs/otlp.md by number. A file that ends in .otlp is read directly. With --push, `profiler push` sends the segments of an
agent's SPOOL to a server in this script, which also checks the request and its headers. With --otlp, protoc decodes
everything with the published files: DIR is a checkout of opentelemetry-proto.

Prints the violations of each rule, how often each rule was checked, and the types of frames. Exit code 1 if a rule was
violated, 2 if a rule was never checked.
"""

import argparse
import collections
import gzip
import http.server
import os
import re
import subprocess
import sys
import tempfile
import threading

TABLES = {1: "mapping", 2: "location", 3: "function", 4: "link", 5: "string", 6: "attribute", 7: "stack"}
BUILD_IDS = [f"process.executable.build_id.{kind}" for kind in ("gnu", "go", "htlhash")]
FRAME_TYPES = {"beam", "cpython", "dotnet", "go", "jvm", "kernel", "luajit", "native", "perl", "php", "ruby", "rust",
               "v8js"}
ARCHITECTURES = {"amd64", "arm32", "arm64", "ia64", "ppc32", "ppc64", "s390x", "x86"}
ALIASES = {"x86_64", "x86-64", "aarch64", "i386", "i686", "armv7l", "ppc64le", "ppc"}

# The rules, numbered as in docs/otlp.md.
RULES = {
    1: "each table has an element 0, which is the zero value",
    2: "the ids of link 0 are 16 and 8 zero bytes",
    3: "each index refers to an existing element of its table",
    4: "a sample has values or times; if it has both, their numbers are equal",
    5: "original_payload and its format are both present or both absent",
    6: "a function has a name, a system name or a file name",
    7: "keys of attributes are unique",
    8: "key and key_strindex are not both set",
    9: "a mapping has build_id.gnu, .go or .htlhash",
    10: "profile.frame.type is one of the well-known values",
    11: "profile.frame.type is the one that applies: by names, source files and images",
    12: "a resource has service.name; without a given one unknown_service:EXECUTABLE",
    13: "host.arch and os.type are the well-known values",
    14: "no attribute code.*",
    15: "attributes pprof.scope.* only at the scope",
    16: "texts are UTF-8",
    17: "ids have their lengths: profile 16, trace 16, span 8; a profile's is not all zeroes",
    18: "no element twice",
    19: "no element that nothing refers to",
    20: "times are within those of their profile",
    21: "each combination of stack, attributes and link has one sample",
    22: "all samples of a profile have the same fields: values, times or both",
    23: "an address is within its mapping",
    24: "the scope's name and version stand in their fields",
    25: "no path of the recorder's temporary files",
    26: "Pyroscope: cpu has period type cpu/nanoseconds",
    27: "Pyroscope: a profile has a period, whose type is its name; off_cpu/nanoseconds has none",
    28: "Pyroscope: no colon in a type",
    29: "HTTP: POST, Content-Type application/x-protobuf, gzip said where it is",
    30: "protoc with the published files knows every field",
}


class Damaged(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Damaged("cut")
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value & (1 << 64) - 1, at


def fields(data):
    """Yields (number, wire type, value) of each field."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise Damaged("cut")
        else:
            raise Damaged(f"wire type {kind}")
        yield number, kind, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def numbers(kind, value, fixed=False):
    """Returns the values of a repeated numeric field, which may be packed or not."""
    if kind != 2:
        return [value]
    result, at = [], 0
    while at < len(value):
        if fixed:
            result.append(int.from_bytes(value[at:at + 8], "little"))
            at += 8
        else:
            number, at = varint(value, at)
            result.append(signed(number))
    return result


class Checker:
    def __init__(self):
        self.checked = collections.Counter()
        self.violations = collections.defaultdict(list)
        self.types = collections.Counter()
        self.where = ""

    def require(self, rule, is_so, what=""):
        self.checked[rule] += 1
        if not is_so:
            self.violations[rule].append(f"{self.where}: {what}")

    def text(self, value):
        try:
            return value.decode()
        except UnicodeDecodeError:
            self.require(16, False, repr(value[:60]))
            return value.decode(errors="replace")

    # Checks one request.
    def check(self, data, where):
        self.where = where
        self.tables = {table: [] for table in TABLES}
        self.used = {table: set() for table in TABLES}
        resources = []
        for number, _, value in fields(data):
            if number == 1:
                resources.append(value)
            elif number == 2:
                for table, _, element in fields(value):
                    self.tables[table].append(element)
        self.check_tables()
        for resource in resources:
            self.check_resource(resource)
        for table, name in TABLES.items():
            if table == 4:
                continue
            for index in range(1, len(self.tables[table])):
                self.require(19, index in self.used[table], f"{name} {index}")

    def check_tables(self):
        for table, name in TABLES.items():
            elements = self.tables[table]
            if table == 4:
                link = {number: value for number, _, value in fields(elements[0])} if elements else None
                self.require(1, link is not None and not any(link.get(1, b"") + link.get(2, b"")), name)
                self.require(2, link == {1: bytes(16), 2: bytes(8)}, f"{link}")
                for element in elements:
                    for number, _, value in fields(element):
                        self.require(17, len(value) == (16 if number == 1 else 8), name)
            else:
                self.require(1, bool(elements) and elements[0] == b"", name)
            self.require(18, len(set(elements)) == len(elements), f"{name}: {len(elements) - len(set(elements))} twice")
        for element in self.tables[5]:
            self.require(16, self.text(element) is not None)

    def at(self, table, index):
        is_there = 0 <= index < len(self.tables[table])
        self.require(3, is_there, f"{TABLES[table]} {index} of {len(self.tables[table])}")
        self.used[table].add(index)
        return self.tables[table][index] if is_there else b""

    def string(self, index):
        return self.text(self.at(5, index))

    def any_value(self, value):
        for number, _, inner in fields(value):
            if number == 1:
                return self.text(inner)
            if number == 3:
                return signed(inner)
            if number == 5:
                return [self.any_value(element) for _, _, element in fields(inner)]
            if number == 8:
                return self.string(inner)
            return inner
        return None

    def key_value(self, data):
        key, by_number, value = None, None, None
        for number, _, inner in fields(data):
            if number == 1:
                key = self.text(inner)
            elif number == 2:
                value = self.any_value(inner)
            elif number == 3:
                by_number = self.string(inner)
        self.require(8, not (key and by_number), key)
        return key or by_number, value

    def pairs(self, list_of, where):
        keys = [key for key, _ in list_of]
        self.require(7, len(set(keys)) == len(keys), f"{where}: {keys}")
        for key in keys:
            self.require(14, not (key or "").startswith("code."), f"{where}: {key}")
            if where != "scope":
                self.require(15, not (key or "").startswith("pprof.scope."), f"{where}: {key}")
        return dict(list_of)

    def attributes(self, indices, where):
        result = []
        for index in indices:
            key, value = "", None
            for number, _, inner in fields(self.at(6, index)):
                if number == 1:
                    key = self.string(inner)
                elif number == 2:
                    value = self.any_value(inner)
                elif number == 3:
                    self.string(inner)
            result.append((key, value))
        return self.pairs(result, where)

    def mapping(self, index):
        facts = {"start": 0, "limit": 0, "name": "", "ids": {}}
        if index == 0:
            return None
        indices = []
        for number, kind, value in fields(self.at(1, index)):
            if number == 1:
                facts["start"] = value
            elif number == 2:
                facts["limit"] = value
            elif number == 4:
                facts["name"] = self.string(value)
            elif number == 5:
                indices += numbers(kind, value)
        attributes = self.attributes(indices, "mapping")
        facts["ids"] = {key: attributes[key] for key in BUILD_IDS if attributes.get(key)}
        self.require(9, bool(facts["ids"]), facts["name"])
        self.require(25, not re.search(r"/profiler-\w+/|/jit-\d+\.dump$", facts["name"]), facts["name"])
        return facts

    def function(self, index):
        name = system_name = file = ""
        for number, _, value in fields(self.at(3, index)):
            if number == 1:
                name = self.string(value)
            elif number == 2:
                system_name = self.string(value)
            elif number == 3:
                file = self.string(value)
        self.require(6, bool(name or system_name or file), f"function {index}")
        return name, file

    def location(self, index):
        mapping, address, lines, indices = None, None, [], []
        for number, kind, value in fields(self.at(2, index)):
            if number == 1:
                mapping = self.mapping(value)
            elif number == 2:
                address = value
            elif number == 3:
                for inner, _, line in fields(value):
                    if inner == 1:
                        lines.append(self.function(line))
            elif number == 4:
                indices += numbers(kind, value)
        attributes = self.attributes(indices, "location")
        if mapping and address is not None:
            self.require(23, mapping["start"] <= address <= mapping["limit"], f"{address:#x} of {mapping}")
        return mapping, lines, attributes

    # Compares names and files with the output of the languages' own tools, which is independent of
    # the writer.
    def check_type(self, mapping, lines, attributes, process_images):
        kind = attributes.get("profile.frame.type")
        image = (mapping or {}).get("name") or attributes.get("process.executable.path") or ""
        base = os.path.basename(image)
        name, file = lines[-1] if lines else ("", "")
        self.types[kind] += 1
        if kind is not None:
            self.require(10, kind in FRAME_TYPES, kind)
        expected = None
        if image.startswith("[kernel") or image.startswith("bpf_prog_") or re.fullmatch(r"\[\w+\]", image) and \
                image not in ("[vdso]", "[vsyscall]", "[unknown]"):
            expected = "kernel"
        elif not image and re.match(r"(JS|LazyCompile|Function|Script|RegExp|Builtin|BytecodeHandler):|\[unknown JavaS",
                                    name):
            expected = "v8js"
        elif not image and name.startswith("py::"):
            expected = "cpython"
        elif not image and name.startswith("JIT$"):
            expected = "php"
        elif not image and re.match(r"(Interpreter|StubRoutines|I2C/C2I|vtable stub|.*\bjava\.\w+\.)", name) and \
                any(os.path.basename(i) == "libjvm.so" for i in process_images):
            expected = "jvm"
        elif image and file.endswith(".go"):
            expected = "go"
        elif image and file.endswith(".rs"):
            expected = "rust"
        elif image and re.match(r"(runtime|main|sync|strconv|fmt)\.", name) and "(" not in name.split(".")[0] and \
                any(n.startswith("runtime.") for n in self.names_of_image[image]):
            expected = "go"
        elif image and re.search(r"\{\{closure\}\}|__rust_begin_short_backtrace|^std::rt::", name):
            expected = "rust"
        elif base and not image.startswith("["):
            expected = "native" if kind not in ("go", "rust") else kind
        self.require(11, expected is None or kind == expected, f"{name or '?'} of {image or '?'}: {kind}, not {expected}")
        if kind in ("go", "rust"):  # only functions with names have these kinds
            self.require(11, bool(name), f"{image}: {kind} without a name")

    def value_type(self, data):
        kind = unit = ""
        for number, _, value in fields(data):
            if number == 1:
                kind = self.string(value)
            elif number == 2:
                unit = self.string(value)
        return kind, unit

    def check_resource(self, data):
        pairs, scopes = [], []
        for number, _, value in fields(data):
            if number == 1:
                pairs += [self.key_value(inner) for field, _, inner in fields(value) if field == 1]
            elif number == 2:
                scopes.append(value)
        resource = self.pairs(pairs, "resource")
        service, executable = resource.get("service.name"), resource.get("process.executable.name")
        self.require(12, bool(service), f"{resource}")
        if service and service.startswith("unknown_service") and executable:
            self.require(12, service == f"unknown_service:{executable}", service)
        if "host.arch" in resource:
            self.require(13, resource["host.arch"] not in ALIASES, resource["host.arch"])
        if "os.type" in resource:
            self.require(13, resource["os.type"] == "linux", resource["os.type"])
        for key, value in resource.items():
            texts = value if isinstance(value, list) else [value]
            self.require(25, not any(re.search(r"/profiler-\w+/", str(text)) for text in texts), f"{key}={value}")
        for scope in scopes:
            profiles = []
            for number, _, value in fields(scope):
                if number == 1:
                    facts = {field: self.text(inner) for field, _, inner in fields(value) if field in (1, 2)}
                    self.require(24, re.fullmatch(r"\S+", facts.get(1, "")) and
                                 re.fullmatch(r"[\d.]+", facts.get(2, "")), f"{facts}")
                    self.pairs([self.key_value(inner) for field, _, inner in fields(value) if field == 3], "scope")
                elif number == 2:
                    profiles.append(value)
            for profile in profiles:
                self.check_profile(profile)

    def check_profile(self, data):
        sample_type, period_type, period, began, duration = ("", ""), None, 0, 0, 0
        payload, payload_format, indices, samples = None, None, [], []
        for number, kind, value in fields(data):
            if number == 1:
                sample_type = self.value_type(value)
            elif number == 2:
                samples.append(value)
            elif number == 3:
                began = value
            elif number == 4:
                duration = value
            elif number == 5:
                period_type = self.value_type(value)
            elif number == 6:
                period = signed(value)
            elif number == 7:
                self.require(17, len(value) == 16 and any(value), value.hex())
            elif number == 9:
                payload_format = value
            elif number == 10:
                payload = value
            elif number == 11:
                indices += numbers(kind, value)
        self.attributes(indices, "profile")
        self.require(5, bool(payload) == bool(payload_format))
        # pkg/ingester/otlp/convert.go
        shown = period_type if period_type and period else ("", "")
        if sample_type == ("cpu", "nanoseconds"):
            self.require(26, shown == ("cpu", "nanoseconds"), f"{sample_type} {shown}")
        if sample_type[0] == "off_cpu":
            self.require(27, sample_type == ("off_cpu", "nanoseconds") and shown == ("", ""), f"{sample_type} {shown}")
        else:
            self.require(27, bool(shown[0]), f"{sample_type} {shown}")
        self.require(28, ":" not in "".join(sample_type + shown), f"{sample_type} {shown}")
        shapes, identities = set(), set()
        stacks = []
        for sample in samples:
            stack, sample_indices, values, times, link = 0, [], [], [], 0
            for number, kind, value in fields(sample):
                if number == 1:
                    stack = value
                elif number == 2:
                    sample_indices += numbers(kind, value)
                elif number == 3:
                    link = value
                elif number == 4:
                    values += numbers(kind, value)
                elif number == 5:
                    times += numbers(kind, value, fixed=True)
            self.require(4, bool(values or times) and (not values or not times or len(values) == len(times)))
            for time in times:
                self.require(20, began <= time < began + duration, f"{time} of {began}+{duration}")
            shapes.add((bool(values), bool(times)))
            identity = (stack, tuple(sorted(sample_indices)), link)
            self.require(21, identity not in identities, f"{identity}")
            identities.add(identity)
            attributes = self.attributes(sample_indices, "sample")
            stacks.append((attributes.get("process.pid", attributes.get("process.executable.name")), stack))
        self.require(22, len(shapes) <= 1, f"{shapes}")
        self.check_stacks(stacks)

    def check_stacks(self, stacks):
        images, by_image, read = collections.defaultdict(set), collections.defaultdict(set), {}
        for process, stack in set(stacks):
            locations = []
            for number, kind, value in fields(self.at(7, stack)):
                if number == 1:
                    locations += numbers(kind, value)
            for location in locations:
                if location not in read:
                    read[location] = self.location(location)
                mapping, lines, attributes = read[location]
                image = (mapping or {}).get("name") or attributes.get("process.executable.path")
                if image:
                    images[process].add(image)
                    by_image[image].update(name for name, _ in lines)
        self.names_of_image = by_image
        all_images = set().union(*images.values()) if images else set()
        for mapping, lines, attributes in read.values():
            self.check_type(mapping, lines, attributes, all_images)


def push(profiler, spool, checker, bodies):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):  # noqa: N802
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_gzip = self.headers.get("Content-Encoding") == "gzip"
            checker.where = f"push {spool}"
            checker.require(29, self.path == "/v1development/profiles" and is_gzip == body.startswith(b"\x1f\x8b") and
                            self.headers.get("Content-Type") == "application/x-protobuf", f"{self.headers}")
            bodies.append((f"push {spool} #{len(bodies)}", gzip.decompress(body) if is_gzip else body))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    result = subprocess.run([profiler, "push", spool, "--to", f"otlp+http://127.0.0.1:{server.server_port}", "-q"],
                            capture_output=True, text=True, check=False)
    server.shutdown()
    if result.returncode != 0:
        sys.exit(f"push {spool}: {result.stderr}")


def decode(directory, data, checker):
    service = "opentelemetry/proto/collector/profiles/v1development/profiles_service.proto"
    message = "opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest"
    result = subprocess.run(["protoc", "-I", directory, f"--decode={message}", service], input=data,
                            capture_output=True, check=False)
    text = result.stdout.decode(errors="replace")
    unknown = re.findall(r"^\s*\d+: .*", text, re.MULTILINE)
    checker.require(30, result.returncode == 0 and not unknown, result.stderr.decode(errors="replace") + str(unknown[:3]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiler")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--push", nargs="*", default=[], metavar="SPOOL")
    parser.add_argument("--otlp", metavar="DIR")
    options = parser.parse_args()
    checker = Checker()
    requests = []
    with tempfile.TemporaryDirectory() as scratch:
        for path in options.files:
            written = path
            if not path.endswith(".otlp"):
                written = os.path.join(scratch, "x.otlp")
                result = subprocess.run([options.profiler, "export", "-i", path, "-o", written], capture_output=True,
                                        text=True, check=False)
                if result.returncode != 0:
                    print(f"{path}: not exported: {result.stderr.strip()}")
                    continue
            with open(written, "rb") as file:
                requests.append((path, file.read()))
    for spool in options.push:
        push(options.profiler, spool, checker, requests)
    for where, data in requests:
        before = collections.Counter(checker.types)
        checker.check(data, where)
        if options.otlp:
            decode(options.otlp, data, checker)
        types = checker.types - before
        print(f"{where}: " + ", ".join(f"{kind or 'none'} {count}" for kind, count in types.most_common()))
    expected = set(RULES) - (set() if options.otlp else {30}) - (set() if options.push else {29})
    for rule, what in RULES.items():
        if rule not in expected:
            continue
        found = checker.violations[rule]
        print(f"{rule:3} {'VIOLATED ' + str(len(found)) if found else 'ok':12} {checker.checked[rule]:9} {what}")
        for violation in found[:5]:
            print(f"      {violation}")
    total = sum(len(found) for found in checker.violations.values())
    print(f"{len(requests)} requests, {sum(checker.checked.values())} checks, {total} violations")
    if total:
        return 1
    return 2 if any(checker.checked[rule] == 0 for rule in expected - {10, 17, 20, 24}) else 0


sys.exit(main())
