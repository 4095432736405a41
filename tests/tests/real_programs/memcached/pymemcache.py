"""Sends requests to memcached with pymemcache and prints each one's latency in nanoseconds.

The time is taken around the socket's own calls, as near to the network as Python gets: from before the request is
written until the first part of the response has been read.
"""

import socket
import sys
import time
import types

from pymemcache.client.base import Client

latencies = []


class TimedSocket(socket.socket):
    waiting_since = None

    def sendall(self, data, *flags):
        self.waiting_since = time.monotonic_ns()
        return super().sendall(data, *flags)

    def recv(self, size, *flags):
        data = super().recv(size, *flags)
        if self.waiting_since is not None:
            latencies.append(time.monotonic_ns() - self.waiting_since)
            self.waiting_since = None
        return data


port, requests = int(sys.argv[1]), int(sys.argv[2])
sockets = types.SimpleNamespace(**{**vars(socket), "socket": TimedSocket})
client = Client(("127.0.0.1", port), socket_module=sockets, no_delay=True)
for number in range(requests):
    key = f"key-{number % 100}"
    if number % 2 == 0:
        client.set(key, b"v" * (number % 500), noreply=False)
    else:
        client.get(key)
client.close()
print("\n".join(map(str, latencies)))
