"""One facade for the whole run; tests are kept apart by users, whom ownership separates."""

from tests.support.fixtures.facade import anna, proxy, second_facade, show, start_behind

__all__ = ["anna", "proxy", "second_facade", "show", "start_behind"]
