"""Which field of an entity does an argument mean, by its name?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcp_sim.types import Record

_SYNONYMS = (
    ("title", "name", "subject", "summary"), ("body", "content", "text", "message", "comment"),
    ("description", "notes", "note", "details"), ("due_date", "due", "due_at", "deadline"),
    ("start", "start_time", "start_date", "starts_at", "start_at"),
    ("end", "end_time", "end_date", "ends_at", "end_at"),
    ("assignee", "assigned_to", "owner", "assignee_id", "owner_id"), ("status", "state"), ("tags", "labels"),
    ("email", "email_address"),
    ("balance", "initial_deposit", "initial_balance", "opening_balance", "starting_balance", "opening_deposit"),
    ("path", "filename", "file_name", "file_path", "filepath"), ("phone", "phone_number"), ("category", "type", "kind"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Known:
    """The entity as far as it is known when arguments are read: its name, its key field, its fields by snake name."""

    entity: str
    key: str
    fields: Mapping[str, str]
    schemas: Mapping[str, Record]
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    """Linked entity -> the field that links to it."""
    nested: Mapping[str, str] = field(default_factory=dict[str, str])
    """Snake name -> path, for what stands inside the objects of a record (`city`: `address.city`)."""

    def field_of(self, argument: str) -> str | None:
        """The field that an argument's snake name means, or None."""
        return self.named(argument) or self.synonym(argument)

    def named(self, argument: str) -> str | None:
        """The field that has the argument's name, or nearly so."""
        tries = (argument, argument.removeprefix("new_"), argument.removeprefix("updated_"))
        own = f"{self.entity}_"
        for name in dict.fromkeys((*tries, argument.removeprefix(own), f"is_{argument}", f"{argument}_id")):
            if name in self.fields:
                return self.fields[name]
        stem = argument.removesuffix("_id")
        return self.links.get(stem) or self._abbreviated(argument)

    def _abbreviated(self, argument: str) -> str | None:
        """`dob` is the `date_of_birth`."""
        found = [
            name for short, name in self.fields.items() if "".join(part[:1] for part in short.split("_")) == argument
        ]
        return found[0] if len(argument) > 2 and len(found) == 1 else None

    def ended(self, argument: str) -> str | None:
        """The only field whose name ends so: `target_temperature` where a `temperature` is set."""
        found = [field for name, field in self.fields.items() if name.endswith(f"_{argument}")]
        return found[0] if len(found) == 1 and len(argument) > 3 else None

    def synonym(self, argument: str) -> str | None:
        """The field whose name means the same as the argument's."""
        argument = argument.removeprefix(f"{self.entity}_")
        group = next((names for names in _SYNONYMS if argument in names), ())
        found = [self.fields[name] for name in group if name in self.fields]
        return found[0] if len(found) == 1 else None
