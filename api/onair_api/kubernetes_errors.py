"""The API server's errors as errors of the interface. Pure."""

from __future__ import annotations

import re

from onair_api.errors import (
    Aborted,
    AlreadyExists,
    Internal,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    RpcError,
    Unavailable,
    Violation,
)
from onair_crds.kube.errors import ApiError
from onair_crds.resources.base import GROUP

RETRY_AFTER_S = 2

_KINDS_OF_CAUSE = (
    "Invalid value|Unsupported value|Required value|Too long|Too many|Too few|Forbidden|Duplicate value"
)
_QUOTA = re.compile(r"exceeded quota: \S+, requested: .*, used: (?P<used>.+), limited: (?P<limited>.+)$")
_CAUSE = re.compile(rf'^(?:{_KINDS_OF_CAUSE}): (?:(?:"(?:[^"\\]|\\.)*"|[^":]*): )?(?P<said>.+)$', re.DOTALL)


def rpc_error(error: ApiError) -> RpcError:
    """The error that the caller is given. It never repeats a value: that may be a secret."""
    if error.unknown_fields:
        return Unavailable(
            "the CustomResourceDefinitions of this installation are older than its HTTP interface, and lack "
            f"{', '.join(map(field_path, error.unknown_fields))}; they must be upgraded",
            retry_after_s=RETRY_AFTER_S * 15,
        )
    if error.status == 422 or error.reason == "Invalid":
        return InvalidArgument(*violations(error))
    if error.not_found:
        return NotFound("the resource does not exist")
    if error.already_exists:
        return AlreadyExists("a resource of this name exists already")
    if error.status == 409:
        return Aborted("the resource was changed by others at the same time; try again")
    if error.status == 413 or "too large" in error.message:
        return InvalidArgument(
            Violation("", "the resource would be too large to be stored; make metadata smaller")
        )
    if error.status == 403 and "exceeded quota" in error.message:
        return ResourceExhausted(_used_up(error.message), retry_after_s=RETRY_AFTER_S * 15)
    if error.status in (401, 403):
        return Internal(
            "this installation lacks the right to do that in its Kubernetes cluster; check its RBAC"
        )
    if error.status == 400:
        return InvalidArgument(Violation("", "the Kubernetes API refused the resource as malformed"))
    return Unavailable("the Kubernetes API is unreachable; try again", retry_after_s=RETRY_AFTER_S)


def violations(error: ApiError) -> list[Violation]:
    """Every field that the API server named, as paths of the interface."""
    found = {
        field_path(str(cause.get("field", ""))): description(str(cause.get("message", "")))
        for cause in error.causes
    }
    return [Violation(field, text) for field, text in found.items()] or [
        Violation("", "the resource is not valid")
    ]


def _used_up(message: str) -> str:
    """Which quota of the namespace, and how much of it: `projects 5 of 5`."""
    if not (match := _QUOTA.search(message)):
        return "the installation's quota for such resources is used up"
    used, limited = (
        dict(each.split("=", 1) for each in match[part].split(",")) for part in match.groupdict()
    )
    counts = [
        f"{name.removeprefix('count/').removesuffix(f'.{GROUP}')} {amount} of {limited.get(name, '?')}"
        for name, amount in used.items()
    ]
    return f"the installation's quota is used up: {', '.join(counts)}"


def field_path(path: str) -> str:
    """`spec.address.rtmpPush.keySecretRef.name` is `address.rtmpPush.key` over HTTP."""
    path = path.removeprefix("spec.").removeprefix("spec").replace("<nil>", "")
    return re.sub(r"SecretRef(\..*)?$", "", path)


def description(message: str) -> str:
    """The sentence of a cause, without the value that Kubernetes repeats before it."""
    match = _CAUSE.match(message)
    said = match["said"] if match else message
    if message.startswith("Required value"):
        return "is required"
    return said.strip() or "is not valid"
