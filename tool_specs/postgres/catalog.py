"""The catalog of the simulated PostgreSQL: what its tables and views are made of, and the names of their constraints.

SQLite runs the statements, and forgets the types of columns; the catalog keeps these. Calls change copies, which are
written when all statements of the call have succeeded.
"""

import re
from copy import deepcopy
from itertools import count

from sqlglot import exp

from mcp_sim.libraries.sql import quoted

TYPES = {
    "INT": "integer", "BIGINT": "bigint", "SMALLINT": "smallint", "SERIAL": "integer", "BIGSERIAL": "bigint",
    "SMALLSERIAL": "smallint", "DECIMAL": "numeric", "FLOAT": "real", "DOUBLE": "double precision",
    "TEXT": "text", "VARCHAR": "character varying", "CHAR": "character", "BOOLEAN": "boolean", "UUID": "uuid",
    "DATE": "date", "TIME": "time without time zone", "TIMESTAMP": "timestamp without time zone",
    "TIMESTAMPTZ": "timestamp with time zone", "INTERVAL": "interval", "JSON": "json", "JSONB": "jsonb",
    "VARBINARY": "bytea", "ARRAY": "ARRAY",
}  # fmt: skip
"""Type as sqlglot names it -> as the information schema shows it."""
WRITTEN = {shown: name for name, shown in TYPES.items() if "SERIAL" not in name}
ORDER = {"CHECK": 0, "PRIMARY KEY": 1, "UNIQUE": 1, "FOREIGN KEY": 2}
"""Kind of a constraint -> its place among those of a table."""


DATABASE, USER = "store", "postgres"


class Failed(Exception):
    """What PostgreSQL reports of a statement that it refuses."""


def pointer(sql, at):
    """Return the line of a statement that an error is in, and a mark below the place."""
    start = sql.rfind("\n", 0, at) + 1
    label = f"LINE {sql.count(chr(10), 0, at) + 1}: "
    return f"\n{label}{sql[start:].split(chr(10))[0]}\n{' ' * (len(label) + at - start)}^"


def place_of(word, sql):
    """Return the line of a statement that has a word, and a mark below the word; empty without such a line."""
    match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sql, re.IGNORECASE)
    return pointer(sql, match.start()) if match else ""


def count_rows(world, table, values=None):
    """Return how many rows of a table have these values."""
    given = values or {}
    conditions = " AND ".join(f"{quoted(name)} IS ?" for name in given)
    query = f"SELECT count(*) AS n FROM {quoted(table)}{' WHERE ' if given else ''}{conditions}"  # noqa: S608 (quoted)
    return world.sql.run(query, [*given.values()]).rows[0]["n"]


class Catalog:
    """The relations and sequences of the database, as the statements of a call have left them."""

    def __init__(self, world):
        self._world = world
        self.relations, self.sequences = {}, {}
        self.undo()

    def definitions(self):
        """Return the relations and sequences as they are now."""
        return deepcopy((self.relations, self.sequences))

    def undo(self, definitions=None):
        """Return to these definitions; without them, to those before the call."""
        if definitions is not None:
            self.relations, self.sequences = deepcopy(definitions)
            return
        self.relations = {row["name"]: deepcopy(dict(row)) for row in self._world.pg_relation}
        self.sequences = {row["name"]: dict(row) for row in self._world.pg_sequence}

    def save(self):
        """Write all changes."""
        for table, rows in ((self._world.pg_relation, self.relations), (self._world.pg_sequence, self.sequences)):
            for name in [row["name"] for row in table if row["name"] not in rows]:
                table.delete(name)
            for name, row in rows.items():
                if name not in table:
                    table.add(row)
                elif dict(table[name]) != row:
                    table[name].update(row)

    def save_numbers(self):
        """Write the numbers that sequences have given out: they stay so after a failure."""
        for row in self._world.pg_sequence:
            if row["name"] in self.sequences:
                row["last"] = self.sequences[row["name"]]["last"]

    def schema(self):
        """Return the types of all columns, as sqlglot takes them."""
        return {
            name: {column["name"]: written_type(column) for column in row["columns"]}
            for name, row in self.relations.items()
        }

    def table(self, name):
        return self.relations.get(name, {"name": name, "columns": [], "constraints": [], "indexes": []})

    def next_number(self, table, column):
        """Return the next number of a serial column."""
        sequence = self.sequence_of(table, column)
        sequence["last"] += 1
        return sequence["last"]

    def sequence_of(self, table, column):
        known = (row for row in self.sequences.values() if (row["table"], row["column"]) == (table, column))
        return next(known, None)

    def follow(self, text, world):
        """Let the sequences of a table that rows were copied into go on behind these rows."""
        into = re.match(r'INSERT INTO "?(\w+)"?.*\bSELECT\b', text, re.DOTALL)
        for sequence in self.sequences.values():
            if into and sequence["table"] == into[1]:
                highest = exp.Max(this=exp.column(sequence["column"], quoted=True))
                query = exp.select(highest.as_("n")).from_(exp.table_(into[1], quoted=True))
                [row] = world.sql.run(query.sql("postgres"), dialect="postgres").rows
                sequence["last"] = max(sequence["last"], row["n"] or 0)

    # definitions

    def create_table(self, name, schema):
        """Add the table that a statement creates. Give its checks the names by which SQLite then reports them."""
        self.relations[name] = self._new(name, "BASE TABLE")
        for expression in schema.expressions:
            if isinstance(expression, exp.ColumnDef):
                self.add_column(name, expression)
            else:
                self._add_table_constraint(name, expression)

    def create_view(self, name, columns):
        self.relations[name] = {**self._new(name, "VIEW"), "columns": columns}

    def add_column(self, table, definition):
        kind, constraints = definition.kind, [stated.kind for stated in definition.constraints]
        column = {"name": definition.name, **type_of(kind), "nullable": True, "default": None}
        self.relations[table]["columns"].append(column)
        if kind.this.name.endswith("SERIAL"):
            sequence = f"{table}_{definition.name}_seq"
            self.sequences[sequence] = {
                "name": sequence, "table": table, "column": definition.name, "type": column["type"], "last": 0,
            }  # fmt: skip
            column |= {"nullable": False, "default": f"nextval('{sequence}'::regclass)"}
        for declared, constraint in zip(definition.constraints, constraints, strict=True):
            if isinstance(constraint, exp.NotNullColumnConstraint):
                column["nullable"] = bool(constraint.args.get("allow_null"))
            elif isinstance(constraint, exp.DefaultColumnConstraint):
                column["default"] = default_text(constraint.this, column["type"])
            elif isinstance(constraint, exp.PrimaryKeyColumnConstraint):
                self.add_constraint(table, "PRIMARY KEY", [definition.name], declared.name)
            elif isinstance(constraint, exp.UniqueColumnConstraint):
                self.add_constraint(table, "UNIQUE", [definition.name], declared.name)
            elif isinstance(constraint, exp.CheckColumnConstraint):
                given_name = self.add_constraint(table, "CHECK", [definition.name], declared.name)
                declared.set("this", exp.to_identifier(given_name, quoted=True))
            elif isinstance(constraint, exp.Reference):
                self.add_constraint(table, "FOREIGN KEY", [definition.name], declared.name, self._target(constraint))

    def _add_table_constraint(self, table, definition):
        name, kinds = "", [definition]
        if isinstance(definition, exp.Constraint):
            name, kinds = definition.name, definition.expressions
        for kind in kinds:
            columns = [column.name for column in kind.find_all(exp.Identifier)]
            if isinstance(kind, exp.PrimaryKey):
                self.add_constraint(table, "PRIMARY KEY", [expression.name for expression in kind.expressions], name)
            elif isinstance(kind, exp.UniqueColumnConstraint):
                self.add_constraint(table, "UNIQUE", [*dict.fromkeys(columns)], name)
            elif isinstance(kind, exp.ForeignKey):
                own = [column.name for column in kind.expressions]
                self.add_constraint(table, "FOREIGN KEY", own, name, self._target(kind.args["reference"]))
            elif isinstance(kind, exp.CheckColumnConstraint):
                used = [*dict.fromkeys(column.name for column in kind.find_all(exp.Column))]
                given_name = self.add_constraint(table, "CHECK", used if len(used) == 1 else [], name)
                if not name:
                    wrapped = exp.Constraint(this=exp.to_identifier(given_name, quoted=True), expressions=[kind.copy()])
                    definition.replace(wrapped)

    def add_constraint(self, table, kind, columns, name="", target=None):
        """Add a constraint. Return its name, which follows from the table and the columns if none is given."""
        relation = self.relations[table]
        suffix = {"PRIMARY KEY": "pkey", "UNIQUE": "key", "CHECK": "check", "FOREIGN KEY": "fkey"}[kind]
        middle = [] if kind == "PRIMARY KEY" else columns
        plain, taken = (
            "_".join([table, *middle, suffix]),
            {constraint["name"] for constraint in relation["constraints"]},
        )
        chosen = name or next(free for n in count() if (free := f"{plain}{n or ''}") not in taken)
        relation["constraints"].append({"name": chosen, "type": kind, "columns": columns, "target": target})
        if kind in ("PRIMARY KEY", "UNIQUE"):
            self.add_index(table, chosen, columns, is_unique=True)
        if kind == "PRIMARY KEY":
            for column in relation["columns"]:
                column["nullable"] = column["nullable"] and column["name"] not in columns
        return chosen

    def add_index(self, table, name, columns, *, is_unique=False, method="btree"):
        unique = "UNIQUE " if is_unique else ""
        text = f"CREATE {unique}INDEX {name} ON public.{table} USING {method} ({', '.join(columns)})"
        self.relations[table]["indexes"].append({"name": name, "definition": text})

    def drop(self, name):
        self.relations.pop(name)
        self.sequences = {key: row for key, row in self.sequences.items() if row["table"] != name}

    def index_table(self, name):
        """Return the table that an index is of; None if there is no such index."""
        known = (row for row in self.relations.values() if any(index["name"] == name for index in row["indexes"]))
        return next(known, None)

    def drop_indexes(self, names):
        for row in self.relations.values():
            row["indexes"] = [index for index in row["indexes"] if index["name"] not in names]

    def rename(self, table, name):
        self.relations[name] = {**self.relations.pop(table), "name": name}
        for row in self.sequences.values():
            row["table"] = name if row["table"] == table else row["table"]

    def references(self, table):
        """Return the foreign keys of other tables to this one: pairs of a table's name and its constraint."""
        return [
            (name, constraint) for name, row in self.relations.items() for constraint in row["constraints"]
            if constraint["target"] and constraint["target"]["table"] == table and name != table
        ]  # fmt: skip

    def _target(self, reference):
        schema = reference.this
        table = schema.find(exp.Table).name
        columns = [expression.name for expression in schema.expressions] if isinstance(schema, exp.Schema) else []
        if table not in self.relations:
            raise Failed(f'relation "{table}" does not exist')
        keys = [
            constraint["columns"]
            for constraint in self.relations[table]["constraints"]
            if constraint["type"] == "PRIMARY KEY"
        ]
        return {"table": table, "columns": columns or (keys[0] if keys else [])}

    def _new(self, name, kind):
        known = [row["oid"] for row in self.relations.values()]
        oid = max(known, default=16_384) + 6
        return {"name": name, "kind": kind, "oid": oid, "columns": [], "constraints": [], "indexes": []}


def type_of(kind):
    """Return the type of a column: as it is shown, and its sizes."""
    shown = TYPES.get(kind.this.name, kind.sql("postgres").lower())
    return {
        "type": shown,
        "size": [
            int(expression.name) for expression in kind.expressions if re.fullmatch("[0-9]{1,9}", expression.name)
        ],
    }


def written_type(column):
    size = f"({', '.join(map(str, column['size']))})" if column["size"] else ""
    return f"{WRITTEN.get(column['type'], 'TEXT')}{size}"


def default_text(value, kind):
    """Return a default as the information schema shows it."""
    if isinstance(value, exp.Literal) and value.is_string:
        return f"'{value.name}'::{kind}"
    if isinstance(value, exp.CurrentTimestamp):
        return "now()"
    return value.sql("postgres") if isinstance(value, exp.CurrentDate) else value.sql("postgres").lower()


def constraints_of(relation):
    """Return the constraints of a relation as the information schema lists them."""
    listed = sorted(relation["constraints"], key=lambda constraint: ORDER[constraint["type"]])
    shown = [
        {"name": constraint["name"], "type": constraint["type"],
         "columns": [] if constraint["type"] == "CHECK" else [*constraint["columns"]]}
        for constraint in listed
    ]  # fmt: skip
    for number, column in enumerate(relation["columns"], 1):
        if not column["nullable"] and relation["kind"] == "BASE TABLE":
            name = f"2200_{relation['oid']}_{number}_not_null"
            shown.append({"name": name, "type": "CHECK", "columns": []})
    return shown


def information(catalog, name):
    """Return the rows of a view of the information schema or of the system catalog; None for others."""
    relations = sorted(catalog.relations.values(), key=lambda row: row["name"])
    if name == "tables":
        return [
            {"table_catalog": DATABASE, "table_schema": "public", "table_name": row["name"], "table_type": row["kind"]}
            for row in relations
        ]  # fmt: skip
    if name == "columns":
        return [
            {"table_catalog": DATABASE, "table_schema": "public", "table_name": row["name"],
             "column_name": column["name"],
             "ordinal_position": at, "column_default": column["default"], "data_type": column["type"],
             "is_nullable": "YES" if column["nullable"] else "NO",
             "character_maximum_length": column["size"][0] if column["size"] and "char" in column["type"] else None}
            for row in relations for at, column in enumerate(row["columns"], 1)
        ]  # fmt: skip
    if name == "pg_tables":
        return [{"schemaname": "public", "tablename": row["name"], "tableowner": USER} for row in relations
                if row["kind"] == "BASE TABLE"]  # fmt: skip
    if name == "pg_indexes":
        return [{"schemaname": "public", "tablename": row["name"], "indexname": index["name"],
                 "indexdef": index["definition"]} for row in relations for index in row["indexes"]]  # fmt: skip
    return None


def literal(value):
    return "NULL" if value is None else exp.convert(value).sql()


def selected(rows):
    return " UNION ALL ".join(
        f"SELECT {', '.join(f'{literal(value)} AS {name}' for name, value in row.items())}" for row in rows
    )
