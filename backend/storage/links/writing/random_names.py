"""Random ids and paths, for new links.

Ids and paths each come from one read of the system's randomness, which may take longer than all the rest.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from backend.domain.ids import LinkId
from backend.domain.links.input import GENERATED_PATH_LENGTH, PATH_ALPHABET

# Bytes for a path. With this many, the probabilities of paths differ by less than one in a billion.
_PATH_BYTES = 8
_ID_BYTES = 16


def random_ids(number: int) -> Iterator[LinkId]:
    """This number of new ids for links."""
    return map(_id_from, _random_pieces(number, _ID_BYTES))


def random_paths(number: int) -> list[str]:
    """This number of paths, of the length and characters of generated paths."""
    return [_path_from(random) for random in _random_pieces(number, _PATH_BYTES)]


def _random_pieces(number: int, size: int) -> list[bytes]:
    random = secrets.token_bytes(number * size)
    return [random[start : start + size] for start in range(0, len(random), size)]


def _id_from(random: bytes) -> LinkId:
    """A UUID of version 4 (RFC 9562, 5.4), written by hand: the class takes five times as long."""
    digits, variant = random.hex(), "89ab"[random[8] >> 6]
    return LinkId(f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}")


def _path_from(random: bytes) -> str:
    rest, path = int.from_bytes(random), ""
    for _ in range(GENERATED_PATH_LENGTH):
        rest, place = divmod(rest, len(PATH_ALPHABET))
        path += PATH_ALPHABET[place]
    return path
