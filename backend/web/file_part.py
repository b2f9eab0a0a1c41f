"""Which part of a file a request wants (RFC 9110, "Range Requests"), so that a download can go on."""

from __future__ import annotations

from dataclasses import dataclass

from quart import request


class NoSuchPart(Exception):
    """The file has no byte of the range that was asked for: the answer is 416."""


@dataclass(frozen=True, slots=True)
class FilePart:
    """The bytes of a file of `size` bytes from `start` up to `end`, which is not included."""

    start: int
    end: int
    size: int

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole file."""
        return (self.start, self.end) == (0, self.size)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of an answer with this part."""
        length = {"Accept-Ranges": "bytes", "Content-Length": str(self.end - self.start)}
        if self.is_whole:
            return length
        return length | {"Content-Range": f"bytes {self.start}-{self.end - 1}/{self.size}"}


def asked_part(size: int, entity_tag: str) -> FilePart:
    """The part of a file of `size` bytes that the current request wants; without a Range, the whole.

    Several ranges are answered with the whole file, and so is an If-Range with another entity tag: then the
    client has a part of another file. Raises NoSuchPart.
    """
    whole = FilePart(0, size, size)
    wanted, condition = request.range, request.if_range
    if wanted is None or wanted.units != "bytes" or len(wanted.ranges) != 1:
        return whole
    if (condition.etag is not None or condition.date is not None) and condition.etag != entity_tag:
        return whole
    bounds = wanted.range_for_length(size)
    if bounds is None:
        raise NoSuchPart
    return FilePart(bounds[0], bounds[1], size)
