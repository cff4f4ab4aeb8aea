"""What the text of a program may not do, before it runs anywhere."""

from __future__ import annotations

import pytest

from mcp_sim.recordings.compiling.static_checks import static_problems

BYPASSES = """
from uuid import os; os.system("x")
from uuid import os as ids; ids.system("x")
from uuid import *
from csv import re
from csv import io; io.open("x")
import csv; csv.io.open("x")
import uuid; uuid.os.system("x")
import uuid as u; u.os.system("x")
import uuid; m = uuid; m.os.system("x")
import uuid; [uuid][0].os.system("x")
import uuid; getattr(uuid, "os").system("x")
import uuid; getattr(uuid, "o" + "s").system("x")
import uuid; (lambda m: m.os)(uuid)
import operator, uuid; operator.attrgetter("os.system")(uuid)("x")
import urllib.request
import urllib
import urllib.parse; urllib.request.urlopen("x")
from urllib import request
from urllib.request import urlopen
import json; json.codecs.open("x")
from json import codecs
import typing; typing.sys.modules
import contextlib; contextlib.os
import enum; enum.sys.modules
import enum; enum.bltns.open("x")
import dataclasses; dataclasses.builtins.open("x")
import collections; collections._sys.modules
import io; io.open("x")
import io; io.FileIO("x")
from io import open
from io import FileIO as F
import io; f = io.open_code
import os.path
import html; html.parser.re
import importlib
from mcp_sim.programs import given
import mcp_sim.programs.trust
import random; random._os
from . import other
import statistics; statistics.random
from io import *; FileIO("x")
import io; stream = io; stream.FileIO("x")
import io; io.OpenWrapper("x")
import uuid; f = getattr; f(uuid, "o" + "s")
import functools, uuid; functools.reduce(getattr, ["os"], uuid)
from operator import attrgetter as a; a("o" + "s")
import operator; f = operator.attrgetter; f("o" + "s")
import string; string.Formatter().get_field("0.__class__", (1,), {})
import uuid; match = [case for case in [uuid]]
(x for x in ()).gi_frame.f_builtins["open"]("x")
type(1).mro()
import typing; typing.get_type_hints({"a": "__import__('os')"})
from typing import ForwardRef
import dataclasses; dataclasses._create_fn("f", [], ["return open"])
import dataclasses; dataclasses.make_dataclass("X", [])
from types import FunctionType
import shlex; shlex.shlex().sourcehook("/etc/passwd")
import zoneinfo; zoneinfo.reset_tzpath(["/tmp"])
from uuid import getnode
import calendar; calendar.main(["x"])
import contextlib; contextlib.chdir("/")
import posixpath; posixpath.exists("/etc/passwd")
lambda open=1: 1; open("x")
x = [open for open in [1]]; open("x")
f = lambda: __builtins__
x = __loader__
help("os")
world._turn
"{0.__globals__}".format(tool)
f = "{x[0]._turn}".format_map
getattr(world, "_tu" + "rn", "x")
getattr(*[world, "_turn"])
from operator import attrgetter; attrgetter("title", "o" + "s")
import functools; functools.update_wrapper(1, tool, ["__globals__"])
from functools import wraps; wraps(tool, assigned=["__globals__"])
from functools import singledispatch
(x for x in ()).x.f_back
"""
NESTED = [
    "match 1:\n    case object(__class__=c): c",
    "class A:\n    exec = 1\nexec('x')",
    "class A:\n    __annotations__ = {'a=b': 1}",
]
FINE = """
from collections.abc import Mapping; from urllib.parse import quote; from urllib import parse; import urllib.parse
import html, json, re, io, csv; html.escape("x"); json.dumps(1); io.StringIO(); csv.reader([])
from datetime import datetime, timedelta; from pathlib import PurePosixPath; urllib.parse.quote("x")
from mcp_sim.programs import Refused, tool; import collections; collections.Counter; collections.abc.Mapping
row = json.loads("{}"); getattr(row, "title"); row.time; row.path; row.system; import uuid; uuid.UUID("x").hex
f = lambda open, vars: open(vars); row._replace(a=1); self._title; "{0.title}, {x[_]}".format(row); limit: int = 3
getattr(row, "title", row.f_score); from functools import wraps; wraps(f)(f)
from operator import attrgetter; attrgetter("a.b", "c")
"""


@pytest.mark.parametrize("text", [*BYPASSES.strip().splitlines(), *NESTED])
def test_a_program_reaches_no_module_and_no_file_beyond_its_own(text: str) -> None:
    assert [*static_problems(text)]


@pytest.mark.parametrize("text", FINE.strip().splitlines())
def test_what_programs_need_stays(text: str) -> None:
    assert [*static_problems(f"import json, urllib.parse\n{text}")] == []
