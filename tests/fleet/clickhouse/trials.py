"""The trials of tests/fleet/clickhouse/run, after the programs are built."""

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from cluster import Cluster, Missing, NAME, Process, check_installed, wait_for
from cutting_proxy import CuttingProxy

PUSHERS = 4


class Failed(Exception):
    """A server's answer differs from the segments."""


def run(command, **options):
    """Returns the output of a command. Raises Failed if the command fails."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode != 0:
        raise Failed(" ".join(str(word) for word in command) + ":\n" + done.stdout)
    return done.stdout


def url(port):
    return f"http://127.0.0.1:{port}"


class Trial:
    """The programs, the segments, and the servers."""

    def __init__(self, programs, folder, options):
        self.programs, self.folder, self.options = Path(programs), folder, options
        self.random = random.Random(options.seed)

    def program(self, name):
        places = {"trial": "tests/fleet/clickhouse/trial", "simulate": "tests/fleet/simulate"}
        return self.programs / places.get(name, name)

    def simulate(self):
        """Writes a directory of segments for each pusher, and a directory with all segments."""
        hosts = max(1, self.options.hosts // PUSHERS)
        (self.folder / "all").mkdir()
        for i in range(PUSHERS):
            part = self.folder / f"part-{i}"
            said = run([self.program("simulate"), part, "--hosts", hosts, "--minutes", self.options.minutes,
                        "--host-prefix", f"p{i}-", "--label", f"release=1.{i % 2}"])
            print(f"  pusher {i}: {said.strip()}", flush=True)
            for segment in part.glob("*.seg"):
                (self.folder / "all" / segment.name).hardlink_to(segment)

    def init(self, port, database, *options):
        return run([self.program("profiler"), "fleet", "init", "--to", f"clickhouse+{url(port)}/{database}", *options])

    def pusher(self, number, port, database):
        # Uses small batches, so that there are many, except when speed is measured.
        small = [] if self.options.calm else ["--batch-size", "60K"]
        return Process([self.program("profiler"), "push", self.folder / f"part-{number}",
                        "--to", f"clickhouse+{url(port)}/{database}", "--tries", "100", *small],
                       self.folder / f"pusher-{number}.log")

    def forget_what_was_pushed(self):
        for journal in self.folder.glob("part-*/*.journal"):
            journal.unlink()

    def push_all(self, port, database, disturb):
        """Pushes all parts at once, while `disturb` may kill pushers and servers. Returns the seconds that it took."""
        begin = time.monotonic()
        pushers = [self.pusher(i, port, database) for i in range(PUSHERS)]
        for pusher in pushers:
            pusher.start()
        disturber = threading.Thread(target=disturb, args=(pushers,))
        disturber.start()
        disturber.join()
        for pusher in pushers:
            if pusher.running.wait() != 0:
                raise Failed(Path(pusher.log).read_text()[-2000:])
        return time.monotonic() - begin

    def compare(self, ports, database):
        for port in ports:
            said = run([self.program("trial"), "compare", self.folder / "all", url(port), database])
            print(f"  port {port}: " + "; ".join(said.strip().splitlines()), flush=True)


def leave_alone(_pushers):
    pass


class Disturbance:
    """Kills servers, ZooKeeper and pushers one after the other, and starts each again."""

    def __init__(self, cluster, chance):
        self.cluster, self.random = cluster, chance
        self.said = []

    def note(self, text):
        self.said.append(text)
        print("  " + text, flush=True)

    def __call__(self, pushers):
        steps = [self.kill_server, self.kill_pusher, self.take_shard, self.kill_pusher, self.kill_zookeeper,
                 self.kill_server]
        for step in steps:
            step(pushers)
            time.sleep(self.random.uniform(1, 3))

    def kill_server(self, _pushers):
        server = self.random.choice(self.cluster.servers)
        self.note(f"kill -9 the server on port {server.http}")
        server.kill()
        time.sleep(self.random.uniform(0.5, 3))
        server.start()

    def take_shard(self, _pushers):
        servers = self.random.choice([self.cluster.servers[:2], self.cluster.servers[2:]])
        self.note("a shard is down: ports " + " and ".join(str(server.http) for server in servers))
        for server in servers:
            server.kill(signal.SIGTERM)
        time.sleep(5)
        for server in servers:
            server.start()

    def kill_zookeeper(self, _pushers):
        self.note("kill -9 ZooKeeper")
        self.cluster.zookeeper.kill()
        time.sleep(3)
        self.cluster.zookeeper.start()
        time.sleep(1)
        for server in self.cluster.servers:
            if server.start_if_crashed():
                self.note(f"the server on port {server.http} had crashed of it, and is started again")

    def kill_pusher(self, pushers):
        pusher = self.random.choice(pushers)
        if pusher.running.poll() is None:
            self.note("kill -9 a pusher, which goes on")
        pusher.kill()
        pusher.start()


def wait_for_replicas(cluster):
    """Waits until each server has all parts of its shard, and can write again."""
    def is_quiet():
        # Merges may continue, but each server must have fetched all parts.
        fetches = "SELECT count() FROM system.replication_queue WHERE type = 'GET_PART'"
        readonly = "SELECT count() FROM system.replicas WHERE is_readonly OR log_pointer <= log_max_index"
        return all(server.ask(fetches) == "0\n" and server.ask(readonly) == "0\n" for server in cluster.servers)

    wait_for(is_quiet, "the replicas to have everything", 180)


def check_replicas(cluster):
    """Raises Failed unless both replicas of a shard have the same rows."""
    statement = ("SELECT count(), sum(samples), sum(value), sum(cityHash64(host, ts, stack_hash)) "
                 "FROM fleet.samples_local")
    for servers in [cluster.servers[:2], cluster.servers[2:]]:
        answers = [server.ask(statement) for server in servers]
        if answers[0] != answers[1]:
            raise Failed(f"replicas differ: {answers}")


def figures(cluster, samples):
    disk = {}
    for server in cluster.servers[::2]:
        answer = server.ask("SELECT table, sum(bytes_on_disk), sum(rows) FROM system.parts WHERE active AND "
                            "database = 'fleet' GROUP BY table")
        for line in answer.splitlines():
            table, size, rows = line.split("\t")
            before = disk.get(table, (0, 0))
            disk[table] = (before[0] + int(size), before[1] + int(rows))
    for table, (size, rows) in sorted(disk.items()):
        print(f"  {table}: {size / 1e6:.1f} MB, {rows} rows, {size / max(1, rows):.1f} bytes per row, "
              f"{size / samples:.2f} bytes per sample")


def samples_of(cluster):
    return int(cluster.servers[0].ask("SELECT sum(samples) FROM fleet.samples"))


def replicated(trial, cluster):
    print("two shards of two replicas", flush=True)
    ports = [server.http for server in cluster.servers]
    for expected in ["are made", "were there already"]:
        said = trial.init(ports[0], "fleet", "--cluster", NAME, "--replicated")
        if expected not in said:
            raise Failed(f"fleet init says {said!r}, not {expected!r}")
    proxy = CuttingProxy(ports, 0 if trial.options.calm else 0.9, trial.options.seed)
    disturb = leave_alone if trial.options.calm else Disturbance(cluster, trial.random)
    seconds = trial.push_all(proxy.port, "fleet", disturb)
    wait_for_replicas(cluster)
    samples = samples_of(cluster)
    print(f"  {samples} samples in {seconds:.1f} s: {samples / seconds:.0f} per second; {proxy.cuts} connections cut",
          flush=True)
    check_replicas(cluster)
    trial.compare([trial.random.choice(ports)], "fleet")
    if not trial.options.calm:
        print("  all segments again, by a process without a journal", flush=True)
        trial.forget_what_was_pushed()
        trial.push_all(proxy.port, "fleet", leave_alone)
        wait_for_replicas(cluster)
        check_replicas(cluster)
        trial.compare([trial.random.choice(ports)], "fleet")
    proxy.close()
    figures(cluster, samples)
    print(run([trial.program("trial"), "time", url(ports[0]), "fleet", 86400]).rstrip(), flush=True)


def whole_answers(trial, cluster):
    print("no partial answers: a shard is down", flush=True)
    for server in cluster.servers[2:]:
        server.kill()
    try:
        run([trial.program("trial"), "compare", trial.folder / "all", url(cluster.servers[0].http), "fleet"])
    except Failed as failed:
        print("  " + str(failed).strip().splitlines()[-1], flush=True)
    else:
        raise Failed("a question was answered while a shard was away")
    finally:
        for server in cluster.servers[2:]:
            server.start()


def alone(trial, cluster):
    print("one server without deduplication of blocks", flush=True)
    port = cluster.servers[0].http
    trial.init(port, "alone")
    proxy = CuttingProxy([port], 0.9, trial.options.seed + 1)

    def kill_pushers(pushers):
        disturbance = Disturbance(cluster, trial.random)
        for _ in range(3):
            time.sleep(1)
            disturbance.kill_pusher(pushers)

    trial.push_all(proxy.port, "alone", kill_pushers)
    print(f"  {proxy.cuts} connections cut", flush=True)
    proxy.close()
    trial.compare([port], "alone")


def newest(trial):
    """Runs the same statements on the newest ClickHouse, if the npm package chdb is installed."""
    print("the newest ClickHouse, in one process", flush=True)
    if not trial.options.chdb:
        print("  left out: npm install --ignore-scripts chdb, and --chdb FOLDER", flush=True)
        return
    folder = trial.folder / "newest"
    folder.mkdir()
    part = trial.folder / "part-0"
    run([trial.program("trial"), "newest", part, folder])
    script = Path(__file__).with_name("newest.mjs")
    # A script finds packages only in its own folder.
    beside = Path(trial.options.chdb).resolve() / "profiler-newest.mjs"
    shutil.copy(script, beside)
    try:
        done = subprocess.run(["node", str(beside), str(folder / "statements.sql")], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, cwd=beside.parent)
    finally:
        beside.unlink()
    got = sorted(done.stdout.replace("\t", " ").splitlines())
    # Removes the first key, the kind of sum, because answers do not contain it.
    kinds = ("self ", "total ")
    expected = sorted(line.split(" ", 1)[1] if line.startswith(kinds) else line
                      for line in (folder / "expected").read_text().splitlines())
    if done.returncode != 0 or got != expected:
        differing = [line for line in got if line not in set(expected)][:3]
        raise Failed("a ClickHouse of today says " + ("\n".join(differing) or "less than was expected"))
    print(f"  the same {len(expected)} sums, also in the tables of Coroot and of the Collector", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--hosts", type=int, default=40)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=19300)
    parser.add_argument("--calm", action="store_true")
    parser.add_argument("--folder")
    parser.add_argument("--chdb", help="folder in which the npm package chdb is installed")
    options = parser.parse_args()
    folder = Path(options.folder or tempfile.mkdtemp(prefix="clickhouse-trial-")).resolve()
    folder.mkdir(exist_ok=True)
    try:
        check_installed()
        trial = Trial(options.programs, folder, options)
        print("segments", flush=True)
        trial.simulate()
        newest(trial)
        with Cluster(folder / "cluster", options.port) as cluster:
            replicated(trial, cluster)
            if not options.calm:
                whole_answers(trial, cluster)
                alone(trial, cluster)
        print("PASSED tests/fleet/clickhouse")
        return 0
    except Missing as missing:
        print(f"SKIPPED tests/fleet/clickhouse: {missing}")
        return 77
    except (Failed, TimeoutError) as failed:
        print(f"FAILED tests/fleet/clickhouse: {failed}")
        return 1
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
