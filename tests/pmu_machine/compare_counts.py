"""Compares counts and samples of the profiler with perf's in the machine with a PMU."""

import os
import re
import subprocess

from boot import PERF_RECORD, PROFILER, WORKLOAD, Boot


class CountBoot(Boot):
    """A boot with the kinds of comparison that counting needs."""

    def stat(self, events, work, within=0.0):
        """Compares the counts of all events in the options `events`."""

        def compare(ours, theirs):
            mine = ours.counts()
            for i, (event, value, _) in enumerate(theirs.counts()):
                found = mine[i][1] if i < len(mine) else "nothing"
                self.table.add(f"stat {event}{' in a group' if '{' in events else ''}, {work}", found, value, within)
            if not theirs.counts():
                self.table.add(f"stat {events}", ours.err.strip()[-40:], theirs.err.strip()[-40:])

        self.both(f"stat -x, {events} -- {WORKLOAD} {work}", f"stat -x, {events} {WORKLOAD} {work}", compare)

    def record(self, options, work, within=0.0, share_of=None):
        """Compares the samples of each event and, over all events, the share of a function. perf reads both files."""
        listed = "-F event,ip,sym 2>/dev/null | sed 's/: *[0-9a-f]* /: 0 /' | sort | uniq -c"
        name = f"/tmp/{len(self.commands)}"
        manner = "" if re.fullmatch(r"(-e [^ ']+ ?)+", options) else f"{options}: "
        lines = [
            f"{PROFILER} record -o {name}.ours {options} -- {WORKLOAD} {work} >&2 && perf script -i {name}.ours {listed}",
            f"{PERF_RECORD} -o {name}.perf {options} {WORKLOAD} {work} >&2 && perf script -i {name}.perf {listed}",
        ]

        def compare(ours, theirs):
            mine, yours = ours.samples_by_event(), theirs.samples_by_event()
            if len(yours) == 1:
                # A single event may have another name.
                mine = {event: sum(mine.values()) for event in yours}
            if not yours:
                self.table.add(f"record {options}: samples of perf's", 0, "some")
            for event, expected in sorted(yours.items()):
                self.table.add(f"record {manner}{event}", mine.get(event, 0), expected, within)
            if share_of:
                mine, yours = (share(done.samples(), share_of) for done in (ours, theirs))
                self.table.add(f"record {options}: % in {share_of}", mine, yours, 0.01)

        self.judge(compare, *(self.command(line) for line in lines))

    def refused(self, options):
        """Checks that the profiler refuses an unsupported event in one line, and fails as perf does."""

        def compare(ours, theirs):
            said = len(ours.err.splitlines())
            self.table.add(f"record {options}: lines of error", said, 1)
            self.table.add(f"record {options}: fails", ours.status != "0", theirs.status != "0")

        self.both(f"record -o /tmp/none {options} -- {WORKLOAD} loop 1", f"record -o /tmp/none {options} {WORKLOAD} loop 1",
                  compare)


def share(samples, function):
    total = sum(samples.values())
    inside = sum(count for (_, symbol), count in samples.items() if symbol == function)
    return round(100 * inside / total, 2) if total else "none"


def symbols(program):
    listed = subprocess.run(["aarch64-linux-gnu-nm", program], capture_output=True, text=True, check=True).stdout
    return {fields[2]: int(fields[0], 16) for fields in map(str.split, listed.splitlines()) if len(fields) == 3}


def file_offset(program, address):
    headers = subprocess.run(["aarch64-linux-gnu-readelf", "-lW", program], capture_output=True, text=True,
                             check=True).stdout
    for fields in map(str.split, headers.splitlines()):
        if fields and fields[0] == "LOAD":
            offset, start, size = (int(fields[i], 16) for i in (1, 2, 4))
            if start <= address < start + size:
                return address - start + offset
    raise ValueError(f"{program} has nothing at {address:#x}")


def exact_boot(boot):
    """Returns the boot in which time follows the instructions."""
    table = boot.table
    program = os.path.join(boot.folder, "workload")
    address = symbols(program)

    # User-mode counts are equal to the last digit. Counts with the kernel's part are not, because
    # the kernel's work depends on the program that opened the events; a longer run reduces the
    # difference.
    for events in ("-e cycles:u", "-e instructions:u", "-e r11:u -e r8:u", "-e armv8_pmuv3/cpu_cycles/u",
                   "-e armv8_pmuv3/inst_retired/u", "-e '{cycles,instructions}:u'"):
        boot.stat(events, "loop 5000000")
    boot.stat("-e cycles -e instructions", "loop 60000000", within=0.01)
    boot.stat("-e page-faults:u", "pages 200")
    # Includes a supported event: without one, perf 7 prints nothing about the unsupported events.
    boot.stat("-e instructions:u -e branches -e branch-misses -e cache-misses -e L1-dcache-loads", "loop 1")

    def lengths(shorter, longer):
        counts = [int(done.counts()[0][1]) for done in (shorter, longer)]
        table.add("stat instructions:u, of a loop's 12000000", counts[1] - counts[0], 12000000)

    # Both numbers have the same count of digits, because the program parses them.
    boot.judge(lengths, *(boot.command(f"{PROFILER} stat -x, -e instructions:u -- {WORKLOAD} loop {rounds}")
                          for rounds in (3000000, 9000000)))

    # Ten events of one kind on seven counters: each is scaled up to the count of an event that is
    # always scheduled.
    def shared(ours, theirs):
        mine, yours = ours.counts(), theirs.counts()
        table.add("stat, ten events on seven counters: events", len(mine), len(yours))
        for i, (event, value, percent) in enumerate(mine[:10]):
            table.add(f"stat, ten events on seven counters: {event} no. {i + 1}", value, 400000000, 0.01)
        average = [round(sum(float(row[2]) for row in rows) / max(len(rows), 1), 2) for rows in (mine, yours)]
        # Random events get the last turn of scheduling. It is one of some hundred turns.
        table.add("stat, ten events on seven counters: % of the time", *average, 0.02)

    ten = " ".join(["-e r8:u"] * 10)
    boot.both(f"stat -x, {ten} -- {WORKLOAD} loop 200000000", f"stat -x, {ten} {WORKLOAD} loop 200000000", shared)

    # Samples.
    boot.record("-e cycles:u -c 1000000", "shares 4000000", share_of="Heavy")
    boot.record("-e instructions:u -c 1000000", "shares 16000000", share_of="Heavy")
    boot.record("-e '{cycles,instructions}:S' -c 1000000", "shares 4000000", within=0.01)
    boot.record("-e cycles -F 1000", "shares 16000000", within=0.01, share_of="Heavy")

    # Breakpoints and probes.
    watched, probed = f"{address['watched']:#x}", f"{address['Probed']:#x}"
    for event in (f"mem:{watched}/4:w", f"mem:{watched}/4:rw", f"mem:{probed}:x"):
        boot.stat(f"-e {event}", "calls 50")
        boot.record(f"-e {event}", "calls 50")
    offset = f"{file_offset(program, address['Probed']):#x}"
    boot.command(f"echo p:probes/entered {WORKLOAD}:{offset} >>/sys/kernel/tracing/uprobe_events;"
                 f"echo r:probes/left {WORKLOAD}:{offset} >>/sys/kernel/tracing/uprobe_events;"
                 "echo p:probes/nap do_nanosleep >>/sys/kernel/tracing/kprobe_events;"
                 "echo r:probes/rested do_nanosleep >>/sys/kernel/tracing/kprobe_events")
    for events, work in (("-e probes:entered -e probes:left", "calls 50"),
                         ("-e probes:nap -e probes:rested -e syscalls:sys_enter_clock_nanosleep", "naps 20")):
        boot.stat(events, work)
        boot.record(events, work)
    # Other processes may take the program's CPU a few times, more often if the host is busy.
    boot.stat("-e context-switches -e sched:sched_switch", "naps 200", within=0.05)
    boot.record("-e sched:sched_switch", "naps 200", within=0.05)

    # perf has no name for a probe that was not defined before. The number of calls is known.
    for event, work, expected in ((f"{WORKLOAD}:Probed", "calls 50", 50), ("kprobe:do_nanosleep", "naps 20", 20)):

        def own_probes(done, work=work, expected=expected):
            for probe, value, _ in done.counts():
                table.add(f"stat {probe}, {work}", value, expected)
            table.add(f"stat, own probes, {work}: events", len(done.counts()), 2)

        boot.judge(own_probes, boot.command(f"{PROFILER} stat -x, --force -e {event} -e {event}%return -- {WORKLOAD} {work}"))

    # Reports of each program's own recording.
    def reports(ours, theirs):
        shares = [re.search(r"([0-9.]+)%.*\bHeavy\b", done.out) for done in (ours, theirs)]
        table.add("report: % in Heavy", *(match[1] if match else "none" for match in shares), 0.01)

    heavy = "shares 4000000"
    boot.judge(reports,
               boot.command(f"{PROFILER} record -o /tmp/o -e cycles:u -c 200000 -- {WORKLOAD} {heavy} >&2;"
                            f"{PROFILER} report -i /tmp/o --no-children -g none"),
               boot.command(f"{PERF_RECORD} -o /tmp/p -e cycles:u -c 200000 {WORKLOAD} {heavy} >&2;"
                            "perf report -i /tmp/p --stdio --no-children -g none"))

    for options in ("-e branches", "-e L1-dcache-loads", "-e LLC-load-misses", "-e cycles -b"):
        boot.refused(options)


def real_time_boot(boot):
    """Returns the boot with two CPUs and real time, in which durations are random."""
    table = boot.table

    # The rate of cycles on all CPUs. In a group, because both events have to begin and end
    # together.
    def frequency(ours, theirs):
        rates = []
        for done in (ours, theirs):
            counted = [float(row[1]) for row in done.counts()]
            rates.append(round(counted[0] / counted[1] / 1e6, 3) if len(counted) == 2 else "none")
        table.add("stat -a -e '{cycles,cpu-clock}': GHz", *rates, 0.01)

    events = "-a -x, -e '{cycles,cpu-clock}'"
    boot.both(f"stat {events} -- sleep 1", f"stat {events} sleep 1", frequency)

    def per_cpu(ours, theirs):
        mine, yours = ({row[1]: int(row[0]) for row in map(str.split, done.out.splitlines())} for done in (ours, theirs))
        for cpu in ("[000]", "[001]"):
            table.add(f"record -a -e probes:entered: on CPU {cpu}", mine.get(cpu, 0), yours.get(cpu, "none"))

    program = os.path.join(boot.folder, "workload")
    offset = f"{file_offset(program, symbols(program)['Probed']):#x}"
    boot.command(f"echo p:probes/entered {WORKLOAD}:{offset} >>/sys/kernel/tracing/uprobe_events")
    calls = f"sh -c 'taskset 1 {WORKLOAD} calls 300 & taskset 2 {WORKLOAD} calls 200; wait'"
    counted = "-F cpu 2>/dev/null | sort | uniq -c"
    boot.judge(per_cpu,
               boot.command(f"{PROFILER} record -a -o /tmp/o -e probes:entered -- {calls} >&2;"
                            f"perf script -i /tmp/o {counted}"),
               boot.command(f"{PERF_RECORD} -a -o /tmp/p -e probes:entered {calls} >&2;"
                            f"perf script -i /tmp/p {counted}"))
