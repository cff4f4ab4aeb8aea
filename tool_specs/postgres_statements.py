"""Statements of the simulated PostgreSQL: SQLite runs them, and the catalog says what they mean and why they fail."""

import re

import sqlglot
from postgres_catalog import (
    DATABASE,
    USER,
    Catalog,
    Failed,
    default_text,
    information,
    place_of,
    pointer,
    selected,
    type_of,
)
from postgres_failures import explained
from postgres_values import check_literal, columns_of, function_name, python_value, written_columns
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from mcp_sim.programs import Refused

VERSION = "15.8"
AVAILABLE = frozenset({"pg_stat_statements", "pgcrypto", "citext", "pg_trgm", "uuid-ossp"})
SESSION = frozenset({
    "set", "reset", "begin", "start", "commit", "end", "rollback", "savepoint", "release", "vacuum", "analyze",
    "reindex", "grant", "revoke", "comment", "lock",
})  # fmt: skip
"""First words of statements that change no row here."""
BEGINNINGS = SESSION | {
    "select", "with", "values", "insert", "update", "delete", "create", "drop", "alter", "truncate", "explain", "show",
    "do", "call", "copy", "merge", "table", "refresh",
}  # fmt: skip
NOTHING, EACH = "nothing", "each"
"""In place of columns: SQLite runs nothing, or one statement for each name."""
WORD = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(\w*)", re.DOTALL)
"""The first word of a statement, after comments and parentheses."""
BUILD = f"{VERSION} (Debian {VERSION}-1.pgdg120+1)"
SHOWN = {"server_version": BUILD, "timezone": "Etc/UTC", "search_path": '"$user", public', "server_encoding": "UTF8"}
KNOWN = {
    "current_version": ("version", f"PostgreSQL {BUILD} on x86_64-pc-linux-gnu"),
    "current_database": ("current_database", DATABASE), "current_catalog": ("current_catalog", DATABASE),
    "current_schema": ("current_schema", "public"), "current_user": ("current_user", USER),
    "session_user": ("session_user", USER),
}  # fmt: skip
"""Function as sqlglot names it -> the name of its column, and its value."""


def run(world, sql):
    """Run the statements of a text, all or none. Return the rows of the last one as Python values; None if it has none.

    Raises `Failed` with PostgreSQL's message.
    """
    catalog = Catalog(world)
    try:
        if (answer := command(sql)) is not NotImplemented:
            return answer
        prepared = [one for statement in parsed(sql) for one in Statement(catalog, statement, sql).prepared()]
        ready = [text for text, _ in prepared if text]
        outcome = world.sql.execute(ready, dialect="postgres") if ready else None
    except Refused as refusal:
        catalog.save_numbers()
        raise Failed(explained(world, catalog, parsed(sql)[-1], sql, str(refusal))) from None
    except Failed:
        catalog.save_numbers()
        raise
    for text, _ in prepared:
        catalog.follow(text, world)
    catalog.save()
    _, columns = prepared[-1] if prepared else ("", None)
    if columns is None:
        return None
    unknown = {"type": "unknown", "size": []}
    return [
        {name: python_value(value, columns.get(name, unknown)) for name, value in row.items()}
        for row in outcome.facts["rows"]
    ]


def command(sql):
    """Return the rows of a statement that is about the session, None if it has none; NotImplemented for others."""
    first, *words = sql.replace(";", " ").split() or [""]
    first, second = first.lower(), words[0].lower() if words else ""
    if first == "show":
        if second not in SHOWN:
            raise Failed(f'unrecognized configuration parameter "{second}"')
        return [{second: SHOWN[second]}]
    if (first, second) == ("create", "extension"):
        name = next((one.strip('"') for one in words[1:] if one.lower() not in ("if", "not", "exists")), "")
        if name not in AVAILABLE:
            raise Failed(f'extension "{name}" is not available')
        return None
    return None if first in SESSION else NotImplemented


def parsed(sql):
    """Return the statements of a text. Raises `Failed` for a syntax error."""
    word = WORD.match(sql)
    if word[1] and word[1].lower() not in BEGINNINGS:
        raise Failed(f'syntax error at or near "{word[1]}"{pointer(sql, word.start(1))}')
    try:
        found = [one for one in sqlglot.parse(sql, read="postgres") if one is not None]
    except ParseError as error:
        raise Failed(_syntax_error(sql, error.errors[0])) from None
    except SqlglotError:
        quote = max(sql.rfind("'"), 0)
        raise Failed(f'unterminated quoted string at or near "{sql[quote:]}"{pointer(sql, quote)}') from None
    return [normalize_identifiers(one, dialect="postgres") for one in found]


def _syntax_error(sql, error):
    near = error["highlight"]
    at = len(error["start_context"]) if len(sql) < 100 else max(sql.find(near), 0)
    if not sql[at + len(near) :].strip(" ;\n") and "missing" in error["description"]:
        return f"syntax error at end of input{pointer(sql, len(sql))}"
    return f'syntax error at or near "{near}"{pointer(sql, at)}'


class Statement:
    """One statement, and what it does to the catalog."""

    def __init__(self, catalog, statement, sql):
        self.catalog, self.statement, self.sql = catalog, statement, sql

    def prepared(self):
        """Return what to run, and the types of its columns: None for a statement without rows. Raises `Failed`."""
        statement = self.statement
        method = getattr(self, f"_{type(statement).__name__.lower()}", None)
        if method is None and not isinstance(statement, exp.Query):
            raise Failed(f"{WORD.match(self.sql)[1].upper()} is not supported by this database")
        columns = method() if method else self._checked_query()
        if columns == NOTHING:
            return [("", None)]
        if columns == EACH:
            return [(f'DROP {statement.args["kind"]} "{name.name}"', None) for name in statement.args["tables"]]
        return [(self._with_catalog().sql("postgres"), columns)]

    # queries

    def _checked_query(self):
        self.check_tables()
        for query in self.statement.find_all(exp.Select):
            self._check_groups(query)
        self._check_compared()
        return columns_of(self.statement, self.catalog.schema())

    def check_tables(self):
        common = {one.alias for one in self.statement.find_all(exp.CTE)}
        for table in self.statement.find_all(exp.Table):
            name, schema = table.name, table.db
            if schema in ("information_schema", "pg_catalog") or name.startswith("pg_") or not name or name in common:
                continue
            if name not in self.catalog.relations or schema not in ("", "public"):
                shown = f"{schema}.{name}" if schema else name
                raise Failed(f'relation "{shown}" does not exist{self._at(shown)}')

    def _check_compared(self):
        """Raise `Failed` if a column is compared with a text that is no value of its type."""
        tables = [*self.statement.find_all(exp.Table)]
        for one in self.statement.find_all(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE):
            column, value = one.this, one.expression
            if isinstance(column, exp.Column) and isinstance(value, exp.Literal) and value.is_string:
                owners = (table.name for table in tables if column.table in ("", table.alias_or_name))
                found = next((owner for owner in owners if self._has(owner, column.name)), None)
                if found:
                    self._check_value(value, self._column(self.catalog.table(found), column.name))

    def _check_groups(self, query):
        """Raise `Failed` for a column that is neither grouped nor within an aggregate."""
        group = query.args.get("group")
        selects = [one.unalias() for one in query.selects]
        if group is None and not any(isinstance(one, exp.AggFunc) for one in selects):
            return
        keys = [one.sql() for one in group.expressions] if group else []
        named = {one.alias: one.unalias().sql() for one in query.selects if one.alias}
        grouped = {selects[int(key) - 1].sql() if key.isdigit() else named.get(key, key) for key in keys}
        plain = {key.rpartition(".")[2] for key in grouped}
        tables = [one for one in query.find_all(exp.Table) if one.parent_select is query]
        for column in (found for one in selects if one.sql() not in grouped for found in one.find_all(exp.Column)):
            owners = [
                one for one in tables if self._has(one.name, column.name) and column.table in ("", one.alias_or_name)
            ]
            is_fixed = any(set(self._key(one.name)) <= plain and self._key(one.name) for one in owners)
            if (
                column.find_ancestor(exp.AggFunc, exp.Filter, exp.Subquery)
                or column.name in plain
                or is_fixed
                or not owners
            ):
                continue
            message = "must appear in the GROUP BY clause or be used in an aggregate function"
            raise Failed(f'column "{owners[0].alias_or_name}.{column.name}" {message}{self._at(column.sql())}')

    def _has(self, table, column):
        return any(one["name"] == column for one in self.catalog.table(table)["columns"])

    def _key(self, table):
        return next(
            (one["columns"] for one in self.catalog.table(table)["constraints"] if one["type"] == "PRIMARY KEY"), []
        )

    def _with_catalog(self):
        """Return the statement with the tables of the information schema, and what the server knows of itself."""
        for table in list(self.statement.find_all(exp.Table)):
            rows = information(self.catalog, table.name.lower())
            if rows is not None and table.name not in self.catalog.relations:
                rest = sqlglot.parse_one(selected(rows)).subquery(table.alias or table.name)
                table.replace(rest)
        for one in list(self.statement.find_all(exp.Func)):
            name = one.name.lower() if isinstance(one, exp.Anonymous) else one.sql_name().lower()
            if name in KNOWN:
                column, text = KNOWN[name]
                value = exp.Literal.string(text)
                one.replace(exp.alias_(value, column) if isinstance(one.parent, exp.Select) else value)
        for query in [self.statement] if isinstance(self.statement, exp.Select) else ():
            for one in query.selects:
                if not isinstance(one, exp.Column | exp.Star | exp.Alias):
                    one.replace(exp.alias_(one.copy(), function_name(one), quoted=True))
        aliases = {one.alias for one in self.statement.find_all(exp.Alias)}
        for one in self.statement.find_all(exp.Identifier):
            one.set("quoted", one.args.get("quoted") or one.name in aliases)
        return self.statement

    # rows

    def _insert(self):
        self.check_tables()
        target, source = self.statement.this, self.statement.expression
        table = target.this.name if isinstance(target, exp.Schema) else target.name
        relation = self.catalog.relations[table]
        names = [one.name for one in target.expressions] if isinstance(target, exp.Schema) else []
        for name in names:
            self._check_column(table, name)
        if isinstance(source, exp.Values):
            names = names or [one["name"] for one in relation["columns"]][: len(source.expressions[0].expressions)]
            self._check_rows(relation, names, source)
            self._number(target, table, names, source)
        return columns_of(self.statement, self.catalog.schema()) if self.statement.args.get("returning") else None

    def _check_rows(self, relation, names, source):
        columns = {one["name"]: one for one in relation["columns"]}
        for row in source.expressions:
            if len(row.expressions) > len(names):
                raise Failed("INSERT has more expressions than target columns")
            for name, value in zip(names, row.expressions, strict=False):
                self._check_value(value, columns[name])

    def _check_value(self, value, column):
        if isinstance(value, exp.Literal | exp.Boolean | exp.Neg):
            text = value.name or value.sql("postgres")
            try:
                check_literal(text, column)
                if column["type"] == "timestamp with time zone" and text[:1].isdigit():
                    value.set("this", f"{python_value(text, column):%Y-%m-%d %H:%M:%S}")
            except Failed as failure:
                is_input = str(failure).startswith("invalid input")
                raise Failed(f"{failure}{self._at(value.sql('postgres')) if is_input else ''}") from None

    def _number(self, target, table, names, source):
        """Give the new rows the next numbers of serial columns, which SQLite would use again after a deletion."""
        for column in [one["column"] for one in self.catalog.sequences.values() if one["table"] == table]:
            if column not in names:
                for row in source.expressions:
                    row.append("expressions", exp.Literal.number(self.catalog.next_number(table, column)))
                names.append(column)
        if isinstance(target, exp.Table):
            self.statement.set("this", exp.Schema(this=target.copy()))
        self.statement.this.set("expressions", [exp.to_identifier(one, quoted=True) for one in names])

    def _update(self):
        self.check_tables()
        table = self.statement.this.name
        columns = {one["name"]: one for one in self.catalog.relations[table]["columns"]}
        for one in self.statement.expressions:
            self._check_column(table, one.this.name)
            self._check_value(one.expression, columns[one.this.name])
        return columns_of(self.statement, self.catalog.schema()) if self.statement.args.get("returning") else None

    def _delete(self):
        self.check_tables()
        return columns_of(self.statement, self.catalog.schema()) if self.statement.args.get("returning") else None

    def _check_column(self, table, name):
        if not self._has(table, name):
            raise Failed(f'column "{name}" of relation "{table}" does not exist{self._at(name)}')

    # definitions

    def _create(self):
        statement, kind = self.statement, self.statement.args["kind"].upper()
        name = statement.find(exp.Table).name if kind != "INDEX" else statement.this.name
        exists = name in self.catalog.relations or any(
            index["name"] == name for row in self.catalog.relations.values() for index in row["indexes"]
        )
        if kind in ("TABLE", "VIEW", "INDEX") and exists and not statement.args.get("replace"):
            if statement.args.get("exists"):
                return NOTHING
            raise Failed(f'relation "{name}" already exists')
        if kind == "INDEX":
            return self._create_index(name)
        if kind == "VIEW" or (kind == "TABLE" and statement.expression is not None):
            self._check_query(statement.expression)
            columns = written_columns(columns_of(statement.expression, self.catalog.schema()))
            self.catalog.create_view(name, columns)
            self.catalog.relations[name]["kind"] = "VIEW" if kind == "VIEW" else "BASE TABLE"
            return None
        if kind != "TABLE":
            raise Failed(f"CREATE {kind} is not supported by this database")
        self.catalog.create_table(name, statement.this)
        return None

    def _check_query(self, query):
        Statement(self.catalog, query, self.sql).check_tables()

    def _create_index(self, name):
        index, is_unique = self.statement.this, bool(self.statement.args.get("unique"))
        table = index.args["table"].name
        if table not in self.catalog.relations:
            raise Failed(f'relation "{table}" does not exist')
        keys = index.args["params"].args.get("columns") or ()
        columns = [one.this.sql("postgres") + (" DESC" if one.args.get("desc") else "") for one in keys]
        made = name or f"{table}_{'_'.join(columns)}_idx"
        index.set("this", exp.to_identifier(made))
        self.catalog.add_index(table, made, columns, is_unique=is_unique)

    def _drop(self):
        kind, names = self.statement.args["kind"].upper(), [one.name for one in self.statement.args["tables"]]
        if kind == "INDEX":
            self.catalog.drop_indexes(names)
            return None
        known = [name for name in names if name in self.catalog.relations]
        if (missing := [*filter(lambda name: name not in known, names)]) and not self.statement.args.get("exists"):
            raise Failed(f'{kind.lower()} "{missing[0]}" does not exist')
        for name in known:
            self._drop_relation(kind, name, names)
        self.statement.set("cascade", None)
        return EACH if known else NOTHING

    def _drop_relation(self, kind, name, together):
        used = [(table, one) for table, one in self.catalog.references(name) if table not in together]
        if used and not self.statement.args.get("cascade"):
            lines = "\n".join(
                f"constraint {one['name']} on table {table} depends on table {name}" for table, one in used
            )
            hint = "HINT:  Use DROP ... CASCADE to drop the dependent objects too."
            raise Failed(f"cannot drop table {name} because other objects depend on it\nDETAIL:  {lines}\n{hint}")
        for table, one in used:
            self.catalog.relations[table]["constraints"].remove(one)
        self.catalog.drop(name)

    def _alter(self):
        table = self.statement.this.name
        if table not in self.catalog.relations:
            raise Failed(f'relation "{table}" does not exist')
        relation, [action] = self.catalog.relations[table], self.statement.args["actions"][:1]
        if isinstance(action, exp.ColumnDef):
            if self._has(table, action.name):
                raise Failed(f'column "{action.name}" of relation "{table}" already exists')
            self.catalog.add_column(table, action)
        elif isinstance(action, exp.AlterRename):
            self.catalog.rename(table, action.this.name)
        elif isinstance(action, exp.RenameColumn | exp.Drop | exp.AlterColumn):
            column = action.args["tables"][0] if isinstance(action, exp.Drop) else action.this
            self._check_column(table, column.name)
            return self._alter_column(relation, self._column(relation, column.name), action)
        else:
            raise Failed(f"ALTER TABLE {action.sql('postgres')} is not supported by this database")
        return None

    def _alter_column(self, relation, column, action):
        if isinstance(action, exp.RenameColumn):
            column["name"] = action.args["to"].name
            return None
        if isinstance(action, exp.Drop):
            relation["columns"].remove(column)
            return None
        if action.args.get("dtype"):
            column |= type_of(action.args["dtype"])
        elif action.args.get("default"):
            column["default"] = default_text(action.args["default"], column["type"])
        elif "allow_null" in action.args:
            column["nullable"] = bool(action.args["allow_null"])
        return NOTHING

    def _column(self, relation, name):
        return next(one for one in relation["columns"] if one["name"] == name)

    def _truncatetable(self):
        self.check_tables()

    def _at(self, word):
        return place_of(word, self.sql)
