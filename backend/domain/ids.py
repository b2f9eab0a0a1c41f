"""The kinds of ids. All are texts; as types of their own they can't be taken for one another.

Other ids stay plain texts: what others give among the fields of a call, a refund or a link (transaction_id,
event_id, refund_id, external_id) is compared with nothing but itself, and ids of blocks, logs and deferred
links are known to one part of the code alone.
"""

from __future__ import annotations

from typing import NewType

OrgId = NewType("OrgId", str)
LinkId = NewType("LinkId", str)
KeyId = NewType("KeyId", str)
UserId = NewType("UserId", str)
CustomerId = NewType("CustomerId", str)
CallId = NewType("CallId", str)
DeviceId = NewType("DeviceId", str)
InstallId = NewType("InstallId", str)
TagId = NewType("TagId", str)
TemplateId = NewType("TemplateId", str)
EndpointId = NewType("EndpointId", str)
FunnelId = NewType("FunnelId", str)
ReportId = NewType("ReportId", str)
AnnotationId = NewType("AnnotationId", str)
AlertRuleId = NewType("AlertRuleId", str)
