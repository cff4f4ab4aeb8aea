"""State transitions, and the ways in which a value enters a field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.services import message, service, value

SHOP = """
tools:
  - {name: create_order, inputSchema: {type: object, properties: {product_id: {type: string}, quantity: {type: integer},
      tags: {type: array, items: {type: string}}}, required: [product_id, quantity]}}
  - {name: get_order, inputSchema: {type: object, properties: {order_id: {type: integer}}, required: [order_id]}}
  - {name: cancel_order, inputSchema: {type: object, properties: {order_id: {type: integer}}, required: [order_id]}}
  - {name: ship_order, inputSchema: {type: object, properties: {order_id: {type: integer}}, required: [order_id]}}
  - {name: hold_order, annotations: {idempotentHint: true},
     inputSchema: {type: object, properties: {order_id: {type: integer}}, required: [order_id]}}
  - {name: tag_order, inputSchema: {type: object, properties: {order_id: {type: integer}, tag: {type: string}},
      required: [order_id, tag]}}
  - {name: untag_order, inputSchema: {type: object, properties: {order_id: {type: integer}, tag: {type: string}},
      required: [order_id, tag]}}
  - {name: get_product, inputSchema: {type: object, properties: {product_id: {type: string}}, required: [product_id]}}
  - {name: restock_product, inputSchema: {type: object, required: [product_id, amount],
      properties: {product_id: {type: string}, amount: {type: number}}}}
  - {name: save_product, inputSchema: {type: object, properties: {product_id: {type: string}, name: {type: string}},
      required: [product_id, name]}}
  - {name: rename_product, inputSchema: {type: object, required: [product_id, new_id],
      properties: {product_id: {type: string}, new_id: {type: string}}}}
  - {name: delete_product,
     inputSchema: {type: object, properties: {product_id: {type: string}}, required: [product_id]}}
entities:
  order:
    key_like: 7
    fields:
      product_id: {link: product}
      quantity: {type: integer}
      status: {type: string, enum: [pending, held, shipped, cancelled]}
      tags: {type: array, items: {type: string}}
      version: {type: integer}
      updated_at: {type: string, format: date-time}
    required: [product_id, quantity, status, tags, version, updated_at]
  product: {key: sku, key_like: bell, fields: {sku: {type: string}, name: {type: string}, stock: {type: integer}},
            required: [name, stock]}
sim:
  create_order:
    {verb: create, entity: order, sets: {product_id: product_id, quantity: quantity, tags: tags}}
  get_order: {verb: get, entity: order, key: order_id}
  cancel_order: {verb: update, entity: order, key: order_id, sets: {}, fixed: {status: cancelled}}
  ship_order: {verb: update, entity: order, key: order_id, sets: {}, fixed: {status: shipped}}
  hold_order: {verb: update, entity: order, key: order_id, sets: {}, fixed: {status: held}}
  tag_order: {verb: update, entity: order, key: order_id, sets: {tag: tags}, how: {tags: append}}
  untag_order: {verb: update, entity: order, key: order_id, sets: {tag: tags}, how: {tags: remove}}
  get_product: {verb: get, entity: product, key: product_id}
  restock_product: {verb: update, entity: product, key: product_id, sets: {amount: stock}, how: {stock: add}}
  save_product: {verb: create, entity: product, sets: {product_id: sku, name: name}, if_exists: update}
  rename_product: {verb: update, entity: product, key: product_id, sets: {new_id: sku}}
  delete_product: {verb: delete, entity: product, key: product_id}
"""
WORLD = """
state:
  products: {bell: {sku: bell, name: Bell, stock: 5}}
  orders: []
"""


async def test_a_change_that_makes_an_integer_fractional_or_too_large_is_refused(tmp_path: Path) -> None:
    async with service(tmp_path, SHOP, WORLD) as sim, sim.open() as world:

        async def failure(tool: str, **arguments: Any) -> str:
            return message(await world.call(tool, arguments))

        assert "cannot have 5.5 of stock" in await failure("restock_product", product_id="bell", amount=0.5)
        assert "that is too much" in await failure("restock_product", product_id="bell", amount=10**400)
        assert value(await world.call("get_product", {"product_id": "bell"}))["stock"] == 5


async def test_a_transition_is_refused_if_the_state_is_reached_already_or_unreachable(tmp_path: Path) -> None:
    async with service(tmp_path, SHOP, WORLD) as sim, sim.open() as world:
        for _ in range(2):
            await world.call("create_order", {"product_id": "bell", "quantity": 1})
        value(await world.call("cancel_order", {"order_id": 7}))
        assert message(await world.call("cancel_order", {"order_id": 7})) == "Order 7 is already cancelled"
        assert message(await world.call("ship_order", {"order_id": 7})) == "Order 7 cannot be shipped: it is cancelled"


async def test_an_idempotent_tool_may_be_repeated(tmp_path: Path) -> None:
    async with service(tmp_path, SHOP, WORLD) as sim, sim.open() as world:
        await world.call("create_order", {"product_id": "bell", "quantity": 1})
        for _ in range(2):
            assert value(await world.call("hold_order", {"order_id": 7}))["status"] == "held"


async def test_a_save_tool_updates_an_existing_record_and_keeps_its_other_fields(tmp_path: Path) -> None:
    async with service(tmp_path, SHOP, WORLD) as sim, sim.open() as world:
        saved = value(await world.call("save_product", {"product_id": "bell", "name": "Loud bell"}))
        assert saved == {"sku": "bell", "name": "Loud bell", "stock": 5}
        made = value(await world.call("save_product", {"product_id": "horn", "name": "Horn"}))
        assert (made["sku"], world.view.count("product")) == ("horn", 2)


async def test_links_follow_a_renamed_record(tmp_path: Path) -> None:
    async with service(tmp_path, SHOP, WORLD) as sim, sim.open() as world:
        await world.call("create_order", {"product_id": "bell", "quantity": 2})
        assert value(await world.call("rename_product", {"product_id": "bell", "new_id": "gong"}))["stock"] == 5
        assert value(await world.call("get_order", {"order_id": 7}))["product_id"] == "gong"
        assert "bell" in message(await world.call("get_product", {"product_id": "bell"}))
        await world.call("save_product", {"product_id": "horn", "name": "Horn"})
        text = message(await world.call("rename_product", {"product_id": "gong", "new_id": "horn"}))
        assert text == "Product horn already exists"
        assert "1 order refers to it" in message(await world.call("delete_product", {"product_id": "gong"}))


async def test_a_balance_never_becomes_negative(tmp_path: Path) -> None:
    async with service(tmp_path, SHOP, WORLD) as sim, sim.open() as world:
        assert value(await world.call("restock_product", {"product_id": "bell", "amount": 4}))["stock"] == 9
        text = message(await world.call("restock_product", {"product_id": "bell", "amount": -10}))
        assert text == "Product bell has insufficient stock: 9 available, 10 requested"
