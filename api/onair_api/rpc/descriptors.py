"""The messages and methods of the `.proto` files, from their compiled descriptors."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

from google.protobuf import descriptor_pool, field_mask_pb2, message_factory, struct_pb2, timestamp_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

COMPILED = Path(__file__).with_name("descriptors.binpb")
"""Made by `make generate` from the chart's `files/proto`."""

_IMPORTED = (field_mask_pb2, struct_pb2, timestamp_pb2, error_details_pb2, status_pb2)
"""Known to the pool as these modules are imported."""


class RpcMessages(NamedTuple):
    """The classes of a method's messages."""

    request: type[Message]
    response: type[Message]


@functools.cache
def messages_of(service: str, method: str) -> RpcMessages:
    """Returns the classes of a method's messages.

    Raises:
        KeyError: the files have no such method.
    """
    found = _pool().FindMethodByName(f"{service}.{method}")
    return RpcMessages(
        message_factory.GetMessageClass(found.input_type), message_factory.GetMessageClass(found.output_type)
    )


def methods() -> set[tuple[str, str]]:
    """Service and name of every method that the files declare."""
    services = [_pool().FindServiceByName(name) for name in _service_names()]
    return {(service.full_name, method.name) for service in services for method in service.methods}


@functools.cache
def client_streams() -> frozenset[str]:
    """The paths of the methods whose clients may send any number of messages, as gRPC calls them."""
    return frozenset(
        f"/{service}/{method}"
        for service, method in methods()
        if _pool().FindMethodByName(f"{service}.{method}").client_streaming
    )


@functools.cache
def _files() -> FileDescriptorSet:
    return FileDescriptorSet.FromString(COMPILED.read_bytes())


def _service_names() -> list[str]:
    return [f"{file.package}.{service.name}" for file in _files().file for service in file.service]


@functools.cache
def _pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.Default()
    for file in _files().file:  # each after those that it imports
        pool.Add(file)
    return pool
