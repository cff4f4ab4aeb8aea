"""The database of a greenhouse, in which agents work if no tables are given."""

STATEMENTS = [
    "CREATE TABLE houses (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, square_metres DOUBLE, heated BOOLEAN)",
    "CREATE TABLE crops (code VARCHAR PRIMARY KEY, name VARCHAR NOT NULL, days INTEGER, price_per_kg DOUBLE)",
    "CREATE TABLE plantings (id INTEGER PRIMARY KEY, house_id INTEGER, crop VARCHAR, planted_on DATE, plants INTEGER)",
    "CREATE TABLE yields (id INTEGER PRIMARY KEY, planting_id INTEGER, picked_on DATE, kilograms DOUBLE)",
    "INSERT INTO houses VALUES (1, 'South', 420.0, true), (2, 'Old glass', 180.5, true), (3, 'Tunnel', 260.0, false)",
    """INSERT INTO crops VALUES
('TOM', 'Tomato', 95, 3.4), ('CUC', 'Cucumber', 60, 2.1), ('PEP', 'Pepper', 110, 4.2), ('BAS', 'Basil', 35, 18.0)""",
    """INSERT INTO plantings VALUES
(1, 1, 'TOM', '2028-10-02', 640), (2, 1, 'BAS', '2028-11-20', 900), (3, 2, 'CUC', '2028-11-05', 220),
(4, 2, 'PEP', '2028-09-18', 180), (5, 3, 'BAS', '2029-01-10', 400)""",
    """INSERT INTO yields VALUES
(1, 1, '2029-01-08', 212.5), (2, 1, '2029-01-22', 268.0), (3, 1, '2029-02-05', 241.75), (4, 2, '2028-12-28', 31.2),
(5, 2, '2029-01-30', 28.9), (6, 3, '2029-01-12', 96.0), (7, 3, '2029-01-26', 104.5), (8, 3, '2029-02-09', 88.25),
(9, 4, '2029-01-15', 54.0), (10, 4, '2029-02-12', 61.5), (11, 5, '2029-02-20', 12.4)""",
]
