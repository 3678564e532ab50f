"""Security updates in what apt says. Pure."""

from __future__ import annotations

from onair_dev.supply_chain.security_updates import SecurityUpdate, security_updates

TOLD = """NOTE: This is only a simulation!
Inst tzdata [2025a-0+deb12u1] (2025b-0+deb12u2 Debian:12.11/oldstable-updates [all])
Inst chromium [140.0.1-1~deb12u1] (142.0.2-1~deb12u1 Debian-Security:12/oldstable-security [amd64]) []
Inst libexpat1 [2.5.0-1] (2.5.0-1+deb12u2 Debian:12/old, Debian-Security:12/old [amd64])
Conf chromium (142.0.2-1~deb12u1 Debian-Security:12/oldstable-security [amd64])
"""


def test_only_what_the_security_suite_has_counts() -> None:
    assert list(security_updates(TOLD)) == [
        SecurityUpdate("chromium", "140.0.1-1~deb12u1", "142.0.2-1~deb12u1"),
        SecurityUpdate("libexpat1", "2.5.0-1", "2.5.0-1+deb12u2"),
    ]
