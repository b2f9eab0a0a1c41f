"""How what waits is cut into requests."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from tests.sdk.pure_modules import JsList, js, load

OUTBOX = load("outbox", storage_key=lambda name: name)
KEEPALIVE = 64 * 1024
# Characters of one to four bytes, so that characters and bytes differ.
ENTRIES = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 14000), st.sampled_from("aé€😀")), min_size=1, max_size=70
)


def entry(number: int, device: str, size: int, character: str) -> Any:
    """An entry of the outbox with a call of this many characters beyond those that every call has."""
    call = {
        "kind": "lead",
        "call_id": f"{number:036}",
        "occurred_at": f"{number:024}",
        "page": "http://a.b/",
        "customer_id": character * size,
    }
    return js({"device": device * 36, "call": call, "until": 1_700_000_000_000})


@given(ENTRIES)
@example([("a", 0, "a")] * 120)
def test_batches_keep_order_and_limits(sizes: list[tuple[str, int, str]]) -> None:
    """Every entry is in one batch, in order; a batch has one device, at most 50 calls, and fits 64 KiB."""
    entries = [entry(number, *size) for number, size in enumerate(sizes)]
    left = JsList(entries)
    batches = []
    while left:
        batches.append(OUTBOX.take_batch(left))
    assert [queued for batch in batches for queued in batch] == entries
    for batch in batches:
        assert 1 <= len(batch) <= 50
        assert len({queued.device for queued in batch}) == 1
        body = json.dumps([queued.call for queued in batch], ensure_ascii=False)
        assert len(batch) == 1 or len(body.encode()) < KEEPALIVE


@given(st.permutations(range(8)))
def test_keys_sort_by_time(order: list[int]) -> None:
    """Sorted by their storage keys, entries are in the order in which their calls were made."""
    entries = [entry(number, "a", 1, "a") for number in order]
    assert [queued.call.occurred_at for queued in sorted(entries, key=OUTBOX.entry_key)] == sorted(
        queued.call.occurred_at for queued in entries
    )
