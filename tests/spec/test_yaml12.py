"""YAML and JSON texts are read as JSON values; everything else is reported with its line."""

import gc
import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mcp_sim.spec import yaml12
from mcp_sim.spec.yaml12 import nodes
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.json_schema.shapes import as_list, as_object

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def value_of(text: str, file: str = "x.yaml") -> Any:
    return yaml12.load(text.encode(), file).value


def refused(data: str | bytes, file: str = "x.yaml") -> list[str]:
    with pytest.raises(DocumentError) as caught:
        yaml12.load(data.encode() if isinstance(data, str) else data, file)
    return [str(problem) for problem in caught.value.problems]


def same(one: Any, other: Any) -> bool:
    return json.dumps(one) == json.dumps(other) and repr(one) == repr(other)


@given(VALUES, st.sampled_from(["x.yaml", "x.json"]), st.sampled_from([None, 2]), st.booleans())
def test_any_json_value_dumped_as_json_loads_identically(
    value: Any, file: str, indent: int | None, ascii_: bool
) -> None:
    assert same(value_of(json.dumps(value, indent=indent, ensure_ascii=ascii_), file), value)


PLAIN = st.text(st.characters(min_codepoint=32, max_codepoint=126))


@given(
    st.dictionaries(
        PLAIN,
        st.recursive(PLAIN | st.integers() | st.floats(allow_nan=False, allow_infinity=False), st.lists),
        min_size=1,
    )
)
def test_json_inside_yaml_loads_identically(value: dict[str, Any]) -> None:
    text = "".join(f"{json.dumps(name)}: {json.dumps(part)}\n" for name, part in value.items())
    assert same(value_of("# not JSON as a whole\n" + text), value)


@pytest.mark.parametrize(
    "text",
    ["NO", "no", "on", "Yes", "True", "NULL", "12:30", "2029-03-01", "2029-03-01T09:00:00Z", "0o7", "0x1f", "1_000"],
)
def test_what_yaml_1_1_would_turn_into_something_else_stays_a_string(text: str) -> None:
    assert value_of(f"a: {text}") == {"a": text}
    assert value_of(f"- {text}") == [text]


@pytest.mark.parametrize("text", [".5", "5.", "+1", "01", "1e", "--", ".inf", ".nan", "NaN", "Infinity", "1.2.3"])
def test_what_is_no_json_number_is_a_string(text: str) -> None:
    assert value_of(f"a: {text}") == {"a": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("-0", 0),
        ("12", 12),
        ("-1.5e3", -1500.0),
    ],
)
def test_json_words_and_numbers_have_their_types(text: str, value: Any) -> None:
    assert same(value_of(f"a: {text}")["a"], value)


@pytest.mark.parametrize("word", ["true", "false", "null"])
def test_literals_of_other_programs_may_be_capitalised(word: str) -> None:
    text = f"[{word.title()}, {word.upper()}, '{word.title()}', {word.title()}s]\n# not JSON"
    value = json.loads(word)
    assert same(
        yaml12.load(text.encode(), "x.yaml", is_foreign=True).value, [value, value, word.title(), f"{word.title()}s"]
    )


def test_quoted_words_and_numbers_are_strings() -> None:
    assert value_of("""{a: "1", b: 'true', c: ""}""") == {"a": "1", "b": "true", "c": ""}


def test_every_repeated_key_is_reported_with_its_line() -> None:
    assert refused("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n") == [
        "x.yaml:4: b: duplicate key 'c'; it is already in line 3",
        "x.yaml:5: duplicate key 'a'; it is already in line 1",
    ]
    assert refused('{"a": 1,\n"b": {"c": 1,\n"c": 2}}', "x.json") == [
        "x.json:3: b: duplicate key 'c'; it is already in line 2"
    ]


def test_keys_that_are_no_strings_are_refused() -> None:
    assert refused("a:\n  404: x\n") == ['x.yaml:2: a: a key must be a string; quote it: "404"']
    assert refused("true: x") == ['x.yaml:1: a key must be a string; quote it: "true"']
    assert refused("? [a]\n: x\n1: y") == [
        "x.yaml:1: a key must be a string",
        'x.yaml:3: a key must be a string; quote it: "1"',
    ]
    assert value_of('"404": x') == {"404": "x"}


def test_anchors_and_aliases_have_the_value_of_their_anchors() -> None:
    assert value_of("a: &x {b: [1]}\nc: *x\n") == {"a": {"b": [1]}, "c": {"b": [1]}}
    assert value_of("&k key: 1\nother: *k\n") == {"key": 1, "other": "key"}


def test_an_anchor_is_not_given_twice() -> None:
    (problem,) = refused("a: &x 1\nb: &x 2")
    assert problem.startswith("x.yaml:2: defines an anchor again that line 1 defines")


def test_a_mistake_in_an_anchored_value_is_reported_once() -> None:
    assert refused("a: &x {b: 1, b: 2}\nc: [*x, *x]") == ["x.yaml:1: a: duplicate key 'b'; it is already in line 1"]


def test_a_merge_key_is_a_key_like_any_other() -> None:
    assert value_of("a: &x {b: 1}\nc: {<<: *x}\n") == {"a": {"b": 1}, "c": {"<<": {"b": 1}}}


def test_aliases_cannot_grow_a_small_text_into_a_large_value() -> None:
    rows = ["a: &a [1,1,1,1,1,1,1,1,1,1]"]
    rows += [f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)]
    (problem,) = refused("\n".join(rows))
    assert problem.startswith("x.yaml:5: e[7][8][9][3]: its aliases expand to more than 100000 values")


def test_aliases_cannot_nest_deeper_than_the_text_may() -> None:
    rows = ["k0: &k0 " + "[" * 100 + "]" * 100, "k1: " + "[" * 100 + "*k0" + "]" * 100]
    (problem,) = refused("\n".join(rows))
    assert problem.startswith("x.yaml:2: k1[0]")
    assert problem.endswith("is nested deeper than 128 levels")


def test_an_alias_within_its_own_anchor_is_refused() -> None:
    for text in ("a:\n  b: &a [1, [*a]]", "&a\nb: [*a, *a]\nc: *a"):
        (problem,) = refused(text)
        assert problem.endswith("is nested deeper than 128 levels")


@pytest.mark.parametrize("text", ["tools: *_contact", "tools: [get_x, *_contact]", "tools:\n  - *_contact"])
def test_a_glob_that_begins_with_a_star_gets_a_hint_to_quote_it(text: str) -> None:
    (problem,) = refused(text)
    assert 'quote it if it is a glob: "*_contact"' in problem


@pytest.mark.parametrize("text", ["tools: *", "tools: [*/create_deal]", "- *a*b"])
def test_a_star_that_is_not_even_an_alias_gets_a_hint_to_quote_it(text: str) -> None:
    (problem,) = refused(text)
    glob = text[text.index("*") :].rstrip("]")
    assert problem.endswith(f'`{glob}` is an alias without an anchor; quote it if it is a glob: "{glob}"')


def test_tags_are_refused() -> None:
    assert refused("a: 1\nb: !!str 1") == [
        "x.yaml:2: b: the tag 'tag:yaml.org,2002:str' is not allowed; write plain JSON values"
    ]
    assert refused("a: ! 1\nb: ! [c]\nd: wow ! that") == [
        "x.yaml:1: a: the tag '!' is not allowed; write plain JSON values",
        "x.yaml:2: b: the tag '!' is not allowed; write plain JSON values",
    ]
    assert value_of("a: wow ! that\nb: '! c'") == {"a": "wow ! that", "b": "! c"}
    assert "!!python" not in refused("a: !!python/object/apply:os.system [ls]")[0]
    assert "the tag 'tag:yaml.org,2002:python" in refused("a: !!python/object/apply:os.system [ls]")[0]


@pytest.mark.parametrize(("file", "text"), [("x.yaml", "a: {}{}"), ("x.json", '{{"a": {}1{}}}')])
def test_deep_nesting_is_an_error_and_not_a_crash(file: str, text: str) -> None:
    (problem,) = refused(text.format("[" * 129, "]" * 129), file)
    assert problem.startswith(f"{file}:1: a[0][0]")
    for depth in (129, 1_000, 200_000):
        (problem,) = refused(text.format("[" * depth, "]" * depth), file)
        assert problem.startswith(f"{file}:1: ")
        assert problem.endswith("is nested deeper than 128 levels")


@pytest.mark.parametrize("start", ["- ", "{a: ", "? ", "[[],", "{? ", "!!seq [", "- ? "])
def test_no_way_of_nesting_is_a_crash(start: str) -> None:
    (problem,) = refused(start * 200_000)
    assert problem.endswith("is nested deeper than 128 levels")


def test_an_empty_list_below_the_limit_is_too_deep() -> None:
    for file in ("x.yaml", "x.json"):
        (problem,) = refused("[" * 129 + "]" * 129, file)
        assert problem.endswith("is nested deeper than 128 levels")


def test_nesting_up_to_the_limit_is_read() -> None:
    assert json.dumps(value_of("[" * 128 + "]" * 128)) == "[" * 128 + "]" * 128


def test_invalid_utf_8_is_reported_with_line_and_byte() -> None:
    assert refused(b"a: 1\nb: \xff\n") == ["x.yaml:2: is not UTF-8: byte 4 of the line is 0xff"]
    assert refused(b"\xff\xfea\x00") == ["x.yaml:1: is not UTF-8: byte 1 of the line is 0xff"]


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert yaml12.load(b"\xef\xbb\xbfa: 1", "x.yaml").value == {"a": 1}


def test_control_characters_are_reported_with_their_line() -> None:
    assert refused("a: 1\nb: \x07") == [
        "x.yaml:2: the character U+0007 is not allowed; write it as an escape in quotes"
    ]
    assert refused('a: "\u2028"') == ["x.yaml:1: the character U+2028 is not allowed; write it as an escape in quotes"]
    assert value_of('a: "\\u2028\\a"') == {"a": "\u2028\a"}


def test_a_text_that_is_too_large_is_refused() -> None:
    assert refused(b" " * (yaml12.LARGEST + 1)) == ["x.yaml: is larger than 64 MiB"]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: 1\nb: [1,\n", 3, "did not find expected node content"),
        ("a: 1\nb: c: d\n", 2, "mapping values are not allowed"),
        ("\ta: 1\n", 1, "cannot start any token"),
        ("a: 1\nb: @x\n", 2, "if it is text, quote it"),
        ("a: 'x\n", 2, "unexpected end of stream"),
        ("- a\nb: 1\n", 2, "did not find expected '-' indicator"),
        ("a: 1\n---\nb: 1\n", 2, "expected a single document"),
    ],
)
def test_a_text_that_is_no_yaml_is_reported_with_its_line(text: str, line: int, reason: str) -> None:
    (problem,) = refused(text)
    assert problem.startswith(f"x.yaml:{line}: ")
    assert reason in problem


def test_a_json_file_must_be_json() -> None:
    assert refused('{"a": 1\n "b": 2}', "x.json")[0].startswith("x.json:2: invalid JSON: ")
    assert refused("a: 1", "x.json")[0].startswith("x.json:1: invalid JSON: ")
    assert refused('{"a":\n NaN, "b": [-Infinity]}', "x.json") == [
        "x.json:2: a: NaN is not allowed in JSON",
        "x.json:2: b[0]: -Infinity is not allowed in JSON",
    ]


@pytest.mark.parametrize("value", ["NaN", "1e999", "9" * 5_000, '{"a": 1, "a": 2}', r'"\ud83d"'])
def test_a_mistake_after_a_refused_value_is_no_valid_json(value: str) -> None:
    assert refused(f'{{"a": {value},\n"b" 1}}', "x.json")[0].startswith("x.json:2: invalid JSON: ")


@pytest.mark.parametrize("file", ["x.yaml", "x.json"])
def test_half_a_character_is_refused_and_a_whole_one_in_two_escapes_is_not(file: str) -> None:
    for half in (r"\ud83d", r"\ude00", r"\ude00\ud83d"):
        (problem,) = refused(f'{{"a":\n "{half}"}}', file)
        assert problem.startswith(f"{file}:2: incomplete character escape")
    assert yaml12.load(rb'{"a": "\ud83d\ude00 \\ud83d"}', file).value == {"a": "\U0001f600 \\ud83d"}


@pytest.mark.parametrize("file", ["x.yaml", "x.json"])
@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 5_000])
def test_a_number_beyond_what_can_be_held_is_refused(file: str, number: str) -> None:
    (problem,) = refused(f'{{"a":\n {number}}}', file)
    assert problem.startswith(f"{file}:2: a: the number ")


def test_json_that_yaml_writes_otherwise_has_its_lines() -> None:
    long = "k" * 2_000
    names = [long, "\U0001f600", "\x7f\u2028\x85", "\\ud83d", "a/\t", ""]
    parts = [f"\t{json.dumps(name)}\n:\t[\r\n\t1 ,{json.dumps(name, ensure_ascii=False)}]" for name in names]
    document = yaml12.load(f"{{{','.join(parts)}}}".replace("a/", r"a\/").encode(), "x.json")
    assert document.value == {name: [1, name] for name in names}
    for index, name in enumerate(names):
        assert document.line((name,)) == 1 + 2 * index
        assert document.line((name, 1)) == 3 + 2 * index


def test_the_line_of_a_part_is_that_of_its_key_or_item() -> None:
    document = yaml12.load(b"a: 1\nb:\n  c:\n    - x\n    - {d: 1}\n", "x.yaml")
    assert document.line(("b",)) == 2
    assert document.line(("b", "c", 1, "d")) == 5
    assert document.line(("b", "missing", "deeper")) == 2
    assert document.line(()) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [1, NO, 'x', {b: }]", {"a": [1, "NO", "x", {"b": None}]}),
        ("", None),
        ("a: 1\na: 2", ["x.yaml:2: duplicate key 'a'; it is already in line 1"]),
        ("[" * 200_000, "is nested deeper than 128 levels"),
        ("a: *_b", 'quote it if it is a glob: "*_b"'),
        ("a: *", "`*` is an alias without an anchor"),
        ("---\n---\n", "expected a single document"),
        ("a: &x\nb: &x", "defines an anchor again"),
        ('[\t"\\ud83d\\ude00"]', ["\U0001f600"]),
        ('[\t1,\n\t{"a":\t1, "a": 2}]', ["x.yaml:2: [1]: duplicate key 'a'; it is already in line 2"]),
        ('[\t"\\ud83d"]', "incomplete character escape"),
    ],
)
@pytest.mark.parametrize("has_libyaml", [True, False])
def test_texts_are_read_with_and_without_libyaml(
    text: str, expected: Any, has_libyaml: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_libyaml:
        methods = {name: value for name, value in vars(nodes.Loader).items() if callable(value)}
        monkeypatch.setattr(nodes, "Loader", type("Loader", (yaml.SafeLoader,), methods))
        monkeypatch.setattr(nodes, "_Base", yaml.SafeLoader)
    try:
        result = value_of(text)
    except DocumentError as error:
        result = [str(problem) for problem in error.problems]
    assert expected in result[0] if isinstance(expected, str) else result == expected


def test_garbage_is_collected_again_after_reading() -> None:
    was_enabled = gc.isenabled()
    for enable in (gc.enable, gc.disable):
        enable()
        expected = gc.isenabled()
        value_of("a: 1")
        refused("a: *b")
        assert gc.isenabled() == expected
    if was_enabled:
        gc.enable()


@given(VALUES.filter(lambda value: isinstance(value, dict | list)))
def test_json_lines_are_those_of_the_text(value: Any) -> None:
    text = json.dumps(value, indent=1)
    document = yaml12.load(text.encode(), "x.json")
    lines = text.split("\n")
    for path, part in _leaves(value):
        line = lines[document.line(path) - 1]
        key = path[-1]
        assert line.strip().removesuffix(",").endswith(json.dumps(part))
        assert isinstance(key, int) or line.strip().startswith(json.dumps(key))


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    parts = [*as_object(value).items(), *enumerate(as_list(value))]
    if parts:
        return [leaf for key, part in parts for leaf in _leaves(part, (*path, key))]
    return [(path, value)] if path else []
