"""The workbooks of a small company, made anew for each seed."""

REGIONS = ("North", "South", "East", "West")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun")
GOODS = (
    ("HX-100", "Hex bolt M6", 0.12), ("HX-120", "Hex bolt M8", 0.18), ("WA-010", "Washer 8 mm", 0.03),
    ("HG-042", "Door hinge", 3.5), ("LK-007", "Cylinder lock", 18.9), ("HD-300", "Claw hammer", 14.5),
    ("SW-220", "Saw blade", 9.75), ("GL-015", "Wood glue 500 ml", 6.2), ("TP-050", "Measuring tape", 4.4),
    ("DR-900", "Drill bit set", 22.0),
)  # fmt: skip
PEOPLE = (
    ("Marta Koch", "Sales", "marta.koch@eisenhof.example"), ("Yusuf Demir", "Sales", "yusuf.demir@eisenhof.example"),
    ("Ingrid Vik", "Warehouse", "ingrid.vik@eisenhof.example"), ("Sam Oko", "Warehouse", "sam.oko@eisenhof.example"),
    ("Chioma Eze", "Accounts", "chioma.eze@eisenhof.example"), ("Lars Holm", "Director", "lars.holm@eisenhof.example"),
)  # fmt: skip


def workbooks_of(world):
    """Return the paths of the workbooks, each with its rows by sheet."""
    random = world.random
    sales = [["Month", *REGIONS, "Total"]]
    for row, month in enumerate(MONTHS, 2):
        sales.append([month, *(random.randrange(8_000, 26_000, 50) for _ in REGIONS), f"=SUM(B{row}:E{row})"])
    end = len(sales)
    sales.append(["Total", *(f"=SUM({letter}2:{letter}{end})" for letter in "BCDEF")])
    targets = [["Region", "Target", "Reached"]]
    targets += [
        [region, random.randrange(80_000, 120_000, 5_000), f"=Sales!{letter}{end + 1}/B{row}"]
        for row, (region, letter) in enumerate(zip(REGIONS, "BCDE", strict=True), 2)
    ]
    stock = [["Code", "Article", "Price", "Count", "Minimum", "Order"]]
    for row, (code, name, price) in enumerate(GOODS, 2):
        count, least = random.randrange(0, 400), random.choice((20, 50, 100))
        stock.append([code, name, price, count, least, f'=IF(D{row}<E{row},"yes","no")'])
    orders = [["Order", "Code", "Count", "Ordered", "Person"]]
    for number in range(1, 13):
        day = f"{world.now.year}-{random.randrange(1, 3):02d}-{random.randrange(1, 28):02d}"
        orders.append([1040 + number, random.choice(GOODS)[0], random.randrange(5, 60), day, random.choice(PEOPLE)[0]])
    staff = [["Name", "Team", "Mail", "Hours"]]
    staff += [[*person, random.choice((20, 32, 40))] for person in PEOPLE]
    return [
        ("sales.xlsx", {"Sales": sales, "Targets": targets}),
        ("stock.xlsx", {"Stock": stock, "Orders": orders}),
        ("staff.xlsx", {"Staff": staff}),
    ]
