"""Calls on the small CRM of tests: records that it has, and a deal that it does not have."""

from __future__ import annotations

from typing import Any, TypeAlias

Call: TypeAlias = tuple[str, dict[str, Any]]

ADA = {"contact_id": "con_00001"}
SPRING = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
CREATE: Call = ("create_deal", SPRING)
GONE: Call = ("delete_contact", {"contact_id": "con_00002"})
