"""Requests of a former leader are known as such for as long as the present one is heard."""

from __future__ import annotations

from onair_ingest.leader_terms import KEPT_S, LeaderTerms


def test_a_lower_term_is_a_former_leaders() -> None:
    terms = LeaderTerms()
    assert [terms.hear(term) for term in (7, 7, 6, 8, 7)] == [True, True, False, True, False]


def test_an_operator_of_before_there_were_terms_is_heard() -> None:
    terms = LeaderTerms()
    assert terms.hear(7)
    assert terms.hear(None)
    assert not terms.hear(6)


def test_a_term_that_is_heard_no_more_is_forgotten() -> None:
    """A cluster that was restored from a backup counts from lower on."""
    now_s = 100.0
    terms = LeaderTerms(lambda: now_s)
    terms.hear(7)
    now_s += KEPT_S
    assert not terms.hear(6)
    now_s += 1
    assert terms.hear(6)
