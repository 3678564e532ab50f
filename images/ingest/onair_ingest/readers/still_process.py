"""Decodes one key frame to a JPEG, in a process of its own: what it decodes comes from whoever publishes.

Only here and in previews (`room_process.py`) do such bytes reach native code.

Reads the length of the decoder configuration in four bytes, it, and the access unit from standard input;
writes the JPEG to standard output. Ends with 1 where nothing could be decoded.
"""

from __future__ import annotations

import resource
import sys
from fractions import Fraction

import av
from av.video.reformatter import ColorRange, Colorspace

MEMORY_BYTES = 1024 * 2**20
CPU_S = 10
UNSPECIFIED = 2
"""What H.264 calls a matrix that a stream does not name; Chromium, and so a page, takes it for BT.709."""


def jpeg(description: bytes, access_unit: bytes) -> bytes:
    """Decodes an access unit to a JPEG picture.

    Raises:
        av.FFmpegError, ValueError: it cannot be decoded.
    """
    decoder = av.VideoCodecContext.create("h264", "r")
    decoder.extradata = description
    frames = [*decoder.decode(av.Packet(access_unit)), *decoder.decode(None)]
    if not frames:
        raise ValueError("no frame could be decoded")
    encoder = av.VideoCodecContext.create("mjpeg", "w")
    encoder.width, encoder.height = frames[0].width, frames[0].height
    encoder.pix_fmt = "yuvj420p"
    encoder.time_base = Fraction(1, 25)
    return b"".join(map(bytes, encoder.encode(_of_jfif(frames[0]))))


def _of_jfif(frame: av.VideoFrame) -> av.VideoFrame:
    """Converts a frame to BT.601 in full range: a JPEG cannot name its matrix, and is taken for that."""
    matrix = Colorspace.ITU709 if frame.colorspace == UNSPECIFIED else None
    return frame.reformat(
        format="yuvj420p",
        src_colorspace=matrix,
        dst_colorspace=Colorspace.ITU601,
        dst_color_range=ColorRange.JPEG,
    )


def main() -> None:
    """Decodes a key frame from standard input to a JPEG on standard output, with little memory and time."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    given = sys.stdin.buffer.read()
    size = int.from_bytes(given[:4], "big")
    try:
        output = jpeg(given[4 : 4 + size], given[4 + size :])
    except (av.FFmpegError, ValueError):
        sys.exit(1)
    sys.stdout.buffer.write(output)


if __name__ == "__main__":
    main()
