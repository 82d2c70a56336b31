#!/usr/bin/env python3
"""Calls functions in many ways. With `--edges`, also prints all calls that it makes.

  known_calls.py ROUNDS          runs all of it so many times, in each thread: recursion, generators, exceptions, callbacks
                                 of C code (sort, re, json, ctypes), threads, a forked process, asyncio
  known_calls.py ROUNDS --edges  does so and prints each call that Python itself has seen, CALLER <tab> CALLEE

All rounds make the same calls, so that the calls of a few rounds are those of many.

A function is MODULE.QUALIFIED_NAME; before Python 3.11, MODULE.NAME.
"""
import gc
import sys

# The collector would call functions from wherever it happens to run.
gc.disable()
EDGES = set()
CODES = {}  # {code object: name}


def name_of(frame):
    code = frame.f_code
    return "%s.%s" % (frame.f_globals.get("__name__"), getattr(code, "co_qualname", code.co_name))


def note(frame, event, argument):
    """Takes a call, as sys.setprofile reports it."""
    if event != "call":
        return
    CODES.setdefault(frame.f_code, name_of(frame))
    if frame.f_back is not None:
        CODES.setdefault(frame.f_back.f_code, name_of(frame.f_back))
        EDGES.add((name_of(frame.f_back), name_of(frame)))


if "--edges" in sys.argv:
    # Before the imports, whose calls count too.
    sys.setprofile(note)

import asyncio
import ctypes
import functools
import json
import os
import re
import threading


def work(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total


def recursion(depth):
    if depth == 0:
        return leaf_of_recursion()
    return recursion(depth - 1) + 1


def leaf_of_recursion():
    return work(300)


def outer_generator(n):
    yield from inner_generator(n)


def inner_generator(n):
    for i in range(n):
        yield generated(i)


def generated(i):
    return work(60) + i


def use_generators():
    total = sum(outer_generator(20))
    for value in (generated(i) for i in range(5)):
        total += value
    return total + sum([generated(i) for i in range(5)])


class Failure(Exception):
    def __init__(self, value):
        super().__init__(value)
        self.value = self.made(value)

    def made(self, value):
        return work(100) + value


def thrower(depth):
    if depth == 0:
        raise Failure(work(50))
    try:
        return thrower(depth - 1)
    finally:
        cleaned_up()


def cleaned_up():
    return work(40)


def use_exceptions():
    try:
        thrower(5)
    except Failure as failure:
        return handled(failure)


def handled(failure):
    return work(100) + failure.value


@functools.total_ordering
class Ordered:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return compared(self, other) == 0

    def __lt__(self, other):
        return compared(self, other) < 0


def compared(a, b):
    work(15)
    return a.value - b.value


def sort_key(value):
    return work(30) - value


def use_sort():
    values = sorted(range(20), key=sort_key)
    return sorted(Ordered(value) for value in values)


def replacement(match):
    return str(work(40) % 10)


def use_re():
    return re.sub("a.", replacement, "ab ac ad ae")


class Unknown:
    pass


def converted(value):
    return {"sum": work(60)}


def hooked(value):
    work(60)
    return value


def use_json():
    text = json.dumps([Unknown(), {"a": Unknown()}], default=converted)
    return json.loads(text, object_hook=hooked)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
def compare_for_c(a, b):
    work(15)
    return a[0] - b[0]


def use_ctypes():
    values = (ctypes.c_int * 8)(*[3, 1, 4, 1, 5, 9, 2, 6])
    ctypes.CDLL(None).qsort(values, len(values), ctypes.sizeof(ctypes.c_int), compare_for_c)
    return list(values)


async def coroutine(n):
    await asyncio.sleep(0)
    return await inner_coroutine(n)


async def inner_coroutine(n):
    await asyncio.sleep(0)
    return work(100) + n


async def gathered():
    return sum(await asyncio.gather(*[coroutine(i) for i in range(4)]))


def use_asyncio():
    return asyncio.run(gathered())


ALL = [use_generators, use_exceptions, use_sort, use_re, use_json, use_ctypes, use_asyncio]


def one_round():
    recursion(40)
    for use in ALL[:-1]:
        use()


def in_thread(rounds):
    for _ in range(rounds):
        one_round()


def main(rounds):
    child = os.fork()
    if child == 0:
        in_thread(rounds)
        if "--edges" in sys.argv:
            print_edges()
        sys.stdout.flush()
        os._exit(0)
    threads = [threading.Thread(target=in_thread, args=(rounds,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(rounds):
        one_round()
        use_asyncio()
    for thread in threads:
        thread.join()
    os.waitpid(child, 0)


def profiled_from_the_start(start):
    """Returns the function that starts threads, so that it also notes the calls before Thread.run."""

    def start_profiled(function, *arguments, **options):
        def begin(*begun):
            sys.setprofile(note)
            function(*begun)

        return start(begin, *arguments, **options)

    return start_profiled


def print_edges():
    sys.setprofile(None)
    from creations import creations
    for edge in sorted(EDGES | creations(CODES)):
        print("\t".join(edge))


if "--edges" in sys.argv:
    for starter in ("_start_new_thread", "_start_joinable_thread"):
        if hasattr(threading, starter):
            setattr(threading, starter, profiled_from_the_start(getattr(threading, starter)))
main(int(sys.argv[1]))
if "--edges" in sys.argv:
    print_edges()
