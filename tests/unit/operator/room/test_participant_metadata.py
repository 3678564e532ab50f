"""Which metadata participants are left with, whatever they set."""

from __future__ import annotations

import json

import pytest

from onair_crds.resources.enums import Role
from onair_crds.room_server.client import ServerParticipant
from onair_operator.room.participant_metadata import MOST_CHARACTERS, repaired


def participant(metadata: str, *, publishes: bool = True, changes: bool = True) -> ServerParticipant:
    return ServerParticipant(
        "ben", "Ben", 1, False, (), metadata=metadata, publishes=publishes, changes_metadata=changes
    )


@pytest.mark.parametrize(
    "metadata",
    [
        "",
        "hello",
        "null",
        "[]",
        '"a"',
        '{"a":NaN}',
        '{"a":Infinity}',
        "{",
        "[" * 100_000,
        '{"a":1} x',
        "\ufeff{}",
    ],
)
def test_what_is_no_json_object_becomes_one(metadata: str) -> None:
    text = repaired(participant(metadata), Role.GUEST)
    assert json.loads(text) == {"displayName": "Ben", "participantRole": "ROLE_GUEST"}


@pytest.mark.parametrize(
    "metadata",
    [
        '{"participantRole":"ROLE_GUEST","displayName":"Benjamin","isMirrored":true}',
        '{ "displayName": "B\u00e9n", "participantRole": "ROLE_GUEST", "TR_1": {"microphone": "x"} }',
    ],
)
def test_what_others_can_rely_on_stays_as_it_is(metadata: str) -> None:
    assert repaired(participant(metadata), Role.GUEST) == metadata


@pytest.mark.parametrize("claimed", ["ROLE_HOST", "role_guest", None, 4, ["ROLE_GUEST"]])
def test_another_role_is_replaced_and_the_rest_stays(claimed: object) -> None:
    given = {"displayName": "Benjamin", "participantRole": claimed, "isMirrored": True, "half": "\ud800"}
    text = repaired(participant(json.dumps(given)), Role.GUEST)
    assert json.loads(text) == {**given, "participantRole": "ROLE_GUEST"}
    assert text.encode()


@pytest.mark.parametrize("name", ["", None, 5, {}])
def test_a_name_that_is_none_is_that_of_the_token(name: object) -> None:
    given = {"displayName": name, "participantRole": "ROLE_HOST", "a": 1}
    assert json.loads(repaired(participant(json.dumps(given)), Role.HOST)) == {**given, "displayName": "Ben"}


@pytest.mark.parametrize(("publishes", "role"), [(True, "ROLE_GUEST"), (False, "ROLE_VIEWER")])
def test_who_may_change_theirs_and_shows_no_role_has_the_least(publishes: bool, role: str) -> None:
    given = '{"displayName":"Ben","participantRole":"ROLE_HOST"}'
    assert json.loads(repaired(participant(given, publishes=publishes), None))["participantRole"] == role


def test_of_who_cannot_change_theirs_the_role_is_what_the_token_said() -> None:
    given = '{"displayName":"Ben","participantRole":"ROLE_RENDERER"}'
    assert repaired(participant(given, changes=False), None) == given
    assert json.loads(repaired(participant("", changes=False), None)) == {"displayName": "Ben"}


def test_what_would_be_too_large_for_the_server_is_replaced() -> None:
    given = json.dumps({"a": "\u00e9" * (MOST_CHARACTERS // 6)}, ensure_ascii=False)
    assert json.loads(repaired(participant(given), Role.GUEST)) == {
        "displayName": "Ben",
        "participantRole": "ROLE_GUEST",
    }


@pytest.mark.parametrize("more", [0, 1])
def test_what_is_longer_than_others_are_to_be_sent_is_replaced_even_if_it_is_true(more: int) -> None:
    known = {"displayName": "Benjamin", "participantRole": "ROLE_GUEST", "a": ""}
    most = MOST_CHARACTERS - len(json.dumps(known, separators=(",", ":"))) + more
    given = json.dumps({**known, "a": "a" * most}, separators=(",", ":"))
    assert len(given) == MOST_CHARACTERS + more
    text = repaired(participant(given), Role.GUEST)
    assert text == given if not more else len(text) < 100
    assert repaired(participant(text), Role.GUEST) == text
