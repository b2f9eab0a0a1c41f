"""The operator's block list: what its lines mean, and that it is read again when it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.storage.links.destinations.block_list import (
    BlockList,
    _patterns_in,
    _plain_hosts,
    read_block_list,
)
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


WORDS = (
    *("shop.example", "a-b.c1.example", "xn--strae-oqa.example", "localhost", "1.2.3.4", "0x7f.1"),
    *("1.example", "example.1a", "-a.example", "a-.example", "a.-b", "a.b-", "a..b", ".a", "a.", "a_b.c"),
    *("Shop.example", "stra\u00dfe.example", "x" * 63 + ".example", "x" * 64 + ".example"),
    *("example." + "x" * 64, "a." * 125 + "aaa", "a." * 126 + "aa", "*.shop.example", "shop.example/sale"),
    *("https://shop.example", "::1", "a:80", "a\x0bb.example"),
)


@pytest.mark.parametrize("before", ["", "0.0.0.0 ", "127.0.0.1\t", "::1  ", "0.0.0.0", "0.0.0.0 a.example "])
def test_what_is_read_quickly_means_the_same(before: str) -> None:
    """A line that is taken for a plain host is the pattern that it is where each word is looked at."""
    quick = 0
    for word in WORDS:
        line = f"{before}{word} \n"
        if hosts := _plain_hosts([line]):
            assert hosts == [*_patterns_in(line, 1, [])], line
            quick += 1
    assert bool(quick) is (before.count(".example") == 0)


def test_a_long_list(tmp_path: Path) -> None:
    """Every line of a long list is read, and each bad one is told by its number, wherever it stands."""
    hosts = [f"{number}.evil.example" for number in range(1_000)]
    file = tmp_path / "blocked.txt"
    file.write_text("\n".join(["# all of it", *hosts[:500], "not*here", *hosts[500:], "last.example/a"]))
    blocked = read_block_list(file)
    assert len(blocked) == 1_001
    assert all(blocked.find(f"https://{host}/") for host in hosts)
    assert blocked.find("https://last.example/a/b")


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
        await until(lambda: blocked.failures != [], "nobody is told that it is gone")
        assert blocked.current.find("https://another.example/")
    finally:
        await blocked.stop()
