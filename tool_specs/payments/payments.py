"""A simulated payments service: customers, products, invoices, subscriptions, refunds, disputes.

Amounts are in minor units, times in seconds since 1970. The balance is computed from payments, refunds and disputes, so
it always adds up.
"""

import parts

from mcp_sim.programs import Refused, initial, tool
from mcp_sim.programs.helpers import money

SETTLED_AFTER = 2 * parts.DAY
"""How long payments are pending, in seconds."""

tables = {
    "customer": {
        "ids": "cus_N4frFe7fNV2Hib",
        "fields": {"object": "customer", "created": 0, "name": "", "email": None, "currency": "eur"},
    },
    "product": {
        "ids": "prod_N4js8kKb3Wmuuc",
        "fields": {"object": "product", "created": 0, "name": "", "description": None, "active": True},
    },
    "price": {
        "ids": "price_1MoBy5LkdIwHu7ix",
        "links": {"product": "product"},
        "fields": {"object": "price", "created": 0, "product": None, "unit_amount": 0, "currency": "eur",
                   "type": "one_time", "recurring": None, "active": True},
    },
    "payment_link": {
        "ids": "plink_1MoC3ULkdIwHu7iw",
        "links": {"price": "price"},
        "fields": {"object": "payment_link", "created": 0, "url": "",
                   "price": None, "quantity": 1, "redirect_url": None},
    },
    "invoice": {
        "ids": "in_1MtHbELkdIwHu7ix",
        "links": {"customer": "customer"},
        "fields": {"object": "invoice", "created": 0, "customer": None, "status": "draft", "number": None, "total": 0,
                   "amount_due": 0, "amount_paid": 0, "currency": "eur", "due_date": None, "hosted_invoice_url": None},
    },
    "invoice_item": {
        "ids": "ii_1MtGUtLkdIwHu7ix",
        "links": {"customer": "customer", "invoice": "invoice", "price": "price"},
        "fields": {"object": "invoiceitem", "created": 0, "customer": None, "invoice": None, "price": None,
                   "description": "", "amount": 0, "currency": "eur", "proration": False},
    },
    "payment_intent": {
        "ids": "pi_3MtwBwLkdIwHu7ix28a3tqPa",
        "links": {"customer": "customer", "invoice": "invoice"},
        "fields": {"object": "payment_intent", "created": 0, "customer": None, "amount": 0, "amount_received": 0,
                   "currency": "eur", "status": "succeeded", "description": None,
                   "invoice": None, "latest_charge": None},
    },
    "refund": {
        "ids": "re_1Nispe2eZvKYlo2Cd31jOCgZ",
        "links": {"payment_intent": "payment_intent"},
        "fields": {"object": "refund", "created": 0, "payment_intent": None, "amount": 0, "currency": "eur",
                   "reason": None, "status": "succeeded"},
    },
    "subscription": {
        "ids": "sub_1MowQVLkdIwHu7ix",
        "links": {"customer": "customer"},
        "fields": {"object": "subscription", "created": 0, "customer": None, "status": "active", "currency": "eur",
                   "current_period_start": 0, "current_period_end": 0, "canceled_at": None},
    },
    "subscription_item": {
        "ids": "si_N4LYd2xLH8lFo7",
        "links": {"subscription": "subscription", "price": "price"},
        "fields": {"object": "subscription_item", "created": 0, "subscription": None, "price": None, "quantity": 1},
    },
    "coupon": {
        "ids": "jMT0WJ4D",
        "fields": {"object": "coupon", "created": 0, "name": "", "percent_off": None, "amount_off": None,
                   "currency": None, "duration": "once", "duration_in_months": None, "valid": True},
    },
    "dispute": {
        "ids": "du_1MtJUT2eZvKYlo2CNaw2HvEv",
        "links": {"payment_intent": "payment_intent"},
        "fields": {"object": "dispute", "created": 0, "payment_intent": None, "charge": None, "amount": 0,
                   "currency": "eur", "reason": "general", "status": "needs_response", "evidence": {}},
    },
}  # fmt: skip


@tool
def create_customer(world, name, email=None):
    return world.customer.add(name=name, email=email, created=parts.now(world))


@tool
def list_customers(world, limit=10, email=None):
    return parts.listed(world.customer, limit, email=email)


@tool
def create_product(world, name, description=None):
    return world.product.add(name=name, description=description, created=parts.now(world))


@tool
def list_products(world, limit=10):
    return parts.listed(world.product, limit)


@tool
def create_price(world, product, unit_amount, currency):
    parts.known(world, "product", product, "create price")
    if unit_amount < 0:
        raise Refused("Failed to create price: Invalid non-negative integer")
    values = {"unit_amount": unit_amount, "currency": currency.lower(), "created": parts.now(world)}
    return world.price.add(values, product=product)


@tool
def list_prices(world, product=None, limit=10):
    return parts.listed(world.price, limit, product=product)


@tool
def create_payment_link(world, price, quantity, redirect_url=None):
    if not parts.known(world, "price", price, "create payment link")["active"]:
        raise Refused(f"Failed to create payment link: The price {price} is not active")
    link = world.payment_link.add(price=price, quantity=quantity, redirect_url=redirect_url, created=parts.now(world))
    link["url"] = f"https://buy.payments.example/{link['id'].removeprefix('plink_')}"
    return {"id": link["id"], "url": link["url"]}


@tool
def create_coupon(world, name, currency, percent_off=None, amount_off=None, duration="once", duration_in_months=None):
    if (percent_off is None) == (not amount_off):
        raise Refused("Failed to create coupon: Pass exactly one of percent_off and amount_off")
    if (duration == "repeating") != (duration_in_months is not None):
        raise Refused("Failed to create coupon: duration_in_months belongs to the duration 'repeating'")
    coupon = world.coupon.add(
        name=name, percent_off=percent_off, amount_off=amount_off, currency=currency.lower() if amount_off else None,
        duration=duration, duration_in_months=duration_in_months, created=parts.now(world),
    )  # fmt: skip
    return {"id": coupon["id"]}


@tool
def list_coupons(world, limit=10):
    return parts.listed(world.coupon, limit)


@tool
def create_invoice(world, customer, days_until_due=30):
    currency = parts.known(world, "customer", customer, "create invoice")["currency"]
    due = parts.now(world) + days_until_due * parts.DAY
    invoice = world.invoice.add(customer=customer, currency=currency, due_date=due, created=parts.now(world))
    return {"id": invoice["id"], "url": None, "customer": customer, "status": "draft"}


@tool(verb="create", entity="invoice_item")
def create_invoice_item(world, customer, price, invoice):
    doing = "create invoice item"
    parts.known(world, "customer", customer, doing)
    cost, bill = parts.known(world, "price", price, doing), parts.known(world, "invoice", invoice, doing)
    if bill["customer"] != customer:
        raise Refused(f"Failed to {doing}: The invoice {invoice} belongs to another customer")
    if bill["status"] != "draft":
        raise Refused(f"Failed to {doing}: The invoice {invoice} is no longer editable: its status is {bill['status']}")
    if bill["currency"] != cost["currency"]:
        raise Refused(f"Failed to {doing}: The price is in {cost['currency']}, the invoice in {bill['currency']}")
    name = world.product.get(cost["product"])["name"]
    item = parts.charged(world, customer, cost["unit_amount"], name, invoice=bill, price=price)
    return {"id": item["id"], "invoice": invoice}


@tool(verb="update", entity="invoice", key="invoice")
def finalize_invoice(world, invoice):
    bill = parts.known(world, "invoice", invoice, "finalize invoice")
    if bill["status"] != "draft":
        raise Refused(f"Failed to finalize invoice: The invoice {invoice} is already finalized")
    parts.finalized(world, bill)
    return {"id": invoice, "url": bill["hosted_invoice_url"], "customer": bill["customer"], "status": bill["status"]}


@tool
def list_invoices(world, customer=None, limit=10):
    return [parts.shown(world, row) for row in parts.listed(world.invoice, limit, customer=customer)]


@tool(reads=True)
def retrieve_balance(world):
    totals = {"available": {}, "pending": {}}
    for payment in world.payment_intent:
        settled = payment["created"] <= parts.now(world) - SETTLED_AFTER
        book(totals["available" if settled else "pending"], payment["currency"], payment["amount_received"])
    held = [dispute for dispute in world.dispute if dispute["status"] != "won"]
    for row in (*world.refund, *held):
        book(totals["available"], row["currency"], -row["amount"])
    amounts = {
        name: [{"amount": amount, "currency": currency} for currency, amount in total.items()]
        for name, total in totals.items()
    }
    return {"object": "balance", **amounts, "livemode": False}


def book(totals, currency, amount):
    totals[currency] = totals.get(currency, 0) + amount


@tool
def list_payment_intents(world, customer=None, limit=10):
    return [parts.shown(world, row) for row in parts.listed(world.payment_intent, limit, customer=customer)]


@tool(verb="create", entity="refund")
def create_refund(world, payment_intent, amount=None, reason=None):
    doing = "create refund"
    payment = parts.known(world, "payment_intent", payment_intent, doing, "payment_intent")
    if payment["status"] != "succeeded":
        raise Refused(f"Failed to {doing}: This PaymentIntent ({payment_intent}) has no successful charge to refund")
    left = payment["amount_received"] - parts.refunded(world, payment_intent)
    if not left:
        raise Refused(f"Failed to {doing}: Charge {payment['latest_charge']} has already been refunded")
    asked = left if amount is None else amount
    if asked <= 0:
        raise Refused(f"Failed to {doing}: Invalid positive integer")
    if asked > left:
        of = money(asked, payment["currency"]), money(left, payment["currency"])
        raise Refused(f"Failed to {doing}: Refund amount ({of[0]}) is greater than unrefunded amount ({of[1]})")
    values = {"currency": payment["currency"], "reason": reason, "created": parts.now(world)}
    refund = world.refund.add(values, payment_intent=payment_intent, amount=asked)
    return {"id": refund["id"], "status": refund["status"], "amount": asked}


@tool
def list_disputes(world, charge=None, payment_intent=None, limit=10):
    return parts.listed(world.dispute, limit, charge=charge, payment_intent=payment_intent)


@tool
def update_dispute(world, dispute, evidence=None, submit=False):
    row = parts.known(world, "dispute", dispute, "update dispute")
    if row["status"] != "needs_response":
        raise Refused(
            f"Failed to update dispute: The dispute {dispute} takes no evidence: its status is {row['status']}"
        )
    row["evidence"].update(evidence or {})
    if submit:
        row["status"] = "under_review"
    return {"id": dispute, "status": row["status"]}


@tool
def list_subscriptions(world, customer=None, price=None, status=None, limit=10):
    rows = world.subscription.find() if customer is None else world.subscription.find(customer=customer)
    rows = [row for row in rows if status == "all" or row["status"] == (status or row["status"])]
    if status is None:
        rows = [row for row in rows if row["status"] != "canceled"]
    if price is not None:
        having = {item["subscription"] for item in world.subscription_item.find(price=price)}
        rows = [row for row in rows if row["id"] in having]
    return [parts.shown(world, row) for row in parts.newest(world.subscription, rows, limit)]


@tool(verb="update", entity="subscription", key="subscription")
def cancel_subscription(world, subscription):
    row = parts.running(world, subscription, "cancel subscription")
    row["status"], row["canceled_at"] = "canceled", parts.now(world)
    return parts.shown(world, row)


@tool(verb="update", entity="subscription", key="subscription")
def update_subscription(world, subscription, proration_behavior="create_prorations", items=()):
    row = parts.running(world, subscription, "update subscription")
    for item in items:
        parts.change_item(world, subscription, item)
    left = world.subscription_item.find(subscription=subscription)
    if not left:
        raise Refused("Failed to update subscription: A subscription must have at least one item")
    if proration_behavior == "always_invoice":
        bill = world.invoice.add(customer=row["customer"], currency=row["currency"], created=parts.now(world))
        for item in left:
            amount = world.price.get(item["price"])["unit_amount"] * item["quantity"]
            parts.charged(world, row["customer"], amount, "Changed subscription", invoice=bill, price=item["price"])
        parts.finalized(world, bill)
    return parts.shown(world, row)


@tool(verb="search", entity="customer")
def search_stripe_resources(world, query):
    """Answer queries such as `customers:email:"ada@example.com"`; clauses are joined by AND."""
    return [{"id": row["id"], "object": row["object"]} for row in parts.found(world, query)]


@tool(verb="get", entity="customer", key="id")
def fetch_stripe_resources(world, id):
    for table in tables:
        row = world[table].get(id)
        if row is not None:
            return parts.shown(world, row)
    raise Refused(f"Failed to fetch: No such object: '{id}'")


@initial
def begin(given, world):
    """Fill the world; `world.state` of a scenario may say with how many customers."""
    parts.fill(world, (given or {}).get("customers", 24))
