"""A gRPC server on the port that is its argument: echoes what it is sent, and does what some requests ask for."""

import sys
import threading
import time
from concurrent import futures

import grpc


def unary(request, context):
    if request == b"fail":
        context.abort(grpc.StatusCode.UNAVAILABLE, "as asked for")
    if request == b"slow":
        time.sleep(0.04)
    if request == b"stay":
        ended = threading.Event()
        context.add_callback(ended.set)
        ended.wait(60)
    return request


def down(request, context):
    for _ in range(int(request)):
        yield request


def up(requests, context):
    return b"".join(requests)


def both(requests, context):
    yield from requests


echo = grpc.method_handlers_generic_handler(
    "test.Echo",
    {
        "Unary": grpc.unary_unary_rpc_method_handler(unary),
        "Down": grpc.unary_stream_rpc_method_handler(down),
        "Up": grpc.stream_unary_rpc_method_handler(up),
        "Both": grpc.stream_stream_rpc_method_handler(both),
    },
)
server = grpc.server(futures.ThreadPoolExecutor(max_workers=32))
server.add_generic_rpc_handlers((echo,))
assert server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
server.start()
server.wait_for_termination()
