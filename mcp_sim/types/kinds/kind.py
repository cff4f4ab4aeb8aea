"""The base class of kinds that documents write."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from math import ceil
from typing import Any, ClassVar, Self, cast

from pydantic import BaseModel, ConfigDict, model_validator


class Kind(BaseModel):
    """A kind as a document writes it: `kind: {options}`.

    `kind:` has no options; a scalar or a list is the value of the first field. Unknown options are refused. Every field
    needs a `description`, which `mcp-sim list` and editors show. Validators raise `ValueError`, which becomes a problem
    of the document at its line.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    takes_mapping: ClassVar[bool] = False
    """Whether the first field is itself a mapping, so that `kind: {a: 1}` is its value and not the options."""

    @model_validator(mode="before")
    @classmethod
    def _from_shorthand(cls, value: Any) -> Any:
        if value is None:
            return {}
        if not isinstance(value, Mapping) or cls.takes_mapping:
            return {next(iter(cls.model_fields), "value"): cast("Any", value)}
        return cast("Mapping[str, Any]", value)

    severities: ClassVar[tuple[str, ...]] = ()
    """The options that a scenario's intensity scales: numbers or durations, where less is milder."""

    def scaled(self, intensity: float) -> Self:
        """Return the kind with its severities scaled by `intensity`, 0 to 1; itself if it lacks one."""
        options = {name: getattr(self, name) for name in self.severities}
        milder = {name: _milder(value, intensity) for name, value in options.items() if value is not None}
        return self.model_construct(self.model_fields_set, **{**dict(self), **milder}) if milder else self


def _milder(value: float | timedelta, intensity: float) -> float | timedelta:
    """Return a share of an amount; a share of an integer is rounded up."""
    return ceil(value * intensity) if isinstance(value, int) else value * intensity
