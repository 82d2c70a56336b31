"""Starts two shards of two ClickHouse servers each, and ZooKeeper, on this machine's loopback interface.

Uses Debian's packages clickhouse-server and zookeeper, run as the caller's user, with their own ports and folder:

    FOLDER/zookeeper/      port BASE
    FOLDER/server-0/       shard 1, replica 1: HTTP on BASE + 10, TCP on BASE + 11, between replicas BASE + 12
    FOLDER/server-1/       shard 1, replica 2: BASE + 20 …
    FOLDER/server-2/       shard 2, replica 1
    FOLDER/server-3/       shard 2, replica 2
"""

import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

NAME = "fleet"
JARS = [
    "zookeeper", "zookeeper-jute", "slf4j-api", "slf4j-simple", "slf4j-reload4j", "slf4j-log4j12", "log4j-1.2",
    "netty-all", "netty-handler", "netty-buffer", "netty-codec", "netty-common", "netty-resolver", "netty-transport",
    "commons-cli", "jline2", "snappy-java", "metrics-core", "commons-io"
]

CONFIG = """<?xml version="1.0"?>
<yandex>
  <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
  <http_port>{http}</http_port>
  <tcp_port>{tcp}</tcp_port>
  <interserver_http_port>{interserver}</interserver_http_port>
  <interserver_http_host>127.0.0.1</interserver_http_host>
  <listen_host>127.0.0.1</listen_host>
  <max_concurrent_queries>100</max_concurrent_queries>
  <mark_cache_size>536870912</mark_cache_size>
  <path>{folder}/data/</path>
  <tmp_path>{folder}/tmp/</tmp_path>
  <users_config>{folder}/users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <timezone>{timezone}</timezone>
  <remote_servers><{name}>{shards}</{name}></remote_servers>
  <zookeeper><node><host>127.0.0.1</host><port>{zookeeper}</port></node></zookeeper>
  <macros><shard>{shard}</shard><replica>{replica}</replica></macros>
  <distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>
</yandex>
"""

USERS = """<?xml version="1.0"?>
<yandex>
  <profiles><default><max_memory_usage>4000000000</max_memory_usage></default></profiles>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota></default></users>
  <quotas><default></default></quotas>
</yandex>
"""


class Missing(Exception):
    """A required package is not installed."""


def check_installed():
    """Raises Missing if a package is not installed."""
    for file in ["/usr/sbin/clickhouse-server", "/usr/share/java/zookeeper.jar"]:
        if not Path(file).exists():
            raise Missing(f"{file} is not there; `tools/prepare fleet` installs it")


def wait_for(condition, what, seconds=60):
    """Waits until `condition()` is true. Raises TimeoutError after `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} seconds for {what}")
        time.sleep(0.1)


class Process:
    """A program in the background. It ends with the program that started it."""

    def __init__(self, command, log, **options):
        self.command, self.log, self.options = command, log, options
        self.running = None

    def start(self):
        self.running = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=open(self.log, "ab"),
                                        stderr=subprocess.STDOUT, **self.options)

    def kill(self, how=signal.SIGKILL):
        if self.running is not None:
            self.running.send_signal(how)
            self.running.wait()
            self.running = None


class ZooKeeper(Process):
    """A ZooKeeper that accepts connections when start() returns, because ClickHouse of 2018 crashes if it cannot
    connect."""

    def __init__(self, command, log, port, **options):
        super().__init__(command, log, **options)
        self.port = port

    def is_ready(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False

    def start(self):
        super().start()
        wait_for(self.is_ready, f"ZooKeeper on port {self.port}")


class Server(Process):
    """One ClickHouse server."""

    def __init__(self, folder, base, number, timezone):
        self.folder = folder / f"server-{number}"
        self.http = base + 10 * (number + 1)
        for part in ["data", "tmp"]:
            (self.folder / part).mkdir(parents=True)
        (self.folder / "users.xml").write_text(USERS)
        replica = "<replica><host>127.0.0.1</host><port>{}</port></replica>"
        shards = "".join("<shard><internal_replication>true</internal_replication>" +
                         "".join(replica.format(base + 10 * (2 * shard + i + 1) + 1) for i in range(2)) + "</shard>"
                         for shard in range(2))
        config = self.folder / "config.xml"
        config.write_text(
            CONFIG.format(folder=self.folder, http=self.http, tcp=self.http + 1, interserver=self.http + 2, name=NAME,
                          shards=shards, zookeeper=base, shard=number // 2 + 1, replica=number % 2 + 1,
                          timezone=timezone))
        super().__init__(["/usr/sbin/clickhouse-server", f"--config-file={config}"], self.folder / "output",
                         cwd=self.folder)

    def ask(self, statement, database="default", seconds=120, **settings):
        """Returns the text of the answer. Raises RuntimeError with the server's message if it refuses."""
        parameters = urllib.parse.urlencode({"database": database, **settings})
        request = urllib.request.Request(f"http://127.0.0.1:{self.http}/?{parameters}", data=statement.encode())
        try:
            with urllib.request.urlopen(request, timeout=seconds) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from None

    def is_ready(self):
        try:
            return self.ask("SELECT 1") == "1\n"
        except OSError:
            return False

    def start(self):
        super().start()
        wait_for(self.is_ready, f"the server on port {self.http}")

    def start_if_crashed(self):
        """Restarts a crashed server, as a service manager would."""
        if self.running is not None and self.running.poll() is not None:
            self.start()
            return True
        return False


class Cluster:
    """All servers. `with Cluster(folder) as cluster:` also ends them."""

    def __init__(self, folder, base=19100, timezone="UTC"):
        self.folder = Path(folder)
        zookeeper = self.folder / "zookeeper"
        zookeeper.mkdir(parents=True)
        # Short session times, unlike on real networks, so that a killed server's session ends soon.
        (zookeeper / "zoo.cfg").write_text(f"tickTime=1000\ndataDir={zookeeper}\nclientPort={base}\n"
                                           "clientPortAddress=127.0.0.1\nmaxClientCnxns=0\nadmin.enableServer=false\n"
                                           "minSessionTimeout=2000\nmaxSessionTimeout=10000\n")
        jars = ":".join(f"/usr/share/java/{jar}.jar" for jar in JARS)
        self.zookeeper = ZooKeeper([
            "java", "-Xmx512m", "-cp", f"{zookeeper}:{jars}", "org.apache.zookeeper.server.quorum.QuorumPeerMain",
            str(zookeeper / "zoo.cfg")
        ], zookeeper / "output", base, cwd=zookeeper)
        self.servers = [Server(self.folder, base, i, timezone) for i in range(4)]

    def __enter__(self):
        try:
            self.zookeeper.start()
            for server in self.servers:
                server.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in [*self.servers, self.zookeeper]:
            process.kill()


def main():
    """Runs until it is interrupted: cluster.py FOLDER [BASE]."""
    folder = Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    check_installed()
    with Cluster(folder, *[int(base) for base in sys.argv[2:3]]) as cluster:
        for server in cluster.servers:
            print(f"http://127.0.0.1:{server.http}", flush=True)
        signal.sigwait([signal.SIGINT, signal.SIGTERM])


if __name__ == "__main__":
    main()
