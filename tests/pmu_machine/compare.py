#!/usr/bin/env python3
"""Runs the profiler and perf side by side in the machine with a PMU, and compares what they count, sample and unwind.

    compare.py MACHINE FOLDER HOST [KEEP]

FOLDER has the AArch64 programs: profiler, workload, counter_test and those of compare_chains.py. HOST is the profiler of
this machine. The machine is booted twice: once with time that follows the instructions, where counts repeat to the last
digit, and once in real time with two CPUs, which have all that architecture has: pointer authentication, and vectors of
SVE. All commands of a boot run in one go, each with files of its own, and are compared when the machine is off. With
KEEP, these files stay there. Prints a line a comparison; exit status 1 where one failed.
"""

import os
import shutil
import sys

import compare_chains
from boot import Table
from compare_counts import CountBoot, exact_boot, real_time_boot


def main():
    machine, folder, host = sys.argv[1:4]
    keep = sys.argv[4] if len(sys.argv) > 4 and sys.argv[4] else None
    table = Table()
    for name, counts, chains, environment in (
        ("exact", exact_boot, compare_chains.without_pointer_authentication, {"ICOUNT": "2"}),
        ("real-time", real_time_boot, compare_chains.with_pointer_authentication, {"CPU": "max,pauth-impdef=on"}),
    ):
        boot = CountBoot(table, folder)
        counts(boot)
        chains(boot, host)
        boot.run(machine, environment)
        if keep:
            shutil.copytree(os.path.join(folder, "out"), os.path.join(keep, name), dirs_exist_ok=True)
    print(f"{table.made} compared, {table.failed} failed")
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
