"""Values with which the chart is installed to try all rights that it may give."""

from __future__ import annotations

from onair_api.settings import RoomSecretSettings, RoomSettings

EVERYTHING = ("--set", "ingest.service.type=NodePort,ingest.replicas=2")
"""What brings rights of its own, beside what is on by default."""
SMALLEST = (
    *("--set", "keysNamespace.name=,redis.enabled=false,redis.url=redis://a:6379,mediamtx.enabled=false"),
    *("--set", "ingest.enabled=false,rooms.enabled=false,encoder.sandbox.install=false,demo.enabled=false"),
)
EXISTING_ROOMS = RoomSettings(url="http://127.0.0.1:9", secret=RoomSecretSettings(name="my-rooms"))
EXISTING = (
    *("--set", f"rooms.enabled=false,rooms.url={EXISTING_ROOMS.url}"),
    *("--set", f"rooms.secret.name={EXISTING_ROOMS.secret.name}"),
    *("--set", "ingest.service.type=LoadBalancer,ingest.service.perRegion=true"),
    *("--set-json", 'regions=[{"name": "north", "latitude": 60, "longitude": 10}]'),
)
"""A server of rooms that is there already, and publishers by load balancers of each region."""
