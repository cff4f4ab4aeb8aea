"""The failures of the simulated PostgreSQL: what SQLite refuses, in the words of PostgreSQL."""

import re

from catalog import count_rows, place_of, pointer
from sqlglot import exp
from values import stored_text

from mcp_sim.libraries.sql import SqlError


def explained(world, catalog, statement, sql, message):
    """Return PostgreSQL's message for a failure of SQLite; that of SQLite if what it says of the rows fails too."""
    try:
        return _explained(world, catalog, statement, sql, message)
    except SqlError:
        return message


def _explained(world, catalog, statement, sql, message):
    failed = re.search(r"(?P<kind>UNIQUE|NOT NULL|CHECK|FOREIGN KEY) constraint failed(?:: (?P<what>.*))?", message)
    target = statement.find(exp.Table)
    table = target.name if target else ""
    if failed:
        explain = {"UNIQUE": _duplicate, "NOT NULL": _missing, "CHECK": _check, "FOREIGN KEY": _foreign}[failed["kind"]]
        return explain(world, catalog, statement, table, failed["what"] or "")
    if match := re.search(r"no such column: (\S+)", message):
        name, tables = match[1], {used.alias_or_name for used in statement.find_all(exp.Table)}
        if "." in name and name.partition(".")[0] not in tables:
            return f'missing FROM-clause entry for table "{name.partition(".")[0]}"{place_of(name, sql)}'
        shown = f"column {name}" if "." in name else f'column "{name}"'
        return f"{shown} does not exist{place_of(name, sql)}"
    if match := re.search(r"no such table: ([^;\s]+)", message):
        return f'relation "{match[1]}" does not exist{place_of(match[1], sql)}'
    if match := re.search(r"no such function: (\w+)", message):
        return _no_function(statement, sql, match[1].lower())
    return message


def _no_function(statement, sql, name):
    call = next((function for function in statement.find_all(exp.Anonymous) if function.name.lower() == name), None)
    given = call.expressions if call else []
    shown = ["integer" if argument.is_int else "numeric" if argument.is_number else "unknown" for argument in given]
    at = max(sql.lower().find(name), 0)
    hint = "HINT:  No function matches the given name and argument types. You might need to add explicit type casts."
    return f"function {name}({', '.join(shown)}) does not exist{pointer(sql, at)}\n{hint}"


def _given(catalog, statement, table):
    """Return the rows that an INSERT gives: name -> value, with the defaults; none of other statements."""
    source = statement.expression if isinstance(statement, exp.Insert) else None
    if not isinstance(source, exp.Values):
        return []
    columns = catalog.table(table)["columns"]
    names = [expression.name for expression in statement.this.expressions] or [column["name"] for column in columns]
    rows = []
    for row in source.expressions:
        given = dict(zip(names, row.expressions, strict=False))
        rows.append({column["name"]: _value(given, column, catalog, table) for column in columns})
    return rows


def _value(given, column, catalog, table):
    name = column["name"]
    if name in given:
        value = given[name]
        return (
            None
            if isinstance(value, exp.Null)
            else value.name
            if isinstance(value, exp.Literal)
            else value.sql("postgres")
        )
    sequence = catalog.sequence_of(table, name)
    if sequence is not None:
        return sequence["last"]
    default = column["default"]
    return None if default is None else default.partition("::")[0].strip("'")


def _contains(catalog, statement, table, is_wrong):
    columns = catalog.table(table)["columns"]
    row = next((row for row in _given(catalog, statement, table) if is_wrong(row)), None)
    if row is None:
        return ""
    values = ", ".join(stored_text(row[column["name"]], column) for column in columns)
    return f"\nDETAIL:  Failing row contains ({values})."


def _missing(world, catalog, statement, table, what):
    column = what.rpartition(".")[2]
    detail = _contains(catalog, statement, table, lambda row: row[column] is None)
    detail = detail or _updated_row(world, catalog, statement, table)
    return f'null value in column "{column}" of relation "{table}" violates not-null constraint{detail}'


def _check(world, catalog, statement, table, what):
    detail = _contains(catalog, statement, table, lambda _: True) or _updated_row(world, catalog, statement, table)
    return f'new row for relation "{table}" violates check constraint "{what}"{detail}'


def _updated_row(world, catalog, statement, table):
    """Return the first row as an UPDATE would have left it."""
    if not isinstance(statement, exp.Update):
        return ""
    columns = catalog.table(table)["columns"]
    changed = {assigned.this.name: assigned.expression for assigned in statement.expressions}
    names = [column["name"] for column in columns]
    shown = [exp.alias_(changed[name].copy(), name) if name in changed else exp.column(name) for name in names]
    query = exp.select(*shown).from_(table)
    if statement.args.get("where"):
        query = query.where(statement.args["where"].this.copy())
    rows = world.sql.run(query.limit(1).sql("postgres"), dialect="postgres").rows
    if not rows:
        return ""
    [row] = rows
    values = ", ".join(stored_text(row[column["name"]], column) for column in columns)
    return f"\nDETAIL:  Failing row contains ({values})."


def _duplicate(world, catalog, statement, table, what):
    names = [column.rpartition(".")[2] for column in what.split(", ")]
    known = catalog.table(table)["constraints"]
    name = next(
        (
            constraint["name"]
            for constraint in known
            if constraint["columns"] == names and constraint["type"] != "FOREIGN KEY"
        ),
        None,
    )
    if name is None:
        indexes = (
            index["name"] for index in catalog.table(table)["indexes"] if f"({', '.join(names)})" in index["definition"]
        )
        name = next(indexes, "_".join([table, *names, "idx"]))
    message = f'duplicate key value violates unique constraint "{name}"'
    for row in _given(catalog, statement, table):
        if count_rows(world, table, {column: row[column] for column in names}):
            values = ", ".join(str(row[column]) for column in names)
            return f"{message}\nDETAIL:  Key ({', '.join(names)})=({values}) already exists."
    return message


def _foreign(world, catalog, statement, table, _what):
    for row in _given(catalog, statement, table):
        for constraint in catalog.table(table)["constraints"]:
            target, values = constraint["target"], [row[column] for column in constraint["columns"]]
            if (
                target
                and None not in values
                and not count_rows(world, target["table"], dict(zip(target["columns"], values, strict=True)))
            ):
                shown = f"Key ({', '.join(constraint['columns'])})=({', '.join(map(str, values))}) is not present"
                message = f'insert or update on table "{table}" violates foreign key constraint "{constraint["name"]}"'
                return f'{message}\nDETAIL:  {shown} in table "{target["table"]}".'
    return _still_used(world, catalog, statement, table) or _new_value(catalog, statement, table)


def _still_used(world, catalog, statement, table):
    where = statement.args.get("where")
    for user, constraint in catalog.references(table) if isinstance(statement, exp.Delete) else ():
        own, other = constraint["target"]["columns"], constraint["columns"]
        chosen = exp.select(*own).from_(table)
        chosen = chosen.where(where.this.copy()) if where else chosen
        used = exp.select(*other).from_(user).subquery()
        chosen = chosen.where(exp.In(this=exp.Tuple(expressions=[exp.column(name) for name in own]), query=used))
        for row in world.sql.run(chosen.limit(1).sql("postgres"), dialect="postgres").rows:
            broken = f'violates foreign key constraint "{constraint["name"]}" on table "{user}"'
            message = f'update or delete on table "{table}" {broken}'
            shown = f"Key ({', '.join(own)})=({', '.join(map(str, row.values()))}) is still referenced"
            return f'{message}\nDETAIL:  {shown} from table "{user}".'
    return ""


def _new_value(catalog, statement, table):
    changed = {
        expression.this.name: expression.expression
        for expression in statement.expressions
        if isinstance(expression, exp.EQ)
    }
    for constraint in catalog.table(table)["constraints"]:
        if constraint["target"] and set(constraint["columns"]) <= changed.keys():
            message = f'insert or update on table "{table}" violates foreign key constraint "{constraint["name"]}"'
            values = ", ".join(changed[column].name for column in constraint["columns"])
            shown = f"Key ({', '.join(constraint['columns'])})=({values}) is not present"
            return f'{message}\nDETAIL:  {shown} in table "{constraint["target"]["table"]}".'
    return f'update or delete on table "{table}" violates a foreign key constraint'
