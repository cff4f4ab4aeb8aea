"""Statements of the simulated PostgreSQL: SQLite runs them, and the catalog says what they mean and why they fail."""

import re

import sqlglot
from catalog import Catalog, Failed, information, place_of, selected, type_of
from failures import explained
from scripts import KEEPING, KNOWN, SESSION, UNDOING, WORD, answer, parsed, split
from sqlglot import exp
from values import check_literal, columns_of, function_name, python_value, written_columns

from mcp_sim.libraries.sql import SqlError

RESERVED = "pg_"
"""The beginning of names that no table may have: those of the tables of the program begin so."""


def run(world, sql):
    """Run the statements of a text, all or none. Return the rows of the last one as Python values, if it has any.

    Raises `Failed` with PostgreSQL's message.
    """
    catalog = Catalog(world)
    try:
        prepared = _prepared(catalog, sql)
        ready = [text for text, _ in prepared if text]
        outcome = world.sql.run(ready, dialect="postgres") if ready else None
    except SqlError as refusal:
        catalog.save_numbers()
        _, text, at = [script for script in split(sql) if script[0] not in SESSION][-1]
        statement = parsed(sql, text, at)
        raise Failed(explained(world, catalog, statement, sql, str(refusal))) from None
    except Failed:
        catalog.save_numbers()
        raise
    for text, _ in prepared:
        catalog.follow(text, world)
    catalog.save()
    text, columns = prepared[-1] if prepared else ("", None)
    if not text or columns is None:
        return columns
    unknown = {"type": "unknown", "size": []}
    return [
        {name: python_value(value, columns.get(name, unknown)) for name, value in row.items()} for row in outcome.rows
    ]


def _prepared(catalog, sql):
    """Return what the statements of a text run, each with its columns; the answer of one that runs nothing.

    What a ROLLBACK undoes is checked, and not run.
    """
    prepared, lasting, definitions = [], 0, None
    for word, text, at in split(sql):
        answered = answer(word, text)
        if word in UNDOING:
            del prepared[lasting:]
            catalog.undo(definitions)
        elif word in KEEPING:
            lasting, definitions = len(prepared), catalog.definitions()
        if answered is NotImplemented:
            prepared += Statement(catalog, parsed(sql, text, at), sql).prepared()
        else:
            prepared.append(("", answered))
    return prepared


class Statement:
    """One statement, and what it does to the catalog."""

    def __init__(self, catalog, statement, sql):
        self.catalog, self.statement, self.sql = catalog, statement, sql

    def prepared(self):
        """Return what to run, and the types of its columns: None for a statement without rows. Raises `Failed`."""
        handler = HANDLERS.get(type(self.statement))
        if handler is None and not isinstance(self.statement, exp.Query):
            raise Failed(f"{WORD.match(self.statement.sql('postgres'))[1].upper()} is not supported by this database")
        columns = handler(self) if handler else self._checked_query()
        if isinstance(columns, list):
            return [(text, None) for text in columns or [""]]
        return [(self._with_catalog().sql("postgres"), columns)]

    # queries

    def _checked_query(self):
        self.check_tables()
        for query in self.statement.find_all(exp.Select):
            self._check_groups(query)
        self._check_compared()
        return columns_of(self.statement, self.catalog.schema())

    def check_tables(self):
        common = {common_table.alias for common_table in self.statement.find_all(exp.CTE)}
        for table in self.statement.find_all(exp.Table):
            name, schema = table.name, table.db
            if schema in ("information_schema", "pg_catalog") or name.startswith("pg_") or not name or name in common:
                continue
            if name not in self.catalog.relations or schema not in ("", "public"):
                shown = f"{schema}.{name}" if schema else name
                raise Failed(f'relation "{shown}" does not exist{self._at(shown)}')

    def _check_compared(self):
        """Raise `Failed` if a column is compared with a text that does not fit its type."""
        tables = [*self.statement.find_all(exp.Table)]
        for comparison in self.statement.find_all(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE):
            column, value = comparison.this, comparison.expression
            if isinstance(column, exp.Column) and isinstance(value, exp.Literal) and value.is_string:
                owners = (table.name for table in tables if column.table in ("", table.alias_or_name))
                known = next((owner for owner in owners if self._has(owner, column.name)), None)
                if known:
                    self._check_value(value, self._column(self.catalog.table(known), column.name))

    def _check_groups(self, query):
        """Raise `Failed` for a column that is neither grouped nor within an aggregate."""
        group = query.args.get("group")
        selects = [select.unalias() for select in query.selects]
        if group is None and not any(isinstance(select, exp.AggFunc) for select in selects):
            return
        keys = [expression.sql() for expression in group.expressions] if group else []
        named = {select.alias: select.unalias().sql() for select in query.selects if select.alias}
        grouped = {position_of(key, selects) if key.isdigit() else named.get(key, key) for key in keys}
        plain = {key.rpartition(".")[2] for key in grouped}
        tables = [source for source in query.find_all(exp.Table) if source.parent_select is query]
        for column in (
            inner for select in selects if select.sql() not in grouped for inner in select.find_all(exp.Column)
        ):
            owners = [
                table
                for table in tables
                if self._has(table.name, column.name) and column.table in ("", table.alias_or_name)
            ]
            is_fixed = any(set(self._key(owner.name)) <= plain and self._key(owner.name) for owner in owners)
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
        return any(known["name"] == column for known in self.catalog.table(table)["columns"])

    def _key(self, table):
        return next(
            (
                constraint["columns"]
                for constraint in self.catalog.table(table)["constraints"]
                if constraint["type"] == "PRIMARY KEY"
            ),
            [],
        )

    def _with_catalog(self):
        """Return the statement with the tables of the information schema, and what the server knows of itself."""
        for table in list(self.statement.find_all(exp.Table)):
            rows = information(self.catalog, table.name.lower())
            if rows is not None and table.name not in self.catalog.relations:
                rest = sqlglot.parse_one(selected(rows)).subquery(table.alias or table.name)
                table.replace(rest)
        for function in list(self.statement.find_all(exp.Func)):
            name = function.name.lower() if isinstance(function, exp.Anonymous) else function.sql_name().lower()
            if name in KNOWN:
                column, text = KNOWN[name]
                value = exp.Literal.string(text)
                function.replace(exp.alias_(value, column) if isinstance(function.parent, exp.Select) else value)
        for query in [self.statement] if isinstance(self.statement, exp.Select) else ():
            for selected_value in query.selects:
                if not isinstance(selected_value, exp.Column | exp.Star | exp.Alias):
                    selected_value.replace(
                        exp.alias_(selected_value.copy(), function_name(selected_value), quoted=True)
                    )
        aliases = {alias.alias for alias in self.statement.find_all(exp.Alias)}
        for identifier in self.statement.find_all(exp.Identifier):
            identifier.set("quoted", identifier.args.get("quoted") or identifier.name in aliases)
        return self.statement

    # rows

    def insert(self):
        self.check_tables()
        target, source = self.statement.this, self.statement.expression
        table = target.this.name if isinstance(target, exp.Schema) else target.name
        relation = self.catalog.relations[table]
        names = [expression.name for expression in target.expressions] if isinstance(target, exp.Schema) else []
        for name in names:
            self._check_column(table, name)
        if isinstance(source, exp.Values):
            names = (
                names or [column["name"] for column in relation["columns"]][: len(source.expressions[0].expressions)]
            )
            self._check_rows(relation, names, source)
            self._number(target, table, names, source)
        return columns_of(self.statement, self.catalog.schema()) if self.statement.args.get("returning") else None

    def _check_rows(self, relation, names, source):
        columns = {column["name"]: column for column in relation["columns"]}
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
        for column in [
            sequence["column"] for sequence in self.catalog.sequences.values() if sequence["table"] == table
        ]:
            if column not in names:
                for row in source.expressions:
                    row.append("expressions", exp.Literal.number(self.catalog.next_number(table, column)))
                names.append(column)
        if isinstance(target, exp.Table):
            self.statement.set("this", exp.Schema(this=target.copy()))
        self.statement.this.set("expressions", [exp.to_identifier(name, quoted=True) for name in names])

    def update(self):
        self.check_tables()
        table = self.statement.this.name
        columns = {column["name"]: column for column in self.catalog.relations[table]["columns"]}
        for expression in self.statement.expressions:
            self._check_column(table, expression.this.name)
            self._check_value(expression.expression, columns[expression.this.name])
        return columns_of(self.statement, self.catalog.schema()) if self.statement.args.get("returning") else None

    def delete(self):
        self.check_tables()
        return columns_of(self.statement, self.catalog.schema()) if self.statement.args.get("returning") else None

    def _check_column(self, table, name):
        if not self._has(table, name):
            raise Failed(f'column "{name}" of relation "{table}" does not exist{self._at(name)}')

    # definitions

    def create(self):
        statement, kind = self.statement, self.statement.args["kind"].upper()
        name = statement.find(exp.Table).name if kind != "INDEX" else statement.this.name
        exists = name in self.catalog.relations or any(
            index["name"] == name for row in self.catalog.relations.values() for index in row["indexes"]
        )
        if kind in ("TABLE", "VIEW", "INDEX") and exists and not statement.args.get("replace"):
            if statement.args.get("exists"):
                return []
            raise Failed(f'relation "{name}" already exists')
        _check_name(name)
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
        columns = [key.this.sql("postgres") + (" DESC" if key.args.get("desc") else "") for key in keys]
        index_name = name or f"{table}_{'_'.join(columns)}_idx"
        index.set("this", exp.to_identifier(index_name))
        self.catalog.add_index(table, index_name, columns, is_unique=is_unique)

    def drop(self):
        kind, names = self.statement.args["kind"].upper(), [table.name for table in self.statement.args["tables"]]
        if kind not in DROPPED:
            raise Failed(f"DROP {kind} is not supported by this database")
        if kind == "INDEX":
            known = [name for name in names if self.catalog.index_table(name)]
        else:
            known = [name for name in names if name in self.catalog.relations]
        if (missing := [*filter(lambda name: name not in known, names)]) and not self.statement.args.get("exists"):
            raise Failed(f'{kind.lower()} "{missing[0]}" does not exist')
        if kind == "INDEX":
            self.catalog.drop_indexes(known)
        else:
            known = self._users_first(known)
            for name in known:
                self._drop_relation(kind, name, names)
        return [f"DROP {kind} {exp.to_identifier(name, quoted=True).sql('postgres')}" for name in known]

    def _drop_relation(self, kind, name, together):
        if self.catalog.relations[name]["kind"] != DROPPED[kind]:
            raise Failed(f'"{name}" is not a {kind.lower()}')
        used = [(table, constraint) for table, constraint in self.catalog.references(name) if table not in together]
        if used and self.statement.args.get("cascade"):
            raise Failed("DROP TABLE ... CASCADE of a table that others refer to is not supported by this database")
        if used:
            lines = "\n".join(
                f"constraint {constraint['name']} on table {table} depends on table {name}"
                for table, constraint in used
            )
            hint = "HINT:  Use DROP ... CASCADE to drop the dependent objects too."
            raise Failed(f"cannot drop table {name} because other objects depend on it\nDETAIL:  {lines}\n{hint}")
        self.catalog.drop(name)

    def _users_first(self, tables):
        """Return tables in an order in which each comes after those that refer to it, as far as there is one."""
        left, ordered = [*tables], []
        while left:
            used = {name for name in left if any(table in left for table, _ in self.catalog.references(name))}
            ordered.append(next((name for name in left if name not in used), left[0]))
            left.remove(ordered[-1])
        return ordered

    def truncate(self):
        self.check_tables()
        names = [expression.name for expression in self.statement.expressions]
        for name in names:
            for user, _ in self.catalog.references(name):
                if user not in names and (self.statement.args.get("option") or "").upper() != "CASCADE":
                    hint = f'HINT:  Truncate table "{user}" at the same time, or use TRUNCATE ... CASCADE.'
                    detail = f'DETAIL:  Table "{user}" references "{name}".'
                    raise Failed(f"cannot truncate a table referenced in a foreign key constraint\n{detail}\n{hint}")
                names += [] if user in names else [user]
        if (self.statement.args.get("identity") or "").upper() == "RESTART":
            for row in self.catalog.sequences.values():
                row["last"] = 0 if row["table"] in names else row["last"]
        return [exp.delete(exp.table_(name, quoted=True)).sql("postgres") for name in self._users_first(names)]

    def alter(self):
        table, actions = self.statement.this.name, self.statement.args["actions"]
        if table not in self.catalog.relations:
            if self.statement.args.get("exists"):
                return []
            raise Failed(f'relation "{table}" does not exist')
        if self.statement.args["kind"].upper() != "TABLE":
            raise Failed(f"ALTER {self.statement.args['kind'].upper()} is not supported by this database")
        texts = []
        for action in actions:
            if self._alter_table(table, action):
                self.statement.set("actions", [action.copy()])
                texts.append(self._with_catalog().sql("postgres"))
        return texts

    def _alter_table(self, table, action):
        """Change the catalog. Return whether SQLite has something to change too."""
        if isinstance(action, exp.ColumnDef):
            if self._has(table, action.name):
                if action.args.get("exists"):
                    return False
                raise Failed(f'column "{action.name}" of relation "{table}" already exists')
            action.set("exists", None)
            self.catalog.add_column(table, action)
        elif isinstance(action, exp.AlterRename):
            _check_name(action.this.name)
            self.catalog.rename(table, action.this.name)
        elif isinstance(action, exp.RenameColumn | exp.Drop | exp.AlterColumn):
            column = action.args["tables"][0] if isinstance(action, exp.Drop) else action.this
            if action.args.get("exists") and not self._has(table, column.name):
                return False
            action.set("exists", None)
            self._check_column(table, column.name)
            relation = self.catalog.relations[table]
            return self._alter_column(relation, self._column(relation, column.name), action)
        else:
            raise Failed(f"ALTER TABLE ... {action.sql('postgres')} is not supported by this database")
        return True

    def _alter_column(self, relation, column, action):
        if isinstance(action, exp.RenameColumn):
            column["name"] = action.args["to"].name
        elif isinstance(action, exp.Drop):
            relation["columns"].remove(column)
        elif action.args.get("dtype"):
            column |= type_of(action.args["dtype"])
        else:
            raise Failed(f"ALTER TABLE ... {action.sql('postgres')} is not supported by this database")
        return not isinstance(action, exp.AlterColumn)

    def _column(self, relation, name):
        return next(column for column in relation["columns"] if column["name"] == name)

    def _at(self, word):
        return place_of(word, self.sql)


DROPPED = {"TABLE": "BASE TABLE", "VIEW": "VIEW", "INDEX": ""}
"""What can be dropped -> its kind in the catalog."""
HANDLERS = {
    exp.Insert: Statement.insert, exp.Update: Statement.update, exp.Delete: Statement.delete,
    exp.Create: Statement.create, exp.Drop: Statement.drop, exp.Alter: Statement.alter,
    exp.TruncateTable: Statement.truncate,
}  # fmt: skip
"""Kind of a statement -> what checks it, and changes the catalog. Returns its columns, or the texts to run instead."""


def _check_name(name):
    if name.startswith(RESERVED):
        raise Failed(f'unacceptable relation name "{name}"\nDETAIL:  The prefix "{RESERVED}" is reserved.')


def position_of(digits, selects):
    """Return the expression at a position of a select list, from 1."""
    position = int(digits) if re.fullmatch("[0-9]{1,9}", digits) else 0
    if not 1 <= position <= len(selects):
        raise Failed(f"GROUP BY position {digits} is not in select list")
    return selects[position - 1].sql()
