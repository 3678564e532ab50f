"""What is true of every operation: credentials, bad input, errors, browsers, documents, probes."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlparse

import pytest
from tests.support.facade import Cluster, Facade, User, wait_for
from tests.support.layouts import scene
from tests.support.operations import TOKEN_OPERATIONS

from onair_api.layout.operations import EXAMPLE

Json = dict[str, Any]

TOKEN = "/live/v2/authentication/token"

EXAMPLE_PROJECT = str(EXAMPLE["projectId"])


def assert_error(answer: Any, status: int, code: int) -> None:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert set(body) == {"code", "message", "details"}
    assert body["code"] == code
    assert body["message"]
    assert "Traceback" not in answer.text


def test_an_operation_reads_only_its_own_credential(facade: Facade, api_key: str, anna: User) -> None:
    body = {"serviceUserId": "anna"}
    http = facade.http
    both = {"X-API-Key": api_key, "Authorization": "Bearer undefined"}
    assert http.post(TOKEN, headers=both, json=body).status_code == 200
    for headers in ({}, anna.headers, {"X-API-Key": "wrong"}, {"X-API-Key": ""}):
        assert_error(http.post(TOKEN, headers=headers, json=body), 401, 16)
    path = "/live/v2/collection"
    assert http.get(path, headers={**anna.headers, "X-API-Key": "wrong"}).status_code == 200
    for headers in ({}, {"X-API-Key": api_key}, {"Authorization": "Bearer x"}, {"Authorization": anna.token}):
        answer = http.get(path, headers=headers)
        assert_error(answer, 401, 16)
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_renewed_token_is_in_the_header(anna: User) -> None:
    answer = anna.call("PUT", "/authentication/token", {})
    assert (answer.status_code, answer.json()) == (200, {})
    scheme, token = answer.headers["Authorization"].split(" ")
    assert scheme == "Bearer"
    assert token != anna.token
    assert User(anna.facade, token).ok("GET", "/collection") == {"collections": []}


def test_a_test_token_verifies_and_grants_nothing(facade: Facade, api_key: str) -> None:
    answer = facade.http.get(f"{TOKEN}/test", headers={"X-API-Key": api_key})
    token = answer.json()["accessToken"]
    assert_error(User(facade, token).call("GET", "/collection"), 403, 7)
    assert_error(facade.http.get(f"{TOKEN}/test"), 401, 16)


def test_replicas_share_keys(anna: User, second_facade: Facade, cluster: Cluster) -> None:
    """Tokens of one replica are good at the other; the first made the key and the second found it."""
    assert User(second_facade, anna.token).ok("GET", "/collection") == {"collections": []}
    keys = [s for s in cluster.secrets(cluster.release) if s["type"] == "onair.dev/signing-key"]
    assert len(keys) == 1
    jwks = [f.http.get("/live/v2/authentication/jwks").json() for f in (anna.facade, second_facade)]
    assert jwks[0] == jwks[1]
    (key,) = jwks[0]["keys"]
    assert set(key) == {"alg", "kty", "use", "kid", "e", "n"}


def test_an_api_key_that_is_removed_ends(
    facade: Facade, cluster: Cluster, sign_in: Callable[..., User]
) -> None:
    key = cluster.add_api_key("short-lived")
    sign_in(key=key)
    (secret,) = [
        s
        for s in cluster.secrets(cluster.release)
        if s["type"] == "onair.dev/api-key" and s["data"]["serviceId"] == "c2hvcnQtbGl2ZWQ="
    ]
    name = secret["metadata"]["name"]
    cluster.admin.delete(f"/api/v1/namespaces/{cluster.release}/secrets/{name}").raise_for_status()

    def refused() -> bool:
        return (
            facade.http.post(TOKEN, headers={"X-API-Key": key}, json={"serviceUserId": "a"}).status_code
            == 401
        )

    wait_for(refused, "the key is refused")


def nested(depth: int) -> bytes:
    return b'{"metadata":' + b"[" * depth + b"]" * depth + b"}"


BAD_BODIES: dict[str, bytes] = {
    "no JSON": b"{",
    "words": b"hello",
    "an array": b"[]",
    "a number": b"5",
    "a string": b'"text"',
    "null": b"null",
    "true": b"true",
    "NaN": b'{"metadata": NaN}',
    "Infinity": b'{"maxDuration": -Infinity}',
    "too large a number": b'{"metadata": 1e400}',
    "a lone surrogate": b'{"metadata": "\\ud800"}',
    "invalid UTF-8": b'{"metadata": "\xff\xfe"}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "nested deeply": nested(100),
    "nested very deeply": nested(100_000),
    "trailing text": b"{} {}",
    "too large": b'{"metadata": "' + b"x" * 1_100_000 + b'"}',
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES.keys())
def test_a_body_that_is_no_json_object_is_refused(anna: User, body: bytes) -> None:
    show = anna.project()
    for method, path in (
        ("POST", "/collection"),
        ("PATCH", f"/collection/{show.collection}"),
        ("POST", f"/collection/{show.collection}/project"),
        ("PATCH", show.path),
        ("POST", f"{show.path}/destination"),
    ):
        assert_error(anna.call(method, path, content=body), 400, 3)
    assert len(anna.ok("GET", "/collection")["collections"]) == 1


HOSTILE: list[Any] = [
    None, True, 0, -1, 2**63, 2**64, 10**40, 1.5, "", "x", "\0", "\u202e", "9" * 1000, [], [[]], {},
    {"a": None}, {"external": 5}, {"scene": []}, {"": ""}, {"__proto__": {}}, ["x"] * 1000,
    {"video": {"width": "1280x"}},
]  # fmt: skip
FIELDS = {
    "project": [
        "metadata",
        "rendering",
        "encoding",
        "composition",
        "maxDuration",
        "webrtc",
        "location",
        "updateMask",
    ],
    "destination": ["metadata", "address", "enabled", "timeout", "updateMask"],
}


@pytest.mark.parametrize("field", FIELDS["project"])
def test_hostile_values_never_fail_a_project(anna: User, field: str) -> None:
    show = anna.project()
    for value in HOSTILE:
        for method, path in (("PATCH", show.path), ("POST", f"/collection/{show.collection}/project")):
            answer = anna.call(method, path, {field: value})
            assert answer.status_code in (200, 400), (value, answer.text)
    assert show.get()["project"]["projectId"] == show.id


@pytest.mark.parametrize("field", FIELDS["destination"])
def test_hostile_values_never_fail_a_destination(anna: User, field: str) -> None:
    show = anna.project()
    path = f"{show.path}/destination"
    known = f"{path}/{show.destination()['destinationId']}"
    for value in HOSTILE:
        for method, at in (("PATCH", known), ("POST", path)):
            answer = anna.call(method, at, {field: value})
            assert answer.status_code in (200, 400), (value, answer.text)


@pytest.mark.parametrize(
    "name",
    [
        "x",
        "UPPER",
        "%2e%2e",
        "a%2Fb",
        "a%00b",
        "%F0%9F%8E%A5",
        "-a",
        "a" * 64,
        "a" * 5000,
        "a%0ab",
        "*",
        "a b",
        "%ff",
    ],
)
def test_an_id_that_cannot_be_is_not_found(anna: User, name: str) -> None:
    show = anna.project()
    for path in (
        f"/collection/{name}",
        f"/collection/{show.collection}/project/{name}",
        f"{show.path}/destination/{name}",
    ):
        for method in ("GET", "PATCH", "DELETE"):
            answer = anna.call(method, path, {} if method == "PATCH" else None)
            assert answer.status_code in (404, 405), (path, answer.text)
            assert answer.json()["code"] in (5, 12)


def test_a_flag_is_true_or_false(anna: User) -> None:
    show = anna.project()
    for value in ("2", "yes", "null", "%ff", "true,false"):
        for path in (
            f"{show.path}?status={value}",
            f"/collection/{show.collection}?populateProjects={value}",
        ):
            assert_error(anna.call("GET", path), 400, 3)
        assert_error(anna.call("DELETE", f"{show.path}?force={value}"), 400, 3)


def test_a_body_is_json_whatever_its_content_type_says(anna: User) -> None:
    for content_type in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/octet-stream",
        "nonsense",
    ):
        headers = {"Content-Type": content_type}
        answer = anna.call("POST", "/collection", content=b'{"metadata": 7}', headers=headers)
        assert answer.json()["collection"]["metadata"] == 7


def test_unknown_paths_and_methods(facade: Facade, anna: User) -> None:
    assert_error(anna.call("GET", "/nothing/here"), 404, 5)
    assert_error(facade.http.get("/live/v2/nothing"), 404, 5)
    answer = anna.call("PUT", "/collection")
    assert_error(answer, 405, 12)
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS, POST"


def test_head_is_get_without_a_body(anna: User) -> None:
    show = anna.project()
    full, head = anna.call("GET", show.path), anna.call("HEAD", show.path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == str(len(full.content))
    assert anna.call("GET", show.path).content == full.content, "the connection goes on"


def test_browsers_of_any_origin_may_call(facade: Facade, anna: User) -> None:
    http = facade.http
    origin = {"Origin": "https://studio.example"}
    preflight = http.options(
        "/live/v2/collection",
        headers={
            **origin,
            "Access-Control-Request-Method": "PATCH",
            "Access-Control-Request-Headers": "authorization, apistream-sessionid, x-other",
        },
    )
    assert preflight.status_code == 204
    assert preflight.headers["Access-Control-Allow-Origin"] == "*"
    allowed = {h.strip().lower() for h in preflight.headers["Access-Control-Allow-Headers"].split(",")}
    assert {
        "authorization", "x-api-key", "content-type", "clienttype", "version", "sdkversion",
        "sessionid", "x-requested-with", "apistream-sessionid",
    } == allowed  # fmt: skip
    methods = {m.strip() for m in preflight.headers["Access-Control-Allow-Methods"].split(",")}
    assert {"PUT", "PATCH", "DELETE"} <= methods
    for answer in (
        anna.call("GET", "/collection", headers=origin),
        http.get("/live/v2/collection", headers=origin),
        http.get("/nothing", headers=origin),
    ):
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert answer.headers["Access-Control-Expose-Headers"] == "Authorization, Retry-After"
    plain = http.options("/live/v2/collection")
    assert (plain.status_code, plain.headers["Allow"]) == (204, "GET, HEAD, OPTIONS, POST")


def test_a_body_that_breaks_off_harms_nobody(facade: Facade, anna: User) -> None:
    target = urlparse(facade.url)
    with socket.create_connection((str(target.hostname), int(target.port or 0))) as connection:
        head = f"POST /live/v2/collection HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {anna.token}\r\n"
        connection.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
    assert anna.ok("GET", "/collection") == {"collections": []}


def test_a_body_without_a_length_is_bounded_too(anna: User) -> None:
    def endless() -> Any:
        yield b'{"metadata": "'
        for _ in range(20):
            yield b"x" * 65_536
        yield b'"}'

    assert_error(anna.call("POST", "/collection", content=endless()), 400, 3)


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: a\r\n", b"X-A: " + b"a" * 60_000 + b"\r\n"),
        (b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: ", b"a" * 60_000),
        (b"GET /", b"a" * 60_000),
        (b"PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X-A: " + b"a" * 60_000 + b"\r\n"),
    ],
)
def test_a_request_without_an_end_is_cut(facade: Facade, start: bytes, more: bytes) -> None:
    """Nobody needs a credential for this: the parser would keep all of it."""
    url = urlparse(facade.url)
    with socket.create_connection((url.hostname, url.port), timeout=5) as connection:
        connection.sendall(start)
        with pytest.raises(ConnectionError):
            connection.sendall(more * 400)


def test_a_body_in_chunks_of_a_byte_is_read(anna: User) -> None:
    body = json.dumps({"metadata": "x" * 50_000}).encode()
    answer = anna.call("POST", "/collection", content=(bytes((each,)) for each in body))
    assert answer.status_code == 200, answer.text


def test_the_document_describes_every_operation(facade: Facade) -> None:
    document = facade.http.get("/openapi.json").json()
    operations = {
        op["operationId"]: op
        for path in document["paths"].values()
        for op in path.values()
        if "operationId" in op
    }
    assert set(operations) >= TOKEN_OPERATIONS
    for name, op in operations.items():
        assert op["summary"], name
        assert op["description"], name
        assert {"200", "302"} & set(op["responses"]), name
        for reference in json.dumps(op).split('"$ref": "#/components/')[1:]:
            section, _, entry = reference.split('"')[0].partition("/")
            assert entry in document["components"][section], (name, entry)
    create = operations["CreateProject"]
    assert {"400", "401", "403", "404", "503"} <= set(create["responses"])
    assert create["requestBody"]["content"]["application/json"]["example"]


def test_the_examples_of_the_document_work(one: Facade, host: User, api_key: str) -> None:
    anna = host
    paths = one.http.get("/openapi.json").json()["paths"]
    show = anna.project()
    destination = show.destination()["destinationId"]
    source = anna.ok("POST", f"/collection/{show.collection}/source", {"address": {"rtmpPush": {}}})
    ids = {"{collectionId}": show.collection, "{projectId}": show.id, "{destinationId}": destination}
    canvas = scene(show)
    ids |= {"{layoutId}": canvas.id, "{layerId}": canvas.root(), EXAMPLE_PROJECT: show.id}
    ids |= {"{sourceId}": source["source"]["sourceId"], "show-of-anna": show.collection, "sunday": show.id}
    tried = 0
    for path, operations in paths.items():
        for method, op in operations.items():
            content = op.get("requestBody", {}).get("content", {}).get("application/json", {})
            if "example" not in content:
                continue
            at, body = path, json.dumps(content["example"])
            for name, value in ids.items():
                at, body = at.replace(name, value), body.replace(f'"{name}"', f'"{value}"')
            answer = anna.call(method.upper(), at, headers={"X-API-Key": api_key}, content=body)
            assert answer.status_code == 200, (at, answer.text)
            tried += 1
    assert tried >= 8


def test_the_page_needs_nothing_from_elsewhere(facade: Facade) -> None:
    page = facade.http.get("/docs").text
    assert "://" not in page.replace("http://www.w3.org", "")
    for asset, least in (("swagger-ui-bundle.js", 500_000), ("swagger-ui.css", 50_000), ("favicon.png", 100)):
        assert f"docs/assets/{asset}" in page
        assert len(facade.http.get(f"/docs/assets/{asset}").content) > least


def test_metrics_count_requests_by_route(facade: Facade, anna: User) -> None:
    show = anna.project()
    show.get()
    anna.call("GET", show.path + "x")
    text = facade.http.get("/metrics").text
    route = '"/live/v2/collection/{collectionId}/project/{projectId}"'
    assert f'onair_api_requests_total{{method="GET",route={route},status="200"}}' in text
    assert f'onair_api_requests_total{{method="GET",route={route},status="404"}}' in text
    assert show.id not in text
    for name in (
        "cache_age_seconds",
        "cache_objects",
        "watch_events_total",
        "request_duration_seconds_bucket",
    ):
        assert f"onair_api_{name}" in text


def test_no_secret_is_in_any_log_line(
    anna: User, sign_in: Callable[..., User], api_key: str, recorded_logs: Any
) -> None:
    show = anna.project()
    secret = "very-secret-stream-key-77"
    path = f"{show.path}/destination"
    address = {"rtmpPush": {"url": "rtmp://a.example/live", "key": secret}}
    created = anna.ok("POST", path, {"address": address})["destination"]["destinationId"]
    anna.call("PATCH", f"{path}/{created}", {"address": {"rtmpPush": {"url": secret, "key": secret}}})
    anna.call("POST", path, {"address": {"rtmpPush": {"url": 5, "key": secret}}, "timeout": secret})
    anna.call("POST", path, content=b"{" + secret.encode())
    text = recorded_logs.getvalue()
    assert '"resource.created"' in text, "the log is recorded"
    for each in (secret, anna.token, api_key, "BEGIN PRIVATE"):
        assert each not in text
    for line in text.strip().split("\n"):
        assert isinstance(json.loads(line), dict)


def test_a_request_is_named_in_its_answer_and_its_log_lines(anna: User, recorded_logs: Any) -> None:
    def lines(name: str) -> set[str]:
        logged = map(json.loads, recorded_logs.getvalue().strip().split("\n"))
        return {line["event"] for line in logged if line.get("request") == name}

    given = anna.call("POST", "/collection", {}, headers={"X-Request-Id": "ticket-77"})
    assert given.headers["X-Request-Id"] == "ticket-77"
    assert lines("ticket-77") == {"resource.created", "http.answered"}
    made = {anna.call("POST", "/collection", {}).headers["X-Request-Id"] for _ in range(2)}
    assert len(made) == 2
    assert all(lines(each) == {"resource.created", "http.answered"} for each in made)
    odd = anna.call("POST", "/collection", {}, headers={"X-Request-Id": 'a"b'})
    assert odd.headers["X-Request-Id"] != 'a"b'


def test_a_large_answer_is_compressed_for_clients_that_want_it(anna: User) -> None:
    collection = anna.ok("POST", "/collection", {"metadata": {"text": "on air " * 3000}})
    path = f"/live/v2/collection/{collection['collection']['collectionId']}"
    answers = {
        coding: anna.facade.http.get(path, headers={**anna.headers, "Accept-Encoding": coding})
        for coding in ("gzip", "identity")
    }
    assert answers["gzip"].headers["Content-Encoding"] == "gzip"
    assert answers["gzip"].headers["Vary"].lower().count("accept-encoding") == 1
    assert "Content-Encoding" not in answers["identity"].headers
    assert answers["gzip"].json() == answers["identity"].json()
    sizes = {coding: int(answer.headers["Content-Length"]) for coding, answer in answers.items()}
    assert sizes["gzip"] < sizes["identity"] / 10


def test_a_small_answer_is_not_compressed(anna: User) -> None:
    answer = anna.facade.http.get("/live/v2/collection", headers={**anna.headers, "Accept-Encoding": "gzip"})
    assert answer.json() == {"collections": []}
    assert "Content-Encoding" not in answer.headers
