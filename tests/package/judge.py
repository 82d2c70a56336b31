"""judge.py PROFILER SYSTEM OUT BUILT: checks the files OUT, which the packaged program wrote on SYSTEM. The
program that is installed here must agree with them; its recordings are in BUILT. Exit status 1: a check failed."""

import json
import os
import subprocess
import sys

VIEWS = ["report", "flat", "folded", "script", "json", "svg"]
HERE = os.path.dirname(os.path.abspath(__file__))

# Smallest accepted share of whole call chains. Some system programs have no call frame information.
WHOLE = {"launched": 0.995, "attached": 0.995, "nobody": 0.995, "system": 0.98, "everything": 0.97}


class Judge:
    def __init__(self, system):
        self.system, self.failed, self.made = system, 0, 0

    def expect(self, good, what, seen):
        self.made += 1
        if not good:
            self.failed += 1
            print(f"FAIL {self.system}: {what}: {seen}")


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        return f"no file: {error.strerror}"


def summary(folder, name):
    try:
        return json.loads(read(os.path.join(folder, f"{name}.json")))
    except ValueError:
        return {}


def shares(one):
    """Returns the share of each of the workload's functions in their sum."""
    found = {row["function"]: row["self"]["share"] for row in one.get("functions", [])
             if row["function"] in ("heavy", "light")}
    together = sum(found.values())
    return {name: share / together for name, share in found.items()} if together else {}


def judge_recording(judge, name, out, built):
    status = read(os.path.join(out, f"{name}.status")).strip()
    judge.expect(status == "0", f"record, {name}", f"exit status {status}: {read(os.path.join(out, name + '.log'))}")
    one = summary(out, name)
    chains, losses = one.get("chains", {}), one.get("losses", {})
    whole = chains.get("whole", 0) / max(chains.get("unwound", 0), 1)
    judge.expect(one.get("samples", 0) >= 100, f"samples of {name}", one.get("samples"))
    judge.expect(losses.get("lost_samples") == 0, f"lost samples of {name}", losses)
    judge.expect(whole >= WHOLE[name], f"whole chains of {name}", chains)
    if name == "system":
        return whole
    expected = shares(summary(built, name if name != "nobody" else "launched"))
    found = shares(one)
    for function in ("heavy", "light"):
        off = abs(found.get(function, 0) - expected.get(function, 1))
        judge.expect(off <= 0.05, f"share of {function} in {name}", (found, expected))
    return whole


def first_difference(there, here):
    for line_there, line_here in zip(there.splitlines(), here.splitlines()):
        if line_there != line_here:
            return f"there {line_there[:200]!r}, here {line_here[:200]!r}"
    return "one is longer"


def judge_views(judge, profiler, name, out):
    """Checks that the program that is installed here prints every view with the same bytes."""
    there = {view: read(os.path.join(out, f"{name}.{view}")) for view in VIEWS}
    subprocess.run(["sh", os.path.join(HERE, "views.sh"), profiler, name], cwd=out, check=True)
    for view in VIEWS:
        here = read(os.path.join(out, f"{name}.{view}"))
        judge.expect("exit status" not in here[-20:] and len(here) > 100, f"{view} of {name} here", here[-200:])
        judge.expect(there[view] == here, f"{view} of {name}", first_difference(there[view], here))


def main():
    profiler, system, out, built = os.path.abspath(sys.argv[1]), *sys.argv[2:5]
    judge = Judge(system)
    whole = {name: judge_recording(judge, name, out, built) for name in WHOLE}
    for name in [*WHOLE, "reference"]:
        judge_views(judge, profiler, name, out)
    chains = ", ".join(f"{name} {share:.2%}" for name, share in whole.items())
    print(f"{system}: {judge.made - judge.failed} of {judge.made} as expected; whole chains: {chains}")
    return 1 if judge.failed else 0


if __name__ == "__main__":
    sys.exit(main())
