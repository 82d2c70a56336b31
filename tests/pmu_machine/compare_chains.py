"""Checks call chains that were recorded in the machine: they must be whole and lead to the right callers, perf must read
the same chains, and this machine must report the recordings as the emulated machine does."""

import os
import re
import subprocess

from boot import PROFILER

# Smallest percentage of whole chains. All other chains may lead to wrong callers.
WHOLE = 98
# With real time, the emulator takes only some hundred samples, of which a dozen may be cut.
# Programs without call frame information may have more cut chains: at one instruction in thirty,
# the code does not show enough about the frame.
WHOLE_OF_FEW, WHOLE_BARE, FEW = 90, 82, 1000
ASTRAY = 100 - WHOLE
# The emulator takes few samples on two busy CPUs. With fewer than these, a single cut chain could
# fail the test.
FEWEST_SAMPLES = 100

# Copies as much of the stack as these programs use. Rings hold some thousand samples, because an
# emulated recorder may wait long to run, and lost records may include a library's mapping.
UNWOUND = "--call-graph dwarf,16384 -m 32M"

WORK = "Work;Caller;Leaf"
# Expected callees of a function: {program: [(arguments, function, pattern of every stack with
# it)]}.
C = [
    ("recursion 1000", "Leaf", f";main;(Descend;){{9}}{WORK}"),
    ("sort 100", "Leaf", ";main;Sort;.*;Compare;Leaf"),
    ("signals 1000", "Leaf", f";main;Interrupted;.*;Handler;{WORK}"),
    ("leaves 1200", "Leaf", ";main;Caller;Leaf"),
]
EXCEPTIONS = [("2000", "Work", ";main;Catch;((Throw;){9})?Work")]
VECTORS = [("vectors 2000", "Leaf", f";main;(Vectors;)?KeepsVectors;{WORK}")]


def samples(text):
    """Returns (event, addresses) of each sample from `script -F event,ip`. perf 6.1 prints user addresses relative to
    their image, so only their offset within the page is kept."""
    found = []
    for line in text.splitlines():
        if line.startswith((" ", "\t")) and found and re.fullmatch(r"\s*[0-9a-f]+\s*", line):
            address = int(line, 16)
            found[-1][1].append(address if address >> 63 else address % 4096)
        elif line.strip():
            found.append((line.split(":")[0].strip(), []))
    return found


def weight(folded):
    """Returns the weight of a line of folded stacks."""
    return int(folded.rsplit(" ", 1)[1])


def whole_chains(text):
    """Returns the percentage of whole chains by number, and the number of chains. A percentage by weight would
    depend on a dozen samples of each event."""
    line = re.match(r"# Call chains: .* are whole.*", text)
    count = line and re.search(r"% of (\d+) are whole|; (\d+) chains", line[0])
    if not count:
        return 0, 0
    chains = int(count[1] or count[2])
    cut = re.search(r", (\d+) cut", line[0])
    return round(100 * (1 - int(cut[1] if cut else 0) / chains), 2), chains


class Chains:
    """The recordings of one boot. `host`, the profiler of this machine, also reports them."""

    def __init__(self, boot, host, events):
        self.boot = boot
        self.host = host
        self.events = events

    def record(self, program, arguments, function=None, stack=None, options=UNWOUND):
        boot, table = self.boot, self.boot.table
        number = len(boot.commands)
        file = f"/out/{number:03}.data"
        what = f"chains: {os.path.basename(program)} {arguments}"
        if options != UNWOUND:
            what += f" ({options})"
        ours = f"{PROFILER} %s -i {file}"
        commands = [
            f"{PROFILER} record -o {file} {options} -F 999 -e {self.events} -- {program} {arguments} >/dev/null",
            ours % "report --chains",
            ours % "folded --full-names",
            ours % "script --no-inline -F event,ip",
            f"perf script -i {file} --no-inline -F event,ip",
            ours % "report",
        ]

        def judge(recorded, chains, folded, script, perfs, report):
            table.add(f"{what}: exit status", recorded.status, "0")
            whole, count = whole_chains(chains.out)
            if options != "--call-graph fp":
                least = WHOLE_BARE if "bare" in program else WHOLE_OF_FEW if count < FEW else WHOLE
                table.add(f"{what}: % whole of {count}", min(whole, least), least)
            mine, yours = samples(script.out), samples(perfs.out)
            table.add(f"{what}: samples", min(len(mine), FEWEST_SAMPLES), FEWEST_SAMPLES)
            table.add(f"{what}: samples that perf reads", len(mine), len(yours))
            table.add(f"{what}: with other chains than perf reads", sum(a != b for a, b in zip(mine, yours)), 0)
            if stack:
                having = [line for line in folded.out.splitlines() if re.search(f";{function}[; ]", line)]
                astray = [line for line in having if not re.search(stack, line)]
                share = round(100 * sum(map(weight, astray)) / max(sum(map(weight, having)), 1), 1)
                table.add(f"{what}: stacks with {function}", bool(having), True)
                table.add(f"{what}: of them, % leading elsewhere", max(share, ASTRAY), ASTRAY)
                for line in astray[:3]:
                    print(f"     {line}")
            here = subprocess.run([self.host, "report", "-i", os.path.join(boot.folder, file.lstrip("/"))],
                                  capture_output=True, text=True, check=False, env={"HOME": boot.folder, "PATH": "/bin"})
            table.add(f"{what}: report here as there", here.stdout == report.out and bool(report.out), True)

        boot.judge(judge, *(boot.command(line) for line in commands))

    def record_all(self, program, cases, options=UNWOUND):
        for arguments, function, stack in cases:
            self.record(program, arguments, function, stack, options)


def without_pointer_authentication(boot, host):
    """Runs the comparisons on a CPU without pointer authentication and SVE."""
    chains = Chains(boot, host, "cycles,instructions,cpu-clock")
    chains.record_all("/t/chains", C)
    chains.record_all("/t/exceptions", EXCEPTIONS)
    chains.record_all("/t/exceptions_signed", EXCEPTIONS)


def with_pointer_authentication(boot, host):
    """Runs the comparisons on a CPU with SVE, and with pointer authentication: return addresses on the stack are
    signed."""
    chains = Chains(boot, host, "cycles,cpu-clock")
    chains.record_all("/t/chains_signed", C)
    chains.record_all("/t/exceptions_signed", EXCEPTIONS)
    chains.record_all("/t/vectors", VECTORS)
    # Unwinds by the instructions, without call frame information and frame pointers.
    chains.record_all("/t/chains_bare", C)
    chains.record_all("/t/chains_bare_signed", C)
    chains.record("/t/chains_signed", "recursion 700", options="--call-graph fp")
    # A Rust program as Debian compiles it, which uses more of the stack.
    chains.record("/usr/bin/rg", "-c --text -uuu '[a-f]+[0-9]x' /usr/bin", options="--call-graph dwarf,65528 -m 64M")
