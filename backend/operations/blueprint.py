"""The routes for operators at the root of the API host."""

from __future__ import annotations

from quart import Blueprint

operations = Blueprint("operations", __name__)
