"""A receiver of Waylink's webhooks in Python: verifies, stores each event once, and answers then.

Run it with: WEBHOOK_SECRET=whsec_… flask --app webhook_receiver.receiver run --port 9000
"""

from __future__ import annotations

import json
import os
import sqlite3

from flask import Flask, request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

app = Flask(__name__)
webhook = Webhook(os.environ["WEBHOOK_SECRET"])
DATABASE = os.environ.get("WEBHOOK_DATABASE", "webhooks.sqlite")


@app.post("/waylink")
def receive() -> tuple[str, int]:
    """Store the new events and answer 204. Without that answer, Waylink sends the same events again."""
    try:
        body = webhook.verify(request.get_data(), dict(request.headers))
    except WebhookVerificationError:
        return "The signature is wrong, or older than five minutes.", 401
    database = sqlite3.connect(DATABASE)
    with database:  # one transaction: all events of the request, or none
        database.execute("CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, event TEXT)")
        database.executemany(
            "INSERT OR IGNORE INTO events VALUES (?, ?)",  # a repeat has the same id
            [(event["id"], json.dumps(event)) for event in body.get("events", [body])],
        )
    database.close()
    return "", 204
