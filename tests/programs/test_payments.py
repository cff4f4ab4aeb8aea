"""The payments service: invoices, refunds and subscriptions end to end, its failures, and the world it begins with."""

from __future__ import annotations

from typing import Any

from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any


async def ask(world: World, tool: str, **arguments: Json) -> Json:
    return value(await world.call(tool, arguments))


async def refusal(world: World, tool: str, **arguments: Json) -> str:
    return message(await world.call(tool, arguments))


async def available(world: World) -> int:
    (amount,) = (await ask(world, "retrieve_balance"))["available"]
    return amount["amount"]


async def test_an_invoice_is_drafted_filled_and_finalized_once() -> None:
    async with Simulator.load("payments").open() as world:
        customer = (await ask(world, "create_customer", name="Ada Vos"))["id"]
        product = (await ask(world, "create_product", name="Lamp"))["id"]
        price = (await ask(world, "create_price", product=product, unit_amount=2450, currency="EUR"))["id"]
        invoice = (await ask(world, "create_invoice", customer=customer, days_until_due=14))["id"]
        item = {"customer": customer, "price": price, "invoice": invoice}
        assert [(await ask(world, "create_invoice_item", **item))["invoice"] for _ in range(2)] == [invoice] * 2
        assert (await ask(world, "finalize_invoice", invoice=invoice))["status"] == "open"
        (shown,) = await ask(world, "list_invoices", customer=customer)
        assert shown["amount_due"] == sum(line["amount"] for line in shown["lines"]["data"]) == 4900
        assert shown["due_date"] - shown["created"] == 14 * 86_400
        assert "no longer editable" in await refusal(world, "create_invoice_item", **item)
        assert "already finalized" in await refusal(world, "finalize_invoice", invoice=invoice)


async def test_refunds_reduce_what_is_refundable_and_the_balance() -> None:
    async with Simulator(compiled("calm_payments")).open() as world:
        payment, before = "pi_3Q8aWkLkdIwHu7ix0b5nTz2e", await available(world)
        assert (await ask(world, "create_refund", payment_intent=payment, amount=3000))["amount"] == 3000
        assert await refusal(world, "create_refund", payment_intent=payment, amount=1901) == (
            "Failed to create refund: Refund amount (19.01 EUR) is greater than unrefunded amount (19.00 EUR)"
        )
        assert (await ask(world, "create_refund", payment_intent=payment))["amount"] == 1900
        assert "already been refunded" in await refusal(world, "create_refund", payment_intent=payment)
        assert (await ask(world, "fetch_stripe_resources", id=payment))["amount_refunded"] == 4900
        assert await available(world) == before - 4900


async def test_a_subscription_changes_its_items_until_it_is_canceled() -> None:
    async with Simulator.load("payments").open() as world:
        subscription = (await ask(world, "list_subscriptions", status="active", limit=1))[0]
        (item,) = subscription["items"]["data"]
        price = next(one["id"] for one in await ask(world, "list_prices") if one["id"] != item["price"])
        switch = [{"id": item["id"], "deleted": True}, {"price": price, "quantity": 3}]
        changed = await ask(world, "update_subscription", subscription=subscription["id"], items=switch)
        assert [(one["price"], one["quantity"]) for one in changed["items"]["data"]] == [(price, 3)]
        empty = [{"id": changed["items"]["data"][0]["id"], "deleted": True}]
        assert "at least one item" in await refusal(
            world, "update_subscription", subscription=subscription["id"], items=empty
        )
        assert (await ask(world, "cancel_subscription", subscription=subscription["id"]))["status"] == "canceled"
        for tool in ("cancel_subscription", "update_subscription"):
            assert "is canceled" in await refusal(world, tool, subscription=subscription["id"])
        canceled = await ask(world, "list_subscriptions", customer=subscription["customer"], status="canceled")
        assert [one["id"] for one in canceled] == [subscription["id"]]


async def test_evidence_is_staged_then_submitted_once() -> None:
    async with Simulator.load("payments").open() as world:
        dispute = (await ask(world, "list_disputes"))[0]["id"]
        await ask(world, "update_dispute", dispute=dispute, evidence={"uncategorized_text": "Delivered on Monday."})
        sent = {"dispute": dispute, "evidence": {"cancellation_rebuttal": "Never canceled."}, "submit": True}
        assert (await ask(world, "update_dispute", **sent))["status"] == "under_review"
        assert len((await ask(world, "fetch_stripe_resources", id=dispute))["evidence"]) == 2
        assert "under_review" in await refusal(world, "update_dispute", **sent)


async def test_resources_are_found_by_their_fields() -> None:
    async with Simulator(compiled("calm_payments")).open() as world:
        email = 'customers:email:"nadia.wolf@studio.example"'
        assert await ask(world, "search_stripe_resources", query=email) == [
            {"id": "cus_Q7nAd1aW0lf29x", "object": "customer"}
        ]
        dear = await ask(world, "search_stripe_resources", query='prices:unit_amount>900 AND -currency:"usd"')
        assert {(await ask(world, "fetch_stripe_resources", id=one["id"]))["unit_amount"] for one in dear} == {
            4900,
            14900,
            95000,
        }
        assert "Unknown resource 'people'" in await refusal(world, "search_stripe_resources", query="people:x")
        assert await refusal(world, "create_price", product="prod_x", unit_amount=1, currency="eur") == (
            "Failed to create price: No such product: 'prod_x'"
        )


async def test_the_world_adds_up_and_is_the_same_for_the_same_seed() -> None:
    simulator, found = Simulator.load("payments"), dict[str, list[Json]]()
    now = simulator.scenario.now.timestamp()
    async with simulator:
        for name, seed in (("one", 3), ("again", 3), ("other", 4)):
            async with simulator.open(name, seed=seed) as world:
                found[name] = [record for _, record in world.view.rows("payment_intent")]
                taken = [row["amount"] for table in ("refund", "dispute") for _, row in world.view.rows(table)]
                balance = await ask(world, "retrieve_balance")
                total = sum(part["amount"] for kind in ("available", "pending") for part in balance[kind])
                assert len(taken) == 4
                assert total == sum(record["amount"] for record in found[name]) - sum(taken)
                assert all(record["created"] <= now for record in found[name])
    assert found["one"] == found["again"] != found["other"]


async def test_after_a_lost_answer_a_repeated_refund_pays_twice() -> None:
    async with Simulator(compiled("flaky_payments")).open() as world:
        refund = {"payment_intent": "pi_3Q8aWkLkdIwHu7ix0b5nTz2e", "amount": 1900, "reason": "requested_by_customer"}
        assert not (await world.call("create_refund", refund)).ok
        assert (await ask(world, "fetch_stripe_resources", id=refund["payment_intent"]))["amount_refunded"] == 1900
        assert (await world.call("create_refund", refund)).ok
        found = {verdict.id: verdict.outcome for verdict in world.grade(None).verdicts}
        assert found["one-refund"] == found["recovered-refund"] == "failed"
