"""probe"""
from __future__ import annotations
import os, time, random
from collections import Counter, defaultdict
from zoneinfo import ZoneInfo
from tests.model import comparison
from tests.model.comparison import differences, smallest
from tests.model.documented_reports import Report
from tests.model.documented_rules import Rules
from tests.model.random_histories import random_history, ROUNDS
from tests.model.storyteller import Storyteller
from tests.polling import wait_for_async

COUNT = int(os.environ.get("MODEL_COUNT", "100"))
SEED = int(os.environ.get("MODEL_SEED", "1"))
if os.environ.get("TODAY"):
    comparison.MEASURES = tuple(os.environ.get("TODAY").split())

async def test_probe(client, organization, clock, make_organization):
    """Probe."""
    async def new():
        return Storyteller(client, await make_organization(), clock)
    t=time.time()
    histories = [random_history(n, SEED) for n in range(COUNT)]
    teller = Storyteller(client, organization, clock)
    await teller.tell(histories)
    print("told", time.time()-t, sum(len(h.tellings) for h in histories)); t=time.time()
    total = sum(f.kind == "click" for h in histories for t_ in h.tellings for f in t_.facts)
    zone = ZoneInfo("Asia/Kolkata")
    async def clicks():
        r = Report((), Rules(), teller.beginning, zone)
        return (await teller.answer(r, ["clicks"]))[1]["clicks"]
    await wait_for_async(clicks, "clicks", lambda c: c == total)
    asofs = [None] if os.environ.get('NOW') else [None, ROUNDS[8] + 7200, ROUNDS[20] + 7200]
    models = os.environ.get("MODELS", "last_non_direct last first linear position_based").split()
    reports = [Report(("campaign",), Rules(credit, model, days, as_of), teller.beginning, zone) for as_of in asofs for credit in ("device", "customer") for model in models for days in (None, 3)]
    t=time.time()
    found = await differences(teller, histories, reports)
    print("compared", time.time()-t)
    by = defaultdict(list)
    for d in found: by[d.number].append(d)
    several = by.pop(None, [])
    print("bad histories", len(by), "several", len(several))
    for d in several[:5]: print(d.in_words())
    kinds = defaultdict(list)
    for n, ds in by.items():
        kinds["outcome" if any(d.report is None for d in ds) else "now" if any(d.report.rules.as_of is None for d in ds) else "as_of"].append(n)
    print({k: len(v) for k, v in kinds.items()})
    show = int(os.environ.get("SHOW", "3"))
    for kind, numbers in kinds.items():
        for n in numbers[:show]:
            d = by[n][0]
            h, d = await smallest(histories[n], d, new)
            print("=====", kind, n, "\n", h.in_words(), "\n", d.in_words())
