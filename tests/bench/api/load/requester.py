"""Repeats one GET request over several connections; prints the number of responses and their sizes."""

from __future__ import annotations

import asyncio
import json
import sys
import time

SEPARATOR = b"\r\n\r\n"


async def repeat(host: str, port: int, request: bytes, end: float) -> tuple[int, set[int]]:
    reader, writer = await asyncio.open_connection(host, port)
    count, sizes = 0, set()
    while time.monotonic() < end:
        writer.write(request)
        head = await reader.readuntil(SEPARATOR)
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(head.decode())
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        sizes.add(length)
        count += 1
    writer.close()
    return count, sizes


async def main(port: int, path: str, token: str, connections: int, seconds: float) -> None:
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}", "Accept: */*"]
    request = "\r\n".join(lines).encode() + SEPARATOR
    end = time.monotonic() + seconds
    results = await asyncio.gather(*(repeat("127.0.0.1", port, request, end) for _ in range(connections)))
    sizes = set().union(*(sizes for _, sizes in results))
    print(json.dumps({"requests": sum(count for count, _ in results), "bytes": sorted(sizes)}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5])))
