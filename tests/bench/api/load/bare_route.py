"""The baseline for GET: a bare FastAPI route that serves given bytes, on uvloop and httptools."""

from __future__ import annotations

import sys

import uvicorn
from fastapi import FastAPI, Response

BODY = sys.stdin.buffer.readline().rstrip(b"\n")

app = FastAPI()


@app.get("/live/v2/collection/{collection}/project/{project}")
async def project(collection: str, project: str) -> Response:
    return Response(BODY, media_type="application/json")


if __name__ == "__main__":
    uvicorn.run(
        app, host="127.0.0.1", port=int(sys.argv[1]), loop="uvloop", log_level="error", access_log=False
    )
