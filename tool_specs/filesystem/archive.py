"""The files of a small company, in which agents work if no others are given."""

ROOT = "/srv/shared"

FILES = {
    "README.md": """# Shared folder of Kestrel Cycles

- `orders/` one file for each month, as CSV
- `suppliers/` who delivers what, and on which terms
- `minutes/` what was decided on Mondays
- `website/` texts of the shop; publish nothing from `drafts/`

Questions: Ines (orders), Matteo (website).
""",
    "orders/2029-01.csv": """number,date,customer,article,quantity,total
1041,2029-01-08,Velo Nord,brake pads,40,318.00
1042,2029-01-11,Rad & Tat,chain 11s,25,612.50
1043,2029-01-19,Biciletta,tyre 28,30,897.00
1044,2029-01-30,Velo Nord,saddle,6,351.60
""",
    "orders/2029-02.csv": """number,date,customer,article,quantity,total
1045,2029-02-02,Pedaleria,chain 11s,10,245.00
1046,2029-02-09,Rad & Tat,tyre 28,24,717.60
1047,2029-02-14,Velo Nord,brake pads,20,159.00
1048,2029-02-23,Biciletta,bell,60,330.00
""",
    "suppliers/contacts.json": """{
  "Ferrum": {"delivers": ["chain 11s", "bell"], "days": 9, "mail": "sales@ferrum.example"},
  "Goma": {"delivers": ["tyre 28"], "days": 21, "mail": "export@goma.example"},
  "Silla": {"delivers": ["saddle"], "days": 14, "mail": "hola@silla.example"}
}
""",
    "suppliers/terms.md": """# Terms

Supplier | Payment | Discount
--- | --- | ---
Ferrum | 30 days | 2 % within 10 days
Goma | in advance | 5 %
Silla | 14 days | none
""",
    "minutes/2029-02-12.md": """# Monday, 12 February

Present: Ines, Matteo, Yuki

- The bells sell well: order 200 more from Ferrum.
- The tyres are late again. Yuki asks Goma for a date.
- The winter sale ends on the 28th.
""",
    "minutes/2029-02-26.md": """# Monday, 26 February

Present: Ines, Yuki

- Goma delivers on 9 March.
- Prices: the saddle is 58.60 from March on.
- Matteo writes a page about helmets.
""",
    "website/about.md": "# About us\n\nThree people, one workshop, and bicycles since 2011.\n",
    "website/prices.md": """# Prices

Article | Price
--- | ---
bell | 5.50
brake pads | 7.95
chain 11s | 24.50
saddle | 54.90
tyre 28 | 29.90
""",
    "website/drafts/helmets.md": "# Helmets\n\nTODO: which sizes do we have?\n",
    "tools/totals.py": '''"""Add up the totals of a month."""

import csv
import sys


def total(path):
    with open(path) as file:
        return sum(float(row["total"]) for row in csv.DictReader(file))


print(f"{total(sys.argv[1]):.2f}")
''',
}
