"""What a user has left is found on every page of the list."""

from __future__ import annotations

from typing import Any

from tests.support.shows import FacadeClient

from onair_crds.shapes import JsonObject


class PagedFacade(FacadeClient):
    """Lists collections one to a page."""

    def __init__(self, *collections: str) -> None:
        self.left = list(collections)
        self.deleted: list[str] = []

    def call(self, method: str, path: str, body: JsonObject | None = None, **params: Any) -> JsonObject:
        if method == "DELETE":
            assert params == {"force": "true"}
            self.deleted.append(path.removeprefix("/collection/"))
            return {}
        at = int(params.get("pageToken", 0))
        more = {"nextPageToken": str(at + 1)} if at + 1 < len(self.left) else {}
        return {"collections": [{"collectionId": each} for each in self.left[at : at + 1]], **more}


def test_all_collections_of_a_user_are_deleted() -> None:
    facade = PagedFacade("a", "b", "c")
    assert facade.delete_collections() == 3
    assert facade.deleted == ["a", "b", "c"]
    assert PagedFacade().delete_collections() == 0
