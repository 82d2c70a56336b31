"""Checks the chains of programs/recursion.c, where callers_test cannot run.

    profiler folded -i FILE | check_recursion.py DEPTH

Prints the number of chains, the share of whole ones by weight, and the weight of wrong ones: those with a call that the
program does not make, and whole ones that reach leaf() at another depth. Exit status 0: none is wrong.
"""

import sys

# Functions of the program, and the callers of each.
CALLERS = {
    "main": {None},
    "alpha": {"main"},
    "beta": {"main"},
    "deep": {"alpha", "beta", "deep"},
    "leaf": {"deep"},
    "calibrate": {"main"},
    "wait_for_recorder": {"main"},
    "next_length": {"main"},
    "spin": {"leaf", "calibrate"},
    "cpu_now": {"leaf", "main", "calibrate"},
}


def is_right(functions, is_whole, depth):
    callers = functions[:-1]
    if is_whole:
        callers = [None, *callers]
    else:
        functions = functions[1:]
    if any(caller not in CALLERS[callee] for caller, callee in zip(callers, functions)):
        return False
    return not (is_whole and "leaf" in functions) or functions.count("deep") == depth


def main(depth):
    chains = total = whole = wrong = 0
    for line in sys.stdin:
        chain, _, weight = line.rstrip("\n").rpartition(" ")
        functions = [frame for frame in chain.split(";") if frame in CALLERS]
        if not functions:
            continue
        is_whole = "[cut" not in chain
        chains += 1
        total += int(weight)
        whole += is_whole * int(weight)
        if not is_right(functions, is_whole, depth):
            wrong += int(weight)
    print(f"{chains} chains, {100 * whole / max(total, 1):.2f} % whole, weight of wrong ones: {wrong}")
    return 0 if chains and not wrong else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
