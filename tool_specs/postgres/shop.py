"""The database of the simulated PostgreSQL, if the scenario gives none: a roastery's customers, products and orders."""

from datetime import timedelta

SCHEMA = """
CREATE TABLE customers (
  id SERIAL PRIMARY KEY, name TEXT NOT NULL, email VARCHAR(120) NOT NULL UNIQUE, city TEXT,
  created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE TABLE products (
  sku VARCHAR(16) PRIMARY KEY, title TEXT NOT NULL, price NUMERIC(8,2) NOT NULL CHECK (price > 0),
  stock INTEGER NOT NULL DEFAULT 0 CHECK (stock >= 0), active BOOLEAN NOT NULL DEFAULT true
);
CREATE TABLE orders (
  id SERIAL PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id),
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'paid', 'shipped', 'cancelled')),
  placed_at TIMESTAMPTZ NOT NULL DEFAULT now(), note TEXT
);
CREATE TABLE order_items (
  id SERIAL PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id) ON DELETE CASCADE,
  sku VARCHAR(16) NOT NULL REFERENCES products(sku), quantity INTEGER NOT NULL CHECK (quantity > 0),
  unit_price NUMERIC(8,2) NOT NULL
);
CREATE INDEX orders_customer_id_idx ON orders (customer_id);
CREATE INDEX order_items_order_id_idx ON order_items (order_id);
CREATE VIEW open_orders AS
  SELECT o.id, c.name AS customer, o.status, o.placed_at FROM orders o JOIN customers c ON c.id = o.customer_id
  WHERE o.status IN ('pending', 'paid');
"""
PRODUCTS = [
    ("ESP-250", "Espresso Nordwind, 250 g", 8.90, 140), ("ESP-1000", "Espresso Nordwind, 1 kg", 29.50, 36),
    ("FIL-250", "Filter Lumbre, 250 g", 9.80, 88), ("FIL-1000", "Filter Lumbre, 1 kg", 33.00, 12),
    ("DEC-250", "Decaf Siesta, 250 g", 9.40, 0), ("ETH-250", "Ethiopia Guji, 250 g", 12.60, 25),
    ("KEN-250", "Kenya Nyeri, 250 g", 13.90, 7), ("V60-02", "Dripper, ceramic", 24.00, 18),
    ("PAP-100", "Paper filters, 100 pieces", 5.20, 210), ("GRN-01", "Hand grinder", 79.00, 4),
    ("SCL-01", "Scale with timer", 45.00, 9), ("TIN-500", "Tin, 500 g", 11.50, 0),
]  # fmt: skip
CUSTOMERS = [
    ("Amara Diallo", "Lyon"), ("Bent Sørensen", "Aarhus"), ("Carla Ruiz", "Valencia"), ("Dov Levin", "Haifa"),
    ("Elif Kaya", "Izmir"), ("Finn Gallagher", "Cork"), ("Greta Lind", "Uppsala"), ("Hiro Tanabe", "Sendai"),
    ("Irena Novak", "Maribor"), ("Jonas Weber", "Bremen"), ("Kasia Wrona", "Gdynia"), ("Luca Moretti", "Turin"),
    ("Mina Farahani", "Ghent"), ("Noor de Vries", "Utrecht"), ("Otto Lahti", "Tampere"), ("Petra Sá", "Porto"),
]  # fmt: skip
NOTES = [
    "Ring twice, please.",
    "A gift: no invoice in the parcel.",
    "Leave it with the neighbour.",
    "Ground for filter.",
]


def shop(world, orders=48):
    """Return the statements that fill the database: its customers have ordered over the last 120 days."""
    chance, start = world.random, world.now - timedelta(days=120)

    def moment(hours):
        return (start + timedelta(hours=hours)).strftime("%Y-%m-%d %H:%M:%S+00")

    customers = [
        f"('{name}', '{name.split()[0].lower()}@{city.lower()}.example', '{city}', '{moment(-24 * number**2)}')"
        for number, (name, city) in enumerate(CUSTOMERS)
    ]
    products = [
        f"('{sku}', '{title}', {price}, {stock}, {str(sku != 'TIN-500').lower()})"
        for sku, title, price, stock in PRODUCTS
    ]
    orders_placed, items = [], []
    for number in range(1, orders + 1):
        hours = number * 24 * 119 / orders + chance.randrange(10)
        status = chance.choice(
            ["shipped", "shipped", "shipped", "cancelled"] if number < orders * 0.8 else ["pending", "paid"]
        )
        note = f"'{chance.choice(NOTES)}'" if chance.random() < 0.2 else "NULL"
        orders_placed.append(f"({chance.randrange(1, len(CUSTOMERS) + 1)}, '{status}', '{moment(hours)}', {note})")
        for sku, _, price, _ in chance.sample(PRODUCTS, chance.choice([1, 1, 2, 3])):
            items.append(f"({number}, '{sku}', {chance.choice([1, 1, 1, 2, 2, 4])}, {price})")
    rows = {
        "customers (name, email, city, created_at)": customers, "products": products,
        "orders (customer_id, status, placed_at, note)": orders_placed,
        "order_items (order_id, sku, quantity, unit_price)": items,
    }  # fmt: skip
    return SCHEMA + "\n".join(f"INSERT INTO {table} VALUES {', '.join(values)};" for table, values in rows.items())  # noqa: S608 (our own rows)
