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
"""
FINE = """
from collections.abc import Mapping; from urllib.parse import quote; from urllib import parse; import urllib.parse
import html, json, re, io, csv; html.escape("x"); json.dumps(1); io.StringIO(); csv.reader([])
from datetime import datetime, timedelta; from pathlib import PurePosixPath; urllib.parse.quote("x")
from mcp_sim.programs import Refused, tool; import collections; collections.Counter; collections.abc.Mapping
row = json.loads("{}"); getattr(row, "title"); row.time; row.path; row.system; import uuid; uuid.UUID("x").hex
"""


@pytest.mark.parametrize("text", BYPASSES.strip().splitlines())
def test_a_program_reaches_no_module_and_no_file_beyond_its_own(text: str) -> None:
    assert [*static_problems(text)]


@pytest.mark.parametrize("text", FINE.strip().splitlines())
def test_what_programs_need_stays(text: str) -> None:
    assert [*static_problems(f"import json, urllib.parse\n{text}")] == []
