"""Signs requests to a storage as AWS prescribes (Signature Version 4)."""

from __future__ import annotations

import asyncio
import datetime as dt

from awscrt import auth, http

from onair_crds.contract.program import ProgramStorage
from onair_crds.session_error import SessionError


class Signer:
    def __init__(self, storage: ProgramStorage) -> None:
        self._region = storage.region
        self._credentials = _credentials(storage)

    async def sign(
        self, method: str, path: str, headers: dict[str, str], content_sha256: str
    ) -> dict[str, str]:
        """The headers of a request, `host` among them, with those of its signature.

        Raises:
            SessionError: there are no credentials.
        """
        if self._credentials is None:
            raise SessionError("the access key or its secret is empty", permanent=True)
        request = http.HttpRequest(method, path, http.HttpHeaders([*headers.items()]))
        config = auth.AwsSigningConfig(
            algorithm=auth.AwsSigningAlgorithm.V4,
            signature_type=auth.AwsSignatureType.HTTP_REQUEST_HEADERS,
            credentials_provider=self._credentials,
            region=self._region,
            service="s3",
            date=dt.datetime.now(dt.UTC),
            use_double_uri_encode=False,
            should_normalize_uri_path=False,
            signed_body_value=content_sha256,
            signed_body_header_type=auth.AwsSignedBodyHeaderType.X_AMZ_CONTENT_SHA_256,
        )
        await asyncio.wrap_future(auth.aws_sign_request(request, config))
        return dict(request.headers)


def _credentials(storage: ProgramStorage) -> auth.AwsCredentialsProvider | None:
    access_key = storage.access_key.get_secret_value()
    secret_key = storage.secret_key.get_secret_value()
    token = storage.token.get_secret_value() if storage.token else ""
    if not (access_key and secret_key):
        return None
    return auth.AwsCredentialsProvider.new_static(access_key, secret_key, token or None)
