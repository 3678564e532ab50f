"""Errors of services as RPC has them: code, message, and the same details as over HTTP."""

from __future__ import annotations

from connectrpc.code import Code
from connectrpc.errors import ConnectError, ErrorDetail
from google.protobuf import any_pb2, json_format
from protobuf.wkt import Any as WireAny

from onair_api.errors import Internal, RpcError
from onair_api.kubernetes_errors import rpc_error
from onair_api.unexpected_errors import log_unexpected
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import JsonObject


def meaning_of(error: Exception, operation: str) -> RpcError:
    """The error that a caller gets; what nothing handles is logged, without what it may quote."""
    if isinstance(error, RpcError):
        return error
    if isinstance(error, ApiError):
        return rpc_error(error)
    log_unexpected("rpc.failed", error, operation=operation)
    return Internal("internal error; it was logged")


def wire_error(error: RpcError) -> ConnectError:
    """The error as the Connect library sends it."""
    return ConnectError(Code[error.code.name], error.message, [_detail(each) for each in error.details])


def _detail(detail: JsonObject) -> ErrorDetail:
    packed = json_format.ParseDict(detail, any_pb2.Any())
    return ErrorDetail(WireAny(type_url=packed.type_url, value=packed.value))
