"""What descriptions and names say of given records: several are found, the newest first, a number is counted up."""

from __future__ import annotations

from pathlib import Path

from support.given import NUMBER, Json, refused, service, tool, value

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


async def test_a_get_that_is_said_to_search_finds_several_by_what_it_calls_in_short(tmp_path: Path) -> None:
    find = tool("get_patient_by_name", "full_name", "dob", about="Searches for patients by name and date of birth.")
    async with service(tmp_path, CLINIC, find) as simulator, simulator.open("w") as world:
        born = {"full_name": "Ada Low", "dob": "1990-01-01"}
        assert [one["patient_id"] for one in value(await world.call("get_patient_by_name", born))] == ["P1", "P2"]
        assert value(await world.call("get_patient_by_name", {**born, "dob": "1999-01-01"})) == []


async def test_what_happened_last_is_told_first_where_the_tool_says_so(tmp_path: Path) -> None:
    tools = (
        tool("list_visits", "patient_id", about="The visits of a patient, most recent first."),
        tool("get_all_visits", "patient_id", about="The visits of a patient."),
    )
    async with service(tmp_path, CLINIC, *tools) as simulator, simulator.open("w") as world:
        newest = value(await world.call("list_visits", {"patient_id": "P1"}))
        assert [one["visit_id"] for one in newest] == ["V2", "V3", "V1"]
        assert value(await world.call("get_all_visits", {"patient_id": "P1"}))[0]["visit_id"] == "V1"


async def test_a_number_called_after_the_verb_is_counted_up_by_more_than_nothing(tmp_path: Path) -> None:
    tools = tool("refill_drug", "pump_id", "ml_amount", ml_amount=NUMBER), tool("get_pump", "pump_id")
    async with service(tmp_path, CLINIC, *tools) as simulator, simulator.open("w") as world:
        await world.call("refill_drug", {"pump_id": "U1", "ml_amount": 2.5})
        assert value(await world.call("get_pump", {"pump_id": "U1"}))["drug_refilling_ml"] == 3.5
        assert refused(await world.call("refill_drug", {"pump_id": "U1", "ml_amount": -1}))
        assert refused(await world.call("refill_drug", {"pump_id": "U7", "ml_amount": 1}))
