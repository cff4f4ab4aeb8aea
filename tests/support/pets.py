"""The head of a scenario, a tool spec of pets, and the types of fixtures that write and check documents."""

from __future__ import annotations

from collections.abc import Callable

HEAD = "mcp_sim: 1\ntools: crm\n"
PET_TOOLS = """\
  - name: get_pet
    inputSchema: {type: object, properties: {pet_id: {type: string}}, required: [pet_id]}
    outputSchema: {type: object, properties: {id: {type: string}, name: {type: string}}, required: [id]}
  - name: list_pets
    inputSchema: {type: object, properties: {limit: {type: integer}, q: {type: string}}}
    outputSchema:
      type: object
      properties: {pets: {type: array, items: {type: object, properties: {id: {type: string}, name: {type: string}}}}}
"""
PETS = "mcp_sim: 1\nname: pets\ntools:\n" + PET_TOOLS
Write = Callable[..., str]
ProblemsIn = Callable[..., list[str]]
