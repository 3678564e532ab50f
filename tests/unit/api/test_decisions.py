"""What the interface leaves open ("not shown"), what was decided, and which tests show the decision.

The table is documentation that cannot go stale: a test that it names must exist.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]

NOT_SHOWN: dict[str, tuple[str, ...]] = {
    "default values of rendering and encoding fields": ("test_what_is_left_out_gets_its_default",),
    "format of identifiers": (
        "test_an_id_is_twenty_characters_and_starts_with_a_letter",
        "test_the_id_of_a_layout_is_a_uuid",
    ),
    "other values of the direction and swipe-type enums": (
        "test_every_kind_of_transition_comes_back_as_it_was_sent",
        "test_a_wrong_layout_is_refused",
    ),
    "fields of an animation object": (
        "test_animations_are_echoed_and_not_kept",
        "test_every_css_easing_is_taken",
    ),
    "transitions of the broadcast phase": (
        "test_a_broadcast_by_its_phases",
        "test_the_status_follows_the_operator",
    ),
    "transitions of the connect state": ("test_states_of_destinations",),
    "method and path of Live operations": ("test_paths_are_those_of_the_interface", "test_the_matrix"),
    "method and path of layout and layer operations": (
        "test_paths_are_those_of_the_interface",
        "test_the_matrix",
    ),
    "path parameters of the layer array": ("test_a_layouts_ids_must_match",),
    "method and path of event operations": ("test_the_token_comes_in_any_of_three_ways",),
    "which credential each operation takes": ("test_an_operation_reads_only_its_own_credential",),
    "authentication of layouts and events": ("test_the_matrix", "test_the_token_comes_in_any_of_three_ways"),
    "HTTP shape of snapshots, rooms, test tokens and guest codes": (
        "test_a_picture_needs_a_running_broadcast",
        "test_rooms_need_a_room_server",
        "test_a_test_token_verifies_and_grants_nothing",
        "test_a_token_with_a_url_comes_with_a_short_one",
    ),
    "envelope of resource-change events, and which operation emits which": (
        "test_projects_and_destinations_by_http",
        "test_collections_by_http",
        "test_sources_by_kubectl",
        "test_layouts_by_kubectl",
    ),
    "fields of the project's broadcast state event": ("test_a_broadcast_by_its_phases",),
    "transport and framing of the stream": (
        "test_an_event_reaches_all_transports_on_both_replicas",
        "test_a_head_of_a_stream_ends",
    ),
    "status code of each condition": ("test_each_response_has_one_meaning", "test_situations"),
    "error body": ("test_every_wrong_field_is_named", "test_no_message_repeats_a_value"),
    "where the broadcast's error is reported": ("test_a_broadcast_by_its_phases",),
    "rate limits": (
        "test_a_token_that_calls_too_often_is_told_when_to_come_back",
        "test_a_service_has_a_limit_for_all_its_tokens",
    ),
    "quotas: none": ("test_a_list_comes_oldest_first_with_everything_in_it",),
    "pagination: none": ("test_a_list_comes_oldest_first_with_everything_in_it",),
    "longest life of an access token": ("test_a_life_ends_seven_days_after_the_first_issue",),
}


@cache
def known_tests() -> frozenset[str]:
    found: set[str] = set()
    for path in TESTS.rglob("test_*.py"):
        found |= set(re.findall(r"^(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE))
    return frozenset(found)


@pytest.mark.parametrize("what", NOT_SHOWN)
def test_a_test_shows_what_was_decided(what: str) -> None:
    missing = set(NOT_SHOWN[what]) - known_tests()
    assert not missing, f"{what}: no such test: {missing}"
