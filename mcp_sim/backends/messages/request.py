"""One call of an operation on messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mcp_sim.backends.messages.entities import DIRECTORY, MESSAGE, directory_entity, message_entity
from mcp_sim.backends.refusal import Refused, label
from mcp_sim.backends.request import Request
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity

_USERS = ("current_user", "current_user_id")


class MessagesRequest(Request):
    """One call on messages, by the user who is logged in."""

    def entity_of(self, name: str) -> Entity:
        """Return an entity of this world; from Python, as this backend declares it."""
        domain: Mapping[str, Entity] = self.binding.shared or {}
        if name == DIRECTORY and name not in domain:
            return directory_entity(self.view.last_key(name) or "USR001")
        return domain.get(name) or message_entity({"type": "integer"})

    def new_key(self, name: str) -> Key:
        """Return the key of a new record."""
        from mcp_sim.generate.keys import key_maker, next_key  # noqa: PLC0415 (matching does not need generators)

        entity = self.entity_of(name)
        return next_key(entity, key_maker(entity), self.view, self.draws)

    def user(self) -> Json:
        """Return the user who is logged in, None if no login is needed. Raises `Refused` if no user is."""
        session = self._session()
        if session is None:
            return None
        user = next((session[field] for field in _USERS if field in session), None)
        if user is None:
            raise Refused("unauthorized", "No user is currently logged in.")
        return user

    def _session(self) -> Record | None:
        """Return the record of the login to messages, or else of the only login."""
        named = {name: self.view.get(name, name) for name in self.view.entities() if "session" in name}
        found = {name: record for name, record in named.items() if record is not None}
        own = [record for name, record in found.items() if name.startswith(MESSAGE)]
        return next(iter(own or (found.values() if len(found) == 1 else ())), None)

    def addressed(self) -> Record:
        """Return the message that the call names. Raises `Refused` if it does not exist."""
        asked = self.get("message")
        if asked is None:
            raise Refused("invalid", f"{self.named('message')} is required", argument=self.named("message"))
        found = self.record(asked) if isinstance(asked, str | int) else None
        if found is None:
            raise Refused("not_found", f"{label(self.entity)} {asked} not found", key=asked, entity=self.entity)
        return found


def first_name(known: Iterable[str], names: Iterable[str]) -> str | None:
    """Return the first of these names that is known."""
    found = {*known}
    return next((name for name in names if name in found), None)
