"""What counts against a quota, and when it is refused."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import pytest

from onair_api.cache.view import View
from onair_api.live.broadcast.run import is_on_air
from onair_api.settings import QuotaPart, QuotaSettings, ServiceQuotaPart
from onair_api.writes.quota_enforcement import QuotaExceeded, Quotas, metadata_bytes
from onair_api.writes.record_size import LARGEST_OBJECT
from onair_crds.contract.labels import SERVICE_ANNOTATION
from onair_crds.kube.store import Entry
from onair_crds.shapes import Document

UNLIMITED = QuotaPart(**dict.fromkeys(QuotaPart.model_fields, 0))
SERVICE_UNLIMITED = ServiceQuotaPart(**dict.fromkeys(ServiceQuotaPart.model_fields, 0))


class ObjectsWithQuotas:
    """Objects as the watches bring them, and their quotas."""

    def __init__(self, per_user: dict[str, int], per_service: dict[str, int] | None = None) -> None:
        settings = QuotaSettings(
            per_user=UNLIMITED.model_copy(update=per_user),
            per_service=SERVICE_UNLIMITED.model_copy(update=per_service or {}),
        )
        self.view = View()
        self.quotas = Quotas(self.view, settings, is_on_air)
        self._version = 0

    def put(self, kind: str, name: str, spec: Document, **metadata: Any) -> Entry:
        self._version += 1
        document = {
            "metadata": {"name": name, "uid": f"{kind}-{name}", "resourceVersion": str(self._version)}
        }
        document["metadata"].update(metadata)
        entry = self.view.put(kind, {**document, "spec": spec})
        assert entry
        return entry

    def collection(self, name: str, user: str = "u") -> Entry:
        return self.put("Collection", name, {"owner": {"serviceId": "s", "serviceUserId": user}})


def refused(reserving: AbstractContextManager[None], said: str = "") -> None:
    with pytest.raises(QuotaExceeded) as refusal, reserving:
        pass
    assert said in str(refusal.value)


def project_in(collection: str) -> Document:
    return {"spec": {"collectionId": collection}}


def test_creations_under_way_count() -> None:
    there = ObjectsWithQuotas({"projects": 2})
    there.collection("c")
    with there.quotas.creating("Project", project_in("c")), there.quotas.creating("Project", project_in("c")):
        refused(there.quotas.creating("Project", project_in("c")), "projects is 2, of which 2 are")
    with there.quotas.creating("Project", project_in("c")):
        there.put("Project", "p", {"collectionId": "c"})
        refused(there.quotas.creating("Project", project_in("c")), "")


def test_a_service_has_what_all_its_users_have() -> None:
    there = ObjectsWithQuotas({}, {"projects": 2})
    for user in ("u", "v"):
        there.collection(f"c-{user}", user)
        there.put("Project", f"p-{user}", {"collectionId": f"c-{user}"})
    refused(there.quotas.creating("Project", project_in("c-u")), "perService.projects is 2")


def test_a_service_has_no_more_by_the_first_collection_of_another_user() -> None:
    there = ObjectsWithQuotas({}, {"collections": 2})
    for user in ("u", "v"):
        there.collection(f"c-{user}", user)
    owner = {"owner": {"serviceId": "s", "serviceUserId": "a new one"}}
    refused(there.quotas.creating("Collection", {"spec": owner}), "perService.collections is 2")


def test_children_that_come_before_their_parents_count() -> None:
    there = ObjectsWithQuotas({"destinations": 1})
    there.put("Destination", "d", {"projectId": "p"})
    there.put("Project", "p", {"collectionId": "c"})
    there.collection("c")
    refused(
        there.quotas.creating("Destination", {"spec": {"projectId": "p"}}),
        "destinations is 1, of which 1",
    )


def test_what_is_being_deleted_counts_only_as_long_as_it_is_on_air() -> None:
    there = ObjectsWithQuotas({"projects": 1, "broadcasts": 1})
    there.collection("c")
    spec = {"collectionId": "c", "broadcast": {"state": "Running", "id": "r"}}
    there.put("Project", "p", spec, deletionTimestamp="2026-01-01T00:00:00Z")
    with there.quotas.creating("Project", project_in("c")):
        other = there.put("Project", "q", {"collectionId": "c"})
    started = {**other.spec, "broadcast": {"state": "Running", "id": "r"}}
    refused(there.quotas.changing(other, started), "perUser.broadcasts is 1")
    there.view.remove("Project", "p", "Project-p")
    with there.quotas.changing(other, started):
        pass


def test_what_a_change_starts_counts_as_large_as_it_is_by_then() -> None:
    """A start and a change of its size may be under way at once: each is judged on what it writes."""
    there = ObjectsWithQuotas({"pixels_per_second": 62_208_000, "broadcasts": 2})
    there.collection("c")
    small = {"collectionId": "c", "rendering": {"video": {"width": 320, "height": 240, "framerate": 1}}}
    large = {"collectionId": "c", "rendering": {"video": {"width": 3840, "height": 2160, "framerate": 60}}}
    running = {"broadcast": {"state": "Running", "id": "r"}}
    entry = there.put("Project", "p", small)
    with there.quotas.changing(entry, large):
        pass
    refused(there.quotas.changing(there.put("Project", "p", large), {**large, **running}), "pixelsPerSecond")
    on_air = there.put("Project", "p", {**small, **running})
    refused(there.quotas.changing(on_air, {**large, **running}), "pixelsPerSecond")
    with there.quotas.changing(on_air, large):
        pass


def test_nothing_is_kept_of_a_user_whose_last_collection_is_gone() -> None:
    there = ObjectsWithQuotas({"collections": 1})
    for name in ("c", "d"):
        there.collection(name)
        there.view.remove("Collection", name, f"Collection-{name}")
    assert there.quotas.idle


def test_nothing_stands_in_the_way_of_taking_less() -> None:
    there = ObjectsWithQuotas({"metadata_bytes": 10})
    there.collection("c")
    entry = there.put("Project", "p", {"collectionId": "c", "metadata": "x" * 100})
    with there.quotas.changing(entry, {"collectionId": "c", "metadata": "x" * 50}):
        pass
    refused(there.quotas.changing(entry, {"collectionId": "c", "metadata": "x" * 101}), "")


def test_metadata_is_measured_whatever_its_kind() -> None:
    sizes = {name: metadata_bytes({"metadata": value}) for name, value in (("none", {}), ("wide", [2**70]))}
    assert sizes == {"none": 0, "wide": 24 + 64}
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert metadata_bytes({"metadata": deep}) == LARGEST_OBJECT


def layout_with(data: Any) -> Document:
    return {"projectId": "p", "layers": [{"id": "a", "type": "image", "data": data}]}


def test_layouts_count_with_all_that_is_in_their_layers() -> None:
    """Three kilobytes of empty arrays are counted as the hundred and thirty that they take."""
    there = ObjectsWithQuotas({"layout_bytes": 300_000})
    there.collection("c")
    there.put("Project", "p", {"collectionId": "c"})
    large = layout_with({"a": [[]] * 1000})
    for name in ("k", "l"):
        with there.quotas.creating("Layout", {"spec": large}):
            layout = there.put("Layout", name, large)
    refused(
        there.quotas.creating("Layout", {"spec": large}), "perUser.layoutBytes is 300000, of which 270336 are"
    )
    refused(there.quotas.changing(layout, layout_with({"a": [[]] * 1400})), "layoutBytes is 300000")
    with there.quotas.creating("Layout", {"spec": layout_with({"a": 1})}):
        pass
    there.view.remove("Layout", "k", "Layout-k")
    with there.quotas.creating("Layout", {"spec": large}):
        pass


def test_a_layout_beyond_its_quota_is_operated_and_shrinks() -> None:
    there = ObjectsWithQuotas({"layout_bytes": 1})
    there.collection("c")
    there.put("Project", "p", {"collectionId": "c"})
    layout = there.put("Layout", "l", layout_with({"a": [[]] * 1000, "x": 9}))
    for spec in (layout_with({"a": [[]] * 1000, "x": 1234}), layout_with({"a": []})):
        with there.quotas.changing(layout, spec):
            pass
    refused(there.quotas.changing(layout, layout_with({"a": [[]] * 1100, "x": 9})))


def test_revoked_tokens_count_for_their_service_until_their_records_are_gone() -> None:
    there = ObjectsWithQuotas({}, {"revoked_tokens": 2})
    records = [
        there.put("RevokedToken", f"r-{each}", {}, annotations={SERVICE_ANNOTATION: "s"}) for each in range(2)
    ]
    there.put("RevokedToken", "of-a-former-version", {})
    refused(there.quotas.revoking("s"), "perService.revokedTokens is 2, of which 2 are")
    with there.quotas.revoking("t"), there.quotas.revoking("t"):
        refused(there.quotas.revoking("t"))
    with there.quotas.revoking("s", by_backend=True), there.quotas.revoking("s", by_backend=True):
        refused(there.quotas.revoking("s", by_backend=True), "perService.revokedTokens is 2, of which 4 are")
    there.view.remove("RevokedToken", records[0].name, records[0].uid)
    with there.quotas.revoking("s"):
        pass


class CollectionOfCopies(ObjectsWithQuotas):
    """A collection whose sources are large, and a project that is to have many of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__({})
        monkeypatch.setattr("onair_api.writes.quota_enforcement.MAX_COLLECTION_BYTES", 100_000)
        self.at = self.collection("c")
        for name in ("a", "b"):
            self.source(name, 20_000)

    def source(self, name: str, size: int, **metadata: Any) -> Entry:
        return self.put("Source", name, self.source_spec(size), **metadata)

    @staticmethod
    def source_spec(size: int) -> Document:
        return {"collectionId": "c", "metadata": "x" * size}

    def project(self, name: str, *sources: str, **metadata: Any) -> Entry:
        return self.put("Project", name, self.project_spec(*sources), **metadata)

    @staticmethod
    def project_spec(*sources: str) -> Document:
        return {"collectionId": "c", "sources": [{"sourceId": each} for each in sources]}

    @property
    def kilobytes(self) -> int:
        return self.quotas.collection_bytes(self.at) // 1000


def test_a_source_counts_again_in_each_project_that_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    there = CollectionOfCopies(monkeypatch)
    p = there.project("p", "a", "b")
    assert 80 <= there.kilobytes < 83
    q = there.project("q")
    refused(there.quotas.changing(q, there.project_spec("a")), "may take 100000 bytes")
    b = there.view.entry("Source", "b")
    assert b
    refused(there.quotas.changing(b, there.source_spec(30_000)), "the record of a collection")
    with there.quotas.changing(p, there.project_spec("b")):
        p = there.project("p", "b")
    assert 60 <= there.kilobytes < 63
    with there.quotas.changing(q, there.project_spec("a")):
        refused(there.quotas.changing(p, there.project_spec("a", "b")))
    there.view.remove("Project", "p", "Project-p")
    assert 40 <= there.kilobytes < 43
    for kind, name in (("Project", "q"), ("Source", "a"), ("Source", "b"), ("Collection", "c")):
        there.view.remove(kind, name, f"{kind}-{name}")
    assert there.quotas.idle


def test_a_source_that_comes_after_its_project_counts_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    there = CollectionOfCopies(monkeypatch)
    there.project("p", "late", "of another collection")
    there.source("late", 10_000)
    there.put("Source", "of another collection", {"collectionId": "d", "metadata": "x" * 10_000})
    assert 60 <= there.kilobytes < 63
    there.project("p", "late", deletionTimestamp="2026-01-01T00:00:00Z")
    assert 50 <= there.kilobytes < 53


def test_a_full_collection_is_operated_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a start or a stop adds to a project is not shown, and is never refused."""
    there = CollectionOfCopies(monkeypatch)
    monkeypatch.setattr("onair_api.writes.quota_enforcement.MAX_COLLECTION_BYTES", 10_000)
    p = there.project("p", "a")
    for wanted in (
        {"broadcast": {"state": "Running", "id": "r"}},
        {"broadcast": {"state": "Stopped", "stopped": "r" * 40}},
        {"sources": [{"sourceId": "a", "trigger": {"start": "Or"}}]},
    ):
        with there.quotas.changing(p, {**p.spec, **wanted}):
            pass
    refused(there.quotas.creating("Source", {"spec": there.source_spec(1)}), "may take 10000 bytes")
