"""Descriptions: argument lines in docstrings, several results, their order, numbers that verbs change."""

from __future__ import annotations

from pathlib import Path

from support.given import Json, service, tool, value

CLINIC: Json = {
    "patients": [
        {"patient_id": "P1", "full_name": "Ada Low", "date_of_birth": "1990-01-01", "state": "active"},
        {"patient_id": "P2", "full_name": "Ada Low", "date_of_birth": "1990-01-01", "state": "active"},
    ],
    "visits": [
        {"visit_id": "V1", "patient_id": "P1", "visit_date": "2030-02-01"},
        {"visit_id": "V2", "patient_id": "P1", "visit_date": "2030-04-01"},
        {"visit_id": "V3", "patient_id": "P1", "visit_date": "2030-03-01"},
    ],
    "pumps": [{"pump_id": "U1", "drug_used_ml": 3.0, "drug_refilling_ml": 1.0, "status": "Active"}],
}


async def test_most_recent_first_in_the_description_sorts_a_list(tmp_path: Path) -> None:
    tools = (
        tool("list_visits", "patient_id", about="The visits of a patient, most recent first."),
        tool("get_all_visits", "patient_id", about="The visits of a patient."),
    )
    async with service(tmp_path, CLINIC, *tools) as simulator, simulator.open("w") as world:
        newest = value(await world.call("list_visits", {"patient_id": "P1"}))
        assert [one["visit_id"] for one in newest] == ["V2", "V3", "V1"]
        assert value(await world.call("get_all_visits", {"patient_id": "P1"}))[0]["visit_id"] == "V1"
