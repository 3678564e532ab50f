"""Every example is accepted by the API server as it is written, but for its namespace."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
import yaml

from onair_crds.kube.apis import CUSTOM, SECRETS

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.yaml"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_accepted(crds: None, admin: httpx.Client, namespace: str, example: Path) -> None:
    documents = list(yaml.safe_load_all(example.read_text()))
    assert documents
    for document in documents:
        api = {**CUSTOM, "Secret": SECRETS}[document["kind"]]
        document["metadata"]["namespace"] = namespace
        strict = {"dryRun": "All", "fieldValidation": "Strict"}
        response = admin.post(api.path(namespace), params=strict, json=document)
        assert response.is_success, response.text
