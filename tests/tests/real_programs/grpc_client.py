"""Calls a gRPC server and prints of each call when it began and ended, on the monotonic clock, and its status.

Arguments: the server's port, what to do, and how often.
"""

import sys
import threading
from time import perf_counter_ns as now

import grpc

port, task, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
channel = grpc.insecure_channel(f"127.0.0.1:{port}")
unary = channel.unary_unary("/test.Echo/Unary")
down = channel.unary_stream("/test.Echo/Down")
up = channel.stream_unary("/test.Echo/Up")
both = channel.stream_stream("/test.Echo/Both")
calls = []


def call(function, argument, **options):
    """One call, and no other until it has ended."""
    start = now()
    try:
        answer = function(argument, **options)
        if not isinstance(answer, bytes):
            list(answer)
        status = "OK"
    except grpc.RpcError as error:
        status = error.code().name
    calls.append((start, now(), status))


def issue(number):
    """Calls that are under way at once."""
    ended = threading.Semaphore(0)

    def end(start, future):
        status = "OK" if future.code() is None else future.code().name
        calls.append((start, now(), status))
        ended.release()

    futures = []
    for _ in range(number):
        start = now()
        future = unary.future(b"x" * 100 if task == "concurrent" else b"stay")
        future.add_done_callback(lambda future, start=start: end(start, future))
        futures.append(future)
    return futures, ended


# Connected, and the first calls' costs paid.
grpc.channel_ready_future(channel).result(timeout=20)
if task == "unary":
    for number in range(count):
        call(unary, b"x" * (number % 1000))
elif task == "slow":
    for _ in range(count):
        call(unary, b"slow")
elif task == "large":
    for number in range(count):
        call(unary, b"x" * 300_000)
elif task == "concurrent":
    _, ended = issue(count)
    for _ in range(count):
        ended.acquire()
elif task == "single":
    for _ in range(count):
        call(down, b"1")
        call(up, iter([b"a"]))
        call(both, iter([b"a"]))
elif task == "streaming":
    for _ in range(count):
        call(down, b"5")
        call(up, iter([b"a", b"b", b"c"]))
        call(both, iter([b"a", b"b", b"c"]))
elif task == "failing":
    for _ in range(count):
        call(unary, b"fail")
elif task == "deadline":
    for _ in range(count):
        call(unary, b"stay", timeout=0.05)
elif task == "cancelled":
    futures, ended = issue(count)
    # Each of these is answered after the calls before it have reached the server.
    call(unary, b"x")
    del calls[-1]
    for future in futures:
        future.cancel()
        ended.acquire()
elif task == "killed":
    _, ended = issue(count)
    call(unary, b"x")
    del calls[-1]
    print("waiting", flush=True)
    for _ in range(count):
        ended.acquire()
channel.close()
for start, end, status in calls:
    print(start, end, status)
