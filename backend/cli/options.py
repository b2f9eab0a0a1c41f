"""Options that several commands have. Nothing of storage is imported for them: `waylink serve` needs none."""

from __future__ import annotations

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
org_option = click.option("--org", "org_id", required=True, metavar="ID", help="Id of the organization.")
