"""Asks the facade who may publish: within a short time, and not twice about an unknown key.

MediaMTX stands still while it waits for an answer. A facade that is too slow is therefore left alone for a
while, in which nobody is admitted; encoders try again by themselves.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal

import aiohttp
from pydantic import SecretStr

from onair_crds.contract.ingest_gateway import (
    HOOK_PATH,
    PublishRefusal,
    PublishRequest,
    gateway_token,
    stream_of_key,
)
from onair_crds.runtime.bounded_body import bounded_body
from onair_crds.runtime.rotated_secret import RotatedSecret
from onair_ingest.settings import HookSettings

MAX_UNKNOWN_KEYS = 4096
MAX_RESPONSE = 16_384
UNKNOWN_KEY = "UnknownKey"

PublishProtocol = Literal["rtmp", "rtmps", "srt"]


class FacadeUnavailable(Exception):
    """The facade did not respond."""


@dataclass(frozen=True)
class _Unknown:
    refusal: PublishRefusal
    until_s: float


class Facade:
    """Asks the facade who may publish."""

    def __init__(
        self, session: aiohttp.ClientSession, secret: RotatedSecret, gateway: str, settings: HookSettings
    ) -> None:
        self._session = session
        self._secret = secret
        self._gateway = gateway
        self._settings = settings
        self._left_alone_until_s = 0.0
        self._unknown: OrderedDict[str, _Unknown] = OrderedDict()

    async def ask(self, key: str, protocol: PublishProtocol) -> PublishRefusal | None:
        """Why somebody with this key may not publish; None if they may.

        Raises:
            FacadeUnavailable
        """
        stream = stream_of_key(key)
        known = self._unknown.get(stream)
        if known and known.until_s > time.monotonic():
            return known.refusal
        if time.monotonic() < self._left_alone_until_s:
            raise FacadeUnavailable("the facade has just been too slow")
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                refusal = await self._request(key, protocol)
        except TimeoutError as error:
            self._left_alone_until_s = time.monotonic() + self._settings.pause_s
            raise FacadeUnavailable("the facade does not respond in time") from error
        if refusal and refusal.reason == UNKNOWN_KEY:
            self._unknown[stream] = _Unknown(refusal, time.monotonic() + self._settings.unknown_key_s)
            self._unknown.move_to_end(stream)
            if len(self._unknown) > MAX_UNKNOWN_KEYS:
                self._unknown.popitem(last=False)
        return refusal

    async def _request(self, key: str, protocol: PublishProtocol) -> PublishRefusal | None:
        request = PublishRequest(stream_key=SecretStr(key), protocol=protocol, gateway=self._gateway)
        url = self._settings.facade_url.rstrip("/") + HOOK_PATH
        token = gateway_token(self._secret.present, "facade")
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        try:
            async with self._session.post(
                url, data=request.wire(), headers=headers, allow_redirects=False
            ) as response:
                if response.status == 204:
                    return None
                if response.status != 403:
                    raise FacadeUnavailable(f"the facade responds with HTTP {response.status}")
                return PublishRefusal.model_validate_json(await bounded_body(response, MAX_RESPONSE))
        except (aiohttp.ClientError, OSError) as error:
            raise FacadeUnavailable(f"the facade is unreachable: {type(error).__name__}") from error
        except ValueError as error:
            raise FacadeUnavailable("the facade's response is not a refusal") from error
