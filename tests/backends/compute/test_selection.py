"""Tools with many operations. One argument, or two together, select one."""

from __future__ import annotations

from pathlib import Path

from support.matched_tools import TEXT, answered, refused, simulator, tool


async def test_two_arguments_select_together_and_an_unknown_choice_is_no_failure(tmp_path: Path) -> None:
    action, kind = {"enum": ["encode", "decode"]}, {"enum": ["url", "html", "morse"]}
    sim = simulator(tmp_path, [tool("code", "Encode or decode a text", input=TEXT, action=action, type=kind)])
    async with sim.open() as world:
        assert await answered(world, "code", input="a b&c", action="encode", type="url") == "a%20b%26c"
        assert await answered(world, "code", input="&lt;b&gt;", action="decode", type="html") == "<b>"
        assert await answered(world, "code", input="sos", action="encode", type="morse") == "code: done"


async def test_a_choice_overrides_the_name_and_without_a_choice_the_arguments_decide(tmp_path: Path) -> None:
    numbers = {"type": "array", "items": {"type": "number"}}
    sim = simulator(tmp_path, [
        tool("maths", "Calculate", needed="", expression=TEXT, action={"enum": ["eval", "statistics"]}, values=numbers),
        tool("hash", "Hash a text", needed="input", input=TEXT, algorithm=TEXT, key=TEXT,
             action={"enum": ["hash", "hmac"]}),
    ])  # fmt: skip
    async with sim.open() as world:
        assert (await answered(world, "maths", action="statistics", values=[1, 2, 6]))["median"] == 2
        assert await answered(world, "maths", expression="2 * 4") == "8"
        assert await answered(world, "hash", input="hens", algorithm="crc32") == "a3b86f94"
        keyed = await answered(world, "hash", input="hens", action="hmac", key="k")
        assert keyed != await answered(world, "hash", input="hens")
        await refused(world, "hash", input="hens", action="hmac")


async def test_texts_are_compared_counted_and_shuffled(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [
        tool("diff_texts", "Compare two texts", text1=TEXT, text2=TEXT),
        tool("levenshtein_distance", "How far two words are apart", a=TEXT, b=TEXT),
        tool("count", "Count the characters and words of a text", text=TEXT),
        tool("shuffle_list", "Shuffle a list", items={"type": "array"}),
        tool("convert_base", "A number in another base", value=TEXT, from_base={"type": "integer"},
             to_base={"type": "integer"}),
    ])  # fmt: skip
    async with sim.open() as world:
        assert await answered(world, "diff_texts", text1="a\nb", text2="a\nc") == "- b\n+ c"
        assert await answered(world, "levenshtein_distance", a="kitten", b="sitting") == "3"
        assert (await answered(world, "count", text="two words"))["words"] == 2
        assert sorted(await answered(world, "shuffle_list", items=[3, 1, 2])) == [1, 2, 3]
        assert await answered(world, "convert_base", value="-ff", from_base=16, to_base=2) == "-11111111"
        assert "too long" in await refused(world, "convert_base", value="f" * 9000, from_base=16, to_base=2)
        assert "base 2" in await refused(world, "convert_base", value="12", from_base=2, to_base=10)


async def test_an_argument_selects_the_operation_on_dates(tmp_path: Path) -> None:
    action, number = {"enum": ["diff", "add", "weekday", "era"]}, {"type": "number"}
    sim = simulator(tmp_path, [
        tool("date", needed="action date", action=action, date=TEXT, date2=TEXT, amount=number, unit=TEXT),
        tool("get_timestamp", "The timestamp of a time", time=TEXT),
        tool("days_in_month", "How many days a month has", needed="", date=TEXT),
    ])  # fmt: skip
    async with sim.open() as world:
        assert await answered(world, "date", action="diff", date="2026-01-01", date2="2026-03-15") == "73"
        assert await answered(world, "date", action="add", date="2026-01-31", amount=1, unit="months") == "2026-02-28"
        assert await answered(world, "date", action="weekday", date="2026-07-04") == "Saturday"
        assert await answered(world, "date", action="era", date="2026-07-04") == "date: done"
        assert await answered(world, "get_timestamp", time="1970-01-02 00:00:00") == "86400"
        assert await answered(world, "days_in_month", date="2024-02-10") == "29"


def test_arguments_with_very_many_choices_select_no_operation(tmp_path: Path) -> None:
    many = {"enum": [f"v{at}" for at in range(400)]}
    sim = simulator(tmp_path, [tool("code", "Encode", input=TEXT, action=many, type=many, operation=many, mode=many)])
    assert sim.scenario.domain.plans["code"].operation != "chosen"
