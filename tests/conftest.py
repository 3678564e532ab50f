"""For all tests."""

import os

from hypothesis import HealthCheck, settings

# A machine that is busy makes an example slow, and no test wrong: time is measured by the benches
# In CI the same examples each time; `make fuzz` and everyday runs look for new ones
settings.register_profile(
    "onair",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI") == "true",
)
settings.load_profile("onair")
