"""The operator's block list: what its lines mean, and that it is read again when it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.block_list import BlockList, read_block_list
from tests.polling import until

LINES = """# Known for fraud
evil.example   # since March
https://shop.example/fake/*
0.0.0.0 ads.example tracker.example

not an address!
"""


def test_what_lines_mean(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Hosts, addresses, lines of a hosts file and comments; lines that can't be read are told."""
    file = tmp_path / "blocked.txt"
    file.write_text(LINES)
    blocked = read_block_list(file)
    urls = (
        "a.evil.example",
        "shop.example/fake/1",
        "shop.example/",
        "ads.example",
        "tracker.example",
        "0.0.0.0",
    )
    assert [bool(blocked.find(f"https://{url}")) for url in urls] == [True, True, False, True, True, False]
    assert "are no addresses: 6" in caplog.text
    assert len(read_block_list(None)) == 0


async def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    """What is written into it holds within seconds; where it is gone, what was read before holds on."""
    file = tmp_path / "blocked.txt"
    file.write_text("one.example\n")
    blocked = BlockList(file)
    await blocked.start()
    try:
        assert blocked.current.find("https://one.example/")
        file.write_text("another.example\n")
        await until(lambda: bool(blocked.current.find("https://another.example/")), "it is not read again")
        assert not blocked.current.find("https://one.example/")
        file.unlink()
        await until(lambda: blocked.failure is not None, "nobody is told that it is gone")
        assert blocked.current.find("https://another.example/")
    finally:
        await blocked.stop()
