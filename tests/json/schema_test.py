"""schema_test.py PROFILER WRITE_RECORDINGS SIMULATE SCHEMA: validates the JSON of all views against SCHEMA.

Reads the recordings that WRITE_RECORDINGS writes, the recordings in the folder PROFILER_CORPUS, and the fleet that
SIMULATE writes.
"""

import copy
import glob
import itertools
import json
import os
import subprocess
import sys
import tempfile

import jsonschema

PROFILER, WRITE_RECORDINGS, SIMULATE, SCHEMA = sys.argv[1:]
REPORTS = [[], ["--no-children"], ["-s", "pid,tgid,comm,cpu,time,parent,socket,comm_nodigit", "--parent", "x"],
           ["-s", "dso,sym,srcline,srcfile,symoff"], ["--percentage", "relative", "--comm", "cat"]]

failures = 0
checked = 0


def fail(what):
    global failures
    failures += 1
    print(what)


with open(SCHEMA, encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)


def run(arguments):
    """Runs a command. Returns its exit code, standard output and standard error."""
    done = subprocess.run([PROFILER, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace")


def check(text, view, arguments):
    """Returns the parsed document, or None if the text is not JSON. Reports violations of the schema."""
    global checked
    checked += 1
    try:
        document = json.loads(text)
    except ValueError as error:
        fail(f"{arguments}: no JSON: {error}: {text[:200]}")
        return None
    for error in itertools.islice(validator.iter_errors(document), 1):
        # An error below a choice of views is reported in the context of the chosen view.
        nearest = jsonschema.exceptions.best_match([error])
        fail(f"{arguments}: {'/'.join(map(str, nearest.absolute_path))}: {nearest.message[:300]}")
    if document.get("view") != view:
        fail(f"{arguments}: view is {document.get('view')}")
    return document


def check_command(arguments):
    code, text, errors = run(arguments)
    if code != 0 and not text:
        fail(f"{arguments}: {errors}")
        return None
    return check(text, arguments[0], arguments)


def check_sums(document, arguments):
    """Checks that the rows' own samples add up to the event's, and that shares lie in their intervals."""
    for event in document["events"]:
        if event["samples"] != sum(row["self"]["samples"] for row in event["rows"]):
            fail(f"{arguments}: the rows of {event['event']} are not its samples")
        for row in event["rows"]:
            share = row["self"]
            if event["intervals"] and not share["low"] <= share["share"] <= share["high"]:
                fail(f"{arguments}: {row} lies outside its interval")


def check_recording(path):
    for options in REPORTS:
        arguments = ["report", "--json", "-i", path, *options]
        document = check_command(arguments)
        if document and not options:
            check_sums(document, arguments)
    check_command(["summary", "--json", "-i", path])


def check_that_it_can_fail(document):
    """Checks that the schema refuses unknown members, and documents without a required member."""
    for change in ("another", "missing"):
        wrong = copy.deepcopy(document)
        if change == "another":
            wrong["events"][0]["rows"][0]["self"]["more"] = 1
        else:
            del wrong["events"][0]["rows"][0]["self"]["share"]
        if validator.is_valid(wrong):
            fail(f"a document with {change} member is valid")


def check_stat():
    code, _, errors = run(["stat", "--json", "-e", "task-clock", "true"])
    if code != 0:
        print(f"skipped: stat, because this kernel counts nothing: {errors}")
        return
    for options in ([], ["-r", "3"], ["-A", "-a"], ["-e", "cycles,cs"], ["-I", "20"]):
        arguments = ["stat", "--json", *options, "--", "sleep", "0.05"]
        _, _, text = run(arguments)
        documents = text.splitlines() if "-I" in options else [text]
        for document in documents:
            check(document[document.find("{"):document.rfind("}") + 1], "stat", arguments)


def check_query(spool):
    for release in ("1.2", "1.3"):
        subprocess.run([SIMULATE, spool, "--hosts", "3", "--minutes", "1", "--window", "30", "--stacks", "300",
                        "--host-prefix", release + "-", "--label", "release=" + release], check=True,
                       stdout=subprocess.DEVNULL)
    asked = ["query", "--from", spool, "--since", "1d", "--json"]
    for options in ([], ["--by", "host,service,function", "--total"], ["--by", "event"], ["--by", "rack", "-n", "1"],
                    ["--where", "release=1.2", "--until", "2099-01-01"]):
        check_command([*asked, *options])
    for options in ([], ["--total"]):
        arguments = [*asked, "--before", "release=1.2", "--after", "release=1.3", *options]
        code, text, errors = run(arguments)
        if code != 0:
            fail(f"{arguments}: {errors}")
        check(text, "diff", arguments)


with tempfile.TemporaryDirectory() as folder:
    check_query(os.path.join(folder, "spool"))
    subprocess.run([WRITE_RECORDINGS, folder], check=True)
    written = {name: os.path.join(folder, name + ".data") for name in ("usual", "clock", "counted", "nothing")}
    for recording in written.values():
        check_recording(recording)
    check_that_it_can_fail(check_command(["report", "--json", "-i", written["clock"]]))
    for by in ("function", "line", "path"):
        check_command(["diff", written["clock"], written["usual"], "--json", "--by", by])
    check_command(["diff", written["clock"], written["clock"], "--json", "--total"])
    corpus = os.environ.get("PROFILER_CORPUS")
    recordings = sorted(filter(os.path.isfile, glob.glob(os.path.join(corpus, "perfdata", "**"),
                                                 recursive=True))) if corpus else []
    print(f"{len(recordings)} recordings of others" if corpus else "skipped: PROFILER_CORPUS names no folder")
    for recording in recordings:
        if run(["summary", "-i", recording])[0] == 0:
            check_recording(recording)
check_stat()
print(f"{checked} documents, {failures} failures")
sys.exit(1 if failures or not checked else 0)
