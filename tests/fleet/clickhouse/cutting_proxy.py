"""A proxy that cuts connections: in the middle of a request, or between a complete request and its answer.

    client ──▶ CuttingProxy ──▶ a random server that accepts connections
"""

import random
import socket
import threading


class CuttingProxy:
    """Listens until it is closed. Cuts the share `cut` of the connections."""

    def __init__(self, ports, cut, seed=1):
        self.ports, self.cut, self.random = ports, cut, random.Random(seed)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _connect(self):
        for port in self.random.sample(self.ports, len(self.ports)):
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=5)
            except OSError:
                continue
        return None

    def _serve(self, client):
        server = self._connect()
        if server is None:
            client.close()
            return
        server.settimeout(None)
        # Number of bytes of the request, or of the answer, after which the connection is cut. None:
        # it is not cut.
        of_request = of_answer = None
        if self.random.random() < self.cut:
            if self.random.random() < 0.5:
                of_request = self.random.randrange(1, 2_000_000)
            else:
                of_answer = self.random.randrange(0, 5_000)
        threads = [
            threading.Thread(target=self._pass_on, args=(client, server, of_request), daemon=True),
            threading.Thread(target=self._pass_on, args=(server, client, of_answer), daemon=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        client.close()
        server.close()

    def _pass_on(self, source, target, most):
        passed = 0
        try:
            while True:
                piece = source.recv(65536)
                if most is not None and passed + len(piece) > most and piece:
                    target.sendall(piece[:most - passed])
                    self.cuts += 1
                    break
                if not piece:
                    target.shutdown(socket.SHUT_WR)
                    return
                target.sendall(piece)
                passed += len(piece)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
