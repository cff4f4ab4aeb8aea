"""What the tools of the payments service share, and the world that it begins with."""

import re

from mcp_sim.programs import Refused

DAY = 86_400
SEARCHABLE = ("customer", "invoice", "payment_intent", "price", "product", "subscription")
CLAUSE = re.compile(r"""(-?)(?<![\w.])([\w.]++)\s*+(:|~|<=|>=|<|>)\s*(?:"([^"]*)"|'([^']*)'|(\S+))""")
"""A clause of a search: `-status:"open"`, `amount>1000`."""

FIRST = ("Ada", "Bram", "Chiara", "Daan", "Elif", "Femke", "Goran", "Hanna", "Ines", "Jonas", "Kofi", "Lena", "Milan")
LAST = ("Vos", "Rossi", "Yilmaz", "Novak", "Dekker", "Haas", "Costa", "Lind", "Mensah", "Moreau", "Sato", "Weber")
PLANS = {"Solo": 900, "Team": 4900, "Business": 14900}


def now(world):
    return int(world.now.timestamp())


def known(world, table, key, doing, name=None):
    """Return a row. Refuses ids that do not exist, as the service words it."""
    row = world[table].get(key)
    if row is None:
        raise Refused(f"Failed to {doing}: No such {name or table.replace('_', ' ')}: '{key}'")
    return row


def newest(table, rows, limit):
    return table.page(rows[::-1], limit=limit, sort="created", descending=True).rows


def listed(table, limit, **equals):
    """Return the newest rows whose fields have these values; None matches all."""
    return newest(table, table.find(**{name: value for name, value in equals.items() if value is not None}), limit)


def shown(world, row):
    """Return a record with what the service nests in it."""
    if row["object"] == "subscription":
        return {**row, "items": {"object": "list", "data": world.subscription_item.find(subscription=row["id"])}}
    if row["object"] == "invoice":
        return {**row, "lines": {"object": "list", "data": world.invoice_item.find(invoice=row["id"])}}
    if row["object"] == "payment_intent":
        return {**row, "amount_refunded": refunded(world, row["id"])}
    return row


def refunded(world, payment):
    return sum(refund["amount"] for refund in world.refund.find(payment_intent=payment))


def charged(world, customer, amount, description, *, invoice=None, **fields):
    """Add an item to an invoice, or to the next one of the customer."""
    if invoice is not None:
        invoice["total"] += amount
        invoice["amount_due"] = max(invoice["total"] - invoice["amount_paid"], 0)
        fields.update(invoice=invoice["id"], currency=invoice["currency"])
    return world.invoice_item.add(
        {"customer": customer, "amount": amount, "description": description, "created": now(world), **fields}
    )


def finalized(world, bill):
    bill["number"] = f"INV-{sum(invoice['number'] is not None for invoice in world.invoice) + 1:04d}"
    bill["hosted_invoice_url"] = f"https://invoice.payments.example/i/{bill['id'].removeprefix('in_')}"
    bill["status"] = "open" if bill["amount_due"] else "paid"


def running(world, subscription, doing):
    row = known(world, "subscription", subscription, doing)
    if row["status"] == "canceled":
        raise Refused(f"Failed to {doing}: The subscription {subscription} is canceled and stays so")
    return row


def change_item(world, subscription, item):
    doing = "update subscription"
    if item.get("price") is not None and known(world, "price", item["price"], doing)["type"] != "recurring":
        raise Refused(f"Failed to {doing}: The price {item['price']} is not recurring")
    if item.get("id") is None:
        if item.get("price") is None:
            raise Refused(f"Failed to {doing}: A new item needs a price")
        values = {"price": item["price"], "quantity": item.get("quantity", 1), "created": now(world)}
        world.subscription_item.add(values, subscription=subscription)
        return
    row = known(world, "subscription_item", item["id"], doing)
    if row["subscription"] != subscription:
        raise Refused(f"Failed to {doing}: The item {item['id']} belongs to another subscription")
    if item.get("deleted"):
        world.subscription_item.delete(row)
    else:
        row.update({name: item[name] for name in ("price", "quantity") if item.get(name) is not None})


def found(world, query):
    """Return the rows that a query such as `customers:email:"ada@mail.example"` finds."""
    name, _, rest = query.partition(":")
    table = name.strip().removesuffix("s")
    if table not in SEARCHABLE:
        raise Refused(
            f"Failed to search: Unknown resource '{name}'; one of: {', '.join(f'{kind}s' for kind in SEARCHABLE)}"
        )
    clauses = CLAUSE.findall(rest)
    if rest.strip() and not clauses:
        raise Refused(f"Failed to search: We could not parse the query: {rest.strip()}")
    rows = [row for row in world[table] if all(fits(row, clause) for clause in clauses)]
    return rows[:100]


def fits(row, clause):
    negated, field, sign, *texts = clause
    asked, value = next((text for text in texts if text), "").lower(), row.get(field)
    if sign in {":", "~"}:
        text = str(value).lower()
        return (text == asked if sign == ":" else asked in text) != bool(negated)
    if not isinstance(value, int) or not re.fullmatch(r"\d+", asked):
        return False
    limit = int(asked)
    return {"<": value < limit, ">": value > limit, "<=": value <= limit, ">=": value >= limit}[sign] != bool(negated)


def fill(world, customers):
    """Add plans, and customers that subscribe and pay each month."""
    chance, start = world.random, now(world) - 400 * DAY
    monthly = {"interval": "month", "interval_count": 1}
    prices = []
    for name, amount in PLANS.items():
        product = world.product.add(name=f"{name} plan", description=f"The {name} plan, per month", created=start)
        values = {"type": "recurring", "recurring": monthly, "created": start}
        prices.append(world.price.add(values, product=product["id"], unit_amount=amount))
    world.coupon.add(name="Spring", percent_off=20, created=start)
    for _ in range(customers):
        joined = start + chance.randrange(380 * DAY)
        name = f"{chance.choice(FIRST)} {chance.choice(LAST)}"
        email = f"{name.replace(' ', '.').lower()}{chance.randrange(10, 100)}@mail.example"
        customer = world.customer.add(name=name, email=email, created=joined)
        subscribe(world, customer, chance.choice(prices), joined)
    paid = world.payment_intent.find(description="Subscription")
    for at, payment in enumerate(chance.sample(paid, min(4, len(paid)))):
        give_back = world.refund if at % 2 else world.dispute
        values = {name: payment[name] for name in ("amount", "currency")}
        reason = "requested_by_customer" if at % 2 else "product_not_received"
        after = {
            "payment_intent": payment["id"],
            "reason": reason,
            "created": min(payment["created"] + DAY, now(world)),
        }
        charge = {} if at % 2 else {"charge": payment["latest_charge"]}
        give_back.add({**values, **after, **charge})


def subscribe(world, customer, price, joined):
    """Add a subscription, and for each of its months the paid invoice."""
    chance, who = world.random, customer["id"]
    months = (now(world) - joined) // (30 * DAY) + 1
    is_over = months > 2 and chance.random() < 0.2
    last = joined + (months - 1) * 30 * DAY
    subscription = world.subscription.add(
        customer=who, created=joined, current_period_start=last, current_period_end=last + 30 * DAY,
        status="canceled" if is_over else "active", canceled_at=last if is_over else None,
    )  # fmt: skip
    world.subscription_item.add(subscription=subscription["id"], price=price["id"], created=joined)
    for month in range(months - is_over):
        pay(world, who, price, joined + month * 30 * DAY)


def pay(world, who, price, when):
    bill = world.invoice.add(customer=who, created=when, due_date=when)
    charged(world, who, price["unit_amount"], world.product.get(price["product"])["name"], invoice=bill,
            price=price["id"], created=when)  # fmt: skip
    amount = bill["total"]
    bill["amount_paid"], bill["amount_due"] = amount, 0
    finalized(world, bill)
    world.payment_intent.add(
        customer=who, amount=amount, amount_received=amount, invoice=bill["id"], created=when,
        description="Subscription", latest_charge=f"ch_{bill['id'].removeprefix('in_')}",
    )  # fmt: skip
