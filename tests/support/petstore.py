"""An OpenAPI document of a pet store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mcp_sim.spec import yaml12

PETSTORE: dict[str, Any] = yaml12.load(b"""
openapi: 3.0.3
info: {title: Pet Store, version: "1.2"}
paths:
  /pets:
    parameters: [{$ref: '#/components/parameters/Tag'}]
    get:
      operationId: listPets
      summary: List all pets
      parameters: [{name: limit, in: query, schema: {type: integer, minimum: 0, exclusiveMinimum: true}}]
      responses:
        '200': {content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}}},
                description: ok}
    post:
      operationId: createPet
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/NewPet'}}}}
      responses:
        '201': {description: made, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
  /pets/{petId}:
    parameters: [{name: petId, in: path, required: true, schema: {type: string}}]
    get:
      operationId: showPet
      responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}}
    delete: {operationId: removePet, responses: {'204': {description: gone}}}
    patch: {responses: 5}
    put:
      operationId: changePet
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/NewPet'}}}}
      responses: {'204': {description: changed}}
  /photos/{photo_id}:
    put:
      requestBody: {content: {image/png: {schema: {type: string}}}}
      responses: {default: {description: ok, content: {application/json: {schema: {$ref: 'other.yaml#/X'}}}}}
components:
  parameters:
    Tag: {name: tag, in: query, schema: {type: string}}
  schemas:
    NewPet:
      type: object
      required: [name]
      properties: {name: {type: string}, tag: {type: string, nullable: true}}
    Pet:
      allOf:
        - $ref: '#/components/schemas/NewPet'
        - type: object
          required: [id]
          properties: {id: {type: string, example: pet-01}, mother: {$ref: '#/components/schemas/Pet'}}
    Twisted: {$ref: '#/components/schemas/Twisted'}
""", "petstore").value  # fmt: skip


def petstore(folder: Path, document: Any = PETSTORE) -> str:
    (folder / "petstore.json").write_text(json.dumps(document), encoding="utf-8")
    return str(folder / "petstore.json")
