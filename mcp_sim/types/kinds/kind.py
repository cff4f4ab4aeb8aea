"""What is a kind as a document writes it?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from math import ceil
from typing import Any, ClassVar, Self, cast

from pydantic import BaseModel, ConfigDict, model_validator


class Kind(BaseModel):
    """A kind as a document writes it: `kind: {options}`; `kind:` has none, a scalar or list is the first field."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    takes_mapping: ClassVar[bool] = False
    """True where the first field is itself a mapping, so that `kind: {a: 1}` is that field and not the options."""

    @model_validator(mode="before")
    @classmethod
    def _from_shorthand(cls, value: Any) -> Any:
        if value is None:
            return {}
        if not isinstance(value, Mapping) or cls.takes_mapping:
            return {next(iter(cls.model_fields), "value"): cast("Any", value)}
        return cast("Mapping[str, Any]", value)

    severities: ClassVar[tuple[str, ...]] = ()
    """The options that say how bad it is: the less, the milder. They are scaled by a scenario's intensity."""

    def scaled(self, intensity: float) -> Self:
        """The same kind, milder: `intensity` is from 0 to 1."""
        found = {name: getattr(self, name) for name in self.severities}
        milder = {name: _milder(value, intensity) for name, value in found.items() if value is not None}
        return self.model_construct(self.model_fields_set, **{**dict(self), **milder}) if milder else self


def _milder(value: float | timedelta, intensity: float) -> float | timedelta:
    """A share of an amount; of whole things so many that it is at least the share."""
    return ceil(value * intensity) if isinstance(value, int) else value * intensity
