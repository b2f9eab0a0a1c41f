"""The kinds of ids. All are texts; as types of their own they can't be taken for one another."""

from __future__ import annotations

from typing import NewType

OrgId = NewType("OrgId", str)
LinkId = NewType("LinkId", str)
KeyId = NewType("KeyId", str)
UserId = NewType("UserId", str)
CustomerId = NewType("CustomerId", str)
DeviceId = NewType("DeviceId", str)
InstallId = NewType("InstallId", str)
TagId = NewType("TagId", str)
TemplateId = NewType("TemplateId", str)
