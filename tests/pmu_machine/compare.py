#!/usr/bin/env python3
"""Runs the profiler and perf side by side in the machine with a PMU, and compares counts, samples and unwinding.

    compare.py MACHINE FOLDER HOST [KEEP]

FOLDER contains the AArch64 programs: profiler, workload and the programs of compare_chains.py. HOST is
the profiler of this machine. The machine is booted twice. In the first boot time follows the instructions, so counts
are exactly repeatable. The second boot has real time and two CPUs with all features of the architecture: pointer
authentication, and SVE vectors. All commands of a boot run at once, each with its own files. The files are compared
when the machine is off, and kept in KEEP if that is given. Prints a line per comparison; exit status 1 if one failed.
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
