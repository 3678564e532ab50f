"""The address of a bucket: a path at an endpoint, or a host of AWS. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from onair_crds.contract.program import ProgramStorage


@dataclass(frozen=True)
class BucketAddress:
    base: str
    """Scheme and host."""
    root: str
    """The path before a key."""

    @classmethod
    def of(cls, storage: ProgramStorage) -> BucketAddress:
        if storage.endpoint:
            parts = urlsplit(storage.endpoint)
            base = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
            return cls(base, f"{parts.path.rstrip('/')}/{quote(storage.bucket, safe='-_.~')}")
        host = f"s3.{storage.region}.amazonaws.com"
        # A certificate for *.s3… does not cover names with dots
        if "." in storage.bucket:
            return cls(f"https://{host}", f"/{storage.bucket}")
        return cls(f"https://{storage.bucket}.{host}", "")

    @property
    def server(self) -> str:
        """The host, with its port where one is named."""
        return urlsplit(self.base).netloc

    @property
    def host(self) -> str:
        return urlsplit(self.base).hostname or self.server

    @property
    def is_tls(self) -> bool:
        return self.base.startswith("https:")

    def path(self, key: str) -> str:
        return f"{self.root}/{quote(key, safe='/-_.~')}"
