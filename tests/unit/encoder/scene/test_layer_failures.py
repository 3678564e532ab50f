"""What a page says of its failures is told briefly, and holds no secret."""

from __future__ import annotations

import pytest

from onair_crds.contract.program import MAX_FAILED_LAYERS
from onair_crds.contract.scene import PageFailure
from onair_encoder.scene import layer_failures
from onair_encoder.scene.layer_failures import MAX_REASON, FailedLayers, failed_layers, reason


def failure(layout: str, layer: str, why: str = "HTTP 404") -> PageFailure:
    return PageFailure(layout_id=layout, layer_id=layer, reason=why)


def test_layers_on_air_come_first_and_more_than_some_are_not_named() -> None:
    failures = [failure("next", f"layer-{number}") for number in range(50)]
    told = failed_layers([*failures, failure("stage", "left")], "stage")
    assert len(told) == MAX_FAILED_LAYERS
    assert (told[0].layer, told[0].on_air) == ("left", True)
    assert not any(each.on_air for each in told[1:])


def test_what_a_page_says_of_thousands_is_made_fit_for_those_told_and_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []

    def counted(text: str) -> str:
        said.append(text)
        return text

    monkeypatch.setattr(layer_failures, "reason", counted)
    failures = [failure("stage", f"layer-{number}") for number in range(5000)]
    told = FailedLayers()
    for selected in ("stage", "stage", "next", "next"):
        assert [each.on_air for each in told.of(failures, selected)] == [selected == "stage"] * 20
    assert len(said) == 2 * MAX_FAILED_LAYERS
    assert [each.layer for each in told.of(failures[:1], "next")] == ["layer-0"]


def test_an_address_is_not_looked_for_in_all_that_was_before_it() -> None:
    told = reason("a." * 50 + "https://anna:secret@media.example/")
    assert told == "a." * 50 + "https://media.example/"
    found = layer_failures._ADDRESS.search(told)
    assert found
    assert len(found["scheme"]) < 30


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("HTTP 404", "HTTP 404"),
        (
            "https://anna:secret@media.example/a.jpg?key=secret#x responds with HTTP 403",
            "https://media.example/a.jpg responds with HTTP 403",
        ),
        ("rtmp://anna:se@cr:e@t@media.example:1935/live", "rtmp://media.example:1935/live"),
        ("two\nlines\x00\x1b[31m", "two lines [31m"),
        ("blob:http://127.0.0.1:8450/1?secret", "blob:http://127.0.0.1:8450/1"),
        ("", ""),
    ],
)
def test_a_reason_is_one_line_without_credentials_or_queries(said: str, told: str) -> None:
    assert reason(said) == told


def test_a_long_reason_is_cut() -> None:
    assert len(reason("x" * 100_000)) == MAX_REASON
