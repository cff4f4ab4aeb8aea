"""Formats of times: recognition, reading and writing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_sim.types.time_formats import parse_time, time_example, time_format

MOMENT = datetime(2031, 3, 5, 7, 8, 9, 123456, tzinfo=UTC)
WRITTEN: list[tuple[Any, Any]] = [
    ("2024-05-17T10:20:30Z", "2031-03-05T07:08:09Z"),
    ("2024-05-17T10:20:30.123Z", "2031-03-05T07:08:09.123Z"),
    ("2024-05-17T10:20:30.123456+00:00", "2031-03-05T07:08:09.123456+00:00"),
    ("2024-05-17T10:20:30+02:00", "2031-03-05T09:08:09+02:00"),
    ("2024-05-17T10:20:30-0530", "2031-03-05T01:38:09-0530"),
    ("2024-05-17T10:20:30", "2031-03-05T07:08:09"),
    ("2024-05-17T10:20", "2031-03-05T07:08"),
    ("2024-05-17 10:20", "2031-03-05 07:08"),
    ("2024-05-17 10:20:30", "2031-03-05 07:08:09"),
    ("2024-05-17 10:20:30 UTC", "2031-03-05 07:08:09 UTC"),
    ("2024-05-17", "2031-03-05"),
    ("2024/05/17 10:20", "2031/03/05 07:08"),
    ("20240517T102030Z", "20310305T070809Z"),
    ("17/05/2024", "05/03/2031"),
    ("05/17/2024", "03/05/2031"),
    ("5/17/2024 9:05 PM", "3/5/2031 7:08 AM"),
    ("05/17/2024, 09:05:10pm", "03/05/2031, 07:08:09am"),
    ("17.05.2024 10:20", "05.03.2031 07:08"),
    ("May 17, 2024", "Mar 05, 2031"),
    ("Jun 7, 2024", "Mar 5, 2031"),
    ("June 17, 2024 10:20", "March 05, 2031 07:08"),
    ("17 June 2024", "05 March 2031"),
    ("Fri, 17 May 2024 10:20:30 GMT", "Wed, 05 Mar 2031 07:08:09 GMT"),
    ("Friday, May 17, 2024 at 10:20 pm", "Wednesday, March 05, 2031 at 07:08 am"),
    (1715941230, 1930460889),
    (1715941230000, 1930460889123),
    (1715941230.5, 1930460889.123456),
    ("1715941230", "1930460889"),
]


@pytest.mark.parametrize(("example", "written"), WRITTEN)
def test_times_are_written_in_the_format_of_an_example(example: Any, written: Any) -> None:
    known = time_format(example)
    assert known is not None
    assert known.write(MOMENT) == written
    assert known.read(example) == parse_time(example)
    again = known.read(written)
    assert again is not None
    assert abs(again - MOMENT).days < 1


@pytest.mark.parametrize(
    "value", [None, True, "", "soon", "12", 12, "2024-13-45", "10:20", "45/45/2024", [], {}, "v1.2.3"]
)
def test_other_values_have_no_format(value: Any) -> None:
    assert time_format(value) is None


def test_the_order_of_day_and_month_is_that_of_the_example() -> None:
    assert parse_time("03/04/2030") == datetime(2030, 4, 3, tzinfo=UTC)
    assert parse_time("03/04/2030", "12/31/2029") == datetime(2030, 3, 4, tzinfo=UTC)
    assert time_example(["12/31/2029", None, "03/04/2030"]) == "12/31/2029"
    assert time_example(["2029-12-31", "2030-03-04"]) == "2030-03-04"
    assert time_example(["2029-12-31", "soon"]) is None
    assert time_example([]) is None


@given(st.text(max_size=45) | st.integers() | st.floats() | st.none())
def test_no_value_crashes(value: Any) -> None:
    parse_time(value)
    known = time_format(value)
    assert known is None or known.read(value) is not None


@given(st.sampled_from([example for example, _ in WRITTEN]), st.integers(631152000, 3786912000))
def test_what_is_written_is_read_again(example: Any, seconds: int) -> None:
    known = time_format(example)
    assert known is not None
    written = known.write(datetime.fromtimestamp(seconds, UTC))
    found = known.read(written)
    assert found is not None
    assert known.write(found) == written
