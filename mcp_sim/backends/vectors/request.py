"""Requests of operations on collections of texts."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.request import Request
from mcp_sim.backends.vectors.entities import COLLECTION, DOCUMENT, KEY, key_of
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list


class VectorsRequest(Request):
    """One call: its collection, the texts in it, and their ids."""

    @property
    def name(self) -> str:
        """The name of the collection."""
        return self.text("collection")

    @property
    def ids(self) -> list[str]:
        """The ids of the texts."""
        return self.texts("ids")

    def parallel(self, role: str) -> list[Json]:
        """Return the values beside the ids; None for each if not given. Raises `Refused` if the lengths differ."""
        listed = as_list(self.get(role))
        if listed and len(listed) != len(self.ids):
            raise Refused("invalid", f"There are {len(self.ids)} ids and {len(listed)} {role}: give as many of each")
        return listed or [None] * len(self.ids)

    def collection(self) -> Record:
        """Return the record of the collection. Raises `Refused` if there is none."""
        found = self.record(self.name, COLLECTION)
        if found is None:
            message = f"Collection {self.name} does not exist"
            raise Refused("not_found", message, key=self.name, entity=COLLECTION)
        return found

    def refuse_existing(self, name: str) -> None:
        """Raise `Refused` if there is a collection of this name."""
        if self.record(name, COLLECTION) is not None:
            raise Refused("conflict", f"Collection {name} already exists", key=name, entity=COLLECTION)

    def documents(self) -> list[Record]:
        """Return the texts of the collection."""
        return [record for _, record in self.view.find(self.entity_named(DOCUMENT), COLLECTION, self.name)]

    def known(self) -> dict[str, Record]:
        """Return the given ids that exist, with their texts."""
        found = {id_: self.record(key_of(self.name, id_), DOCUMENT) for id_ in self.ids}
        return {id_: one for id_, one in found.items() if one is not None}

    def put_document(self, collection: str, id_: str, record: Record) -> None:
        """Write a text."""
        key = key_of(collection, id_)
        self.put(key, {**record, KEY: key, COLLECTION: collection, "id": id_}, DOCUMENT)

    def page(self, records: Sequence[Record]) -> Sequence[Record]:
        """Return the records from the given offset, up to the given limit."""
        limit, start = self.number("limit"), max(0, self.number("offset") or 0)
        return records[start : None if limit is None else start + max(0, limit)]
