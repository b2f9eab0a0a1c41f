"""The threads for work that would block the event loop for too long.

Only two: threads take turns with the event loop's, and with each more the loop waits longer.
"""

from __future__ import annotations

from backend.concurrency.fair_thread import FairThread

_MOST_ADMITTED = 20  # for each owner
# For what somebody waits for and takes some milliseconds, such as a visitor's QR code.
SHORT_WORK = FairThread("short", _MOST_ADMITTED)
# For what takes longer, or what nobody waits for. A piece should take less than a tenth of a second.
LONG_WORK = FairThread("long", _MOST_ADMITTED)
