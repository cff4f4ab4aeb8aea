"""The database of a bookshop, in which agents work if no tables are given."""

STATEMENTS = [
    "CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT)",
    """CREATE TABLE books (
  isbn TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  author_id INTEGER NOT NULL REFERENCES authors (id),
  year INTEGER,
  price REAL NOT NULL,
  stock INTEGER NOT NULL DEFAULT 0
)""",
    "CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE, joined TEXT)",
    """CREATE TABLE sales (
  id INTEGER PRIMARY KEY,
  isbn TEXT NOT NULL REFERENCES books (isbn),
  member_id INTEGER REFERENCES members (id),
  quantity INTEGER NOT NULL,
  sold_on TEXT NOT NULL
)""",
    """INSERT INTO authors VALUES
(1, 'Ilse Brandt', 'Germany'), (2, 'Tomás Rueda', 'Chile'), (3, 'Aoife Kearney', 'Ireland'),
(4, 'Kenji Mori', 'Japan'), (5, 'Nadia Haddad', 'Lebanon')""",
    """INSERT INTO books VALUES
('978-1-0001', 'The Salt Road', 2, 2017, 14.5, 6), ('978-1-0002', 'Nine Winters', 1, 2009, 11.9, 2),
('978-1-0003', 'A House of Glass', 3, 2021, 18.0, 9), ('978-1-0004', 'Letters to Osaka', 4, 2014, 12.75, 0),
('978-1-0005', 'Cedar and Smoke', 5, 2019, 16.25, 4), ('978-1-0006', 'The Cartographer', 2, 2023, 21.0, 12),
('978-1-0007', 'Low Tide', 3, 2011, 9.99, 1), ('978-1-0008', 'Snow Country Kitchen', 4, 2020, 27.5, 3)""",
    """INSERT INTO members VALUES
(1, 'Petra Lindholm', 'petra@north.example', '2027-04-12'), (2, 'Sam Adeyemi', 'sam@lagos.example', '2027-11-02'),
(3, 'Lucia Ferri', 'lucia@parma.example', '2028-01-20'), (4, 'Owen Hughes', 'owen@cardiff.example', '2028-06-30')""",
    """INSERT INTO sales VALUES
(1, '978-1-0001', 1, 1, '2029-01-04'), (2, '978-1-0003', 2, 2, '2029-01-09'), (3, '978-1-0006', 1, 1, '2029-01-15'),
(4, '978-1-0004', 3, 1, '2029-01-22'), (5, '978-1-0003', NULL, 1, '2029-02-03'), (6, '978-1-0008', 4, 1, '2029-02-11'),
(7, '978-1-0006', 3, 2, '2029-02-14'), (8, '978-1-0005', 2, 1, '2029-02-25')""",
]
