"""For all tests."""

from hypothesis import HealthCheck, settings

# A machine that is busy makes an example slow, and no test wrong: time is measured by the benches
settings.register_profile("onair", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("onair")
