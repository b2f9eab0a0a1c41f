"""Runs wrk, a tool that sends requests as fast as a server answers, and reads its results."""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HOST = "go.bench.localhost"
_LINKS = Path(__file__).with_name("links.lua")
_VISITS = Path(__file__).with_name("visits.lua")
_MILLISECONDS = {"us": 0.001, "ms": 1, "s": 1000}


@dataclass(frozen=True, slots=True)
class Run:
    """The result of wrk: answers per second, the 99th percentile and the median of their time in
    milliseconds, their number, and how many more were errors.
    """

    rate: float
    p99: float
    p50: float
    answers: int
    errors: int = 0


def require_wrk() -> None:
    """Exit with a message if wrk is not installed."""
    if not shutil.which("wrk"):
        sys.exit("The benchmark needs wrk: apt-get install wrk")


async def ask(
    url: str, seconds: int, connections: int = 32, *, script: Path | None = None, all_redirect: bool = True
) -> Run:
    """Ask for a short URL for this many seconds, at this URL or as a Lua script says."""
    options = [f"-c{connections}", "-H", f"Host: {HOST}", *(["-s", str(script)] if script else [])]
    run = await _run(seconds, [*options, url])
    if all_redirect and run.errors:
        raise RuntimeError(f"{run.errors} answers were no redirects")
    return run


async def visit_links(url: str, seconds: int, links: int, start: int = -1) -> Run:
    """Ask for the links `kites/0` and up over 32 connections for this many seconds.

    They are drawn at random, or asked for one after the other from `start` on.
    """
    arguments = ["-s", str(_LINKS), url, "--", str(links), str(start)]
    return await _run(seconds, ["-c32", "-H", f"Host: {HOST}", *arguments])


async def visit(url: str, seconds: int, visits: Path) -> Run:
    """Ask for what a file says (visits.lua) over 32 connections for this many seconds."""
    run = await _run(seconds, ["-c32", "-H", f"Host: {HOST}", "-s", str(_VISITS), url, "--", str(visits)])
    if run.errors:
        raise RuntimeError(f"{run.errors} answers were no redirects")
    return run


async def post(url: str, seconds: int, script: Path, *arguments: str) -> Run:
    """Send what a Lua script makes of these arguments over 64 connections for this many seconds."""
    return await _run(seconds, ["-c64", "-s", str(script), url, "--", *arguments])


async def _run(seconds: int, options: Sequence[str]) -> Run:
    command = ("wrk", "-t1", f"-d{seconds}s", "--latency", *options)
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    printed = (await process.communicate())[0].decode()
    return _read(printed)


def _read(printed: str) -> Run:
    rate = re.search(r"Requests/sec: *([\d.]+)", printed)
    answers = re.search(r"(\d+) requests in", printed)
    p50, p99 = (re.search(rf"{percent}% *([\d.]+)(us|ms|s)\b", printed) for percent in (50, 99))
    if not (rate and answers and p50 and p99):
        raise RuntimeError(f"wrk printed something else than usual: {printed}")
    all_answers, refused = int(answers[1]), re.search(r"Non-2xx or 3xx responses: (\d+)", printed)
    errors = int(refused[1]) if refused else 0
    good = all_answers - errors
    good_rate = float(rate[1]) * good / max(1, all_answers)
    return Run(good_rate, _milliseconds(p99), _milliseconds(p50), good, errors)


def _milliseconds(match: re.Match[str]) -> float:
    return float(match[1]) * _MILLISECONDS[match[2]]
