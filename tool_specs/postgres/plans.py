"""Plans of the simulated PostgreSQL, as EXPLAIN estimates them: scans, joins, aggregates, sorting, limits."""

import re

from catalog import Failed, count_rows, place_of
from scripts import SESSION, parsed, split
from sqlglot import exp
from statements import Statement, run

from mcp_sim.libraries.sql import SqlError

PREFIX = {False: "EXPLAIN (FORMAT JSON) ", True: "EXPLAIN (FORMAT JSON, ANALYZE) "}
SELECTIVITY = 3
"""One in so many rows meets a condition, if nothing else is known."""


def plan_of(world, catalog, sql, *, analyze=False):
    """Return the plan of a statement as text. Raises `Failed` as running it would."""
    full = PREFIX[analyze] + sql
    pieces = split(sql)
    if not pieces:
        raise Failed("syntax error at end of input")
    word, text, at = pieces[0]
    if word in SESSION:
        raise Failed(f'syntax error at or near "{word}"{place_of(word, full)}')
    statement = parsed(sql, text, at)
    Statement(catalog, statement.copy(), full).prepared()
    rows = run(world, sql) if analyze else None
    try:
        lines = _lines(world, catalog, statement)
    except SqlError as refusal:
        raise Failed(str(refusal)) from None
    if not analyze:
        return "\n".join(lines)
    spent = 0.02 * len(lines)
    lines[0] += f" [Actual: 0.01..{spent:.2f} ms, Rows: {len(rows or ())}, Loops: 1]"
    return "\n".join([f"Planning Time: {0.1 + spent:.3f} ms", f"Execution Time: {spent + 0.02:.3f} ms", *lines])


def _lines(world, catalog, statement):
    """Return the lines of a plan, from the outermost step to the scans."""
    if isinstance(statement, exp.Select):
        return _rendered(_select(world, catalog, statement))
    table, where = statement.find(exp.Table), statement.args.get("where")
    if isinstance(statement, exp.Insert) or table is None:
        return _rendered([("ModifyTable", "", 1, 0.0, 0.01, "", []), ("Result", "", 1, 0.0, 0.01, "", [])])
    scan = _scan(world, catalog, table, where)
    return _rendered([("ModifyTable", table.name, 0, 0.0, scan[4], "", []), scan])


def _rendered(steps):
    lines = []
    for depth, (name, table, rows, start, cost, condition, siblings) in enumerate(steps):
        indent = "  " * depth
        where = f" on {table}" if table else ""
        lines.append(f"{indent}→ {name} (Cost: {start:.2f}..{cost:.2f}){where} [Rows: {rows}]")
        if condition:
            lines.append(f"{indent}  Filter: {condition}")
        lines += [f"  {'  ' * depth}{line}" for sibling in siblings for line in _rendered([sibling])]
    return lines


def _select(world, catalog, query):
    """Return the steps of a query, the last one first: name, table, rows, costs, condition and other inputs."""
    source, joins = query.args.get("from_"), query.args.get("joins") or []
    if source is None or not isinstance(source.this, exp.Table):
        return [("Result", "", 1, 0.0, 0.01, "", [])]
    inner = _scan(world, catalog, source.this, query.args.get("where"), is_alone=not joins)
    rows, cost, steps = inner[2], inner[4], [inner]
    for join in joins:
        if isinstance(join.this, exp.Table):
            other = _scan(world, catalog, join.this, None, is_alone=False)
            rows, cost = max(rows, other[2]), cost + other[4] + 1
            steps = [("Hash Join", "", rows, other[4], cost, "", [other]), *steps]
    group, is_total = (
        query.args.get("group"),
        any(isinstance(select.unalias(), exp.AggFunc) for select in query.selects),
    )
    if group or is_total:
        rows, cost = (max(rows // SELECTIVITY, 1) if group else 1), cost + 0.01 * rows
        steps = [("Aggregate", "", rows, cost, cost + 0.01, "", []), *steps]
    if query.args.get("order"):
        cost += 0.02 * rows
        steps = [("Sort", "", rows, cost, cost + 0.01, "", []), *steps]
    limit = query.args.get("limit")
    if limit is not None and re.fullmatch("[0-9]{1,18}", limit.expression.name):
        steps = [("Limit", "", min(rows, int(limit.expression.name)), cost, cost + 0.01, "", []), *steps]
    return steps


def _scan(world, catalog, table, where, *, is_alone=True):
    """Return the scan of a table: by an index if one column that has one must be equal to a value."""
    known = catalog.table(table.name)
    count = count_rows(world, table.name) if known["columns"] else 1
    cost = 1 + 0.01 * count
    if where is None or not is_alone:
        return ("Seq Scan", table.name, count, 0.0, cost, "", [])
    condition = where.this
    if isinstance(condition, exp.EQ) and isinstance(condition.this, exp.Column):
        column = condition.this.name
        index = next((definition for definition in known["indexes"] if f"({column}" in definition["definition"]), None)
        if index is not None:
            rows = 1 if "UNIQUE" in index["definition"] else max(count // SELECTIVITY, 1)
            return ("Index Scan", table.name, rows, 0.15, 8.17, "", [])
    shown = condition.sql("postgres")
    for column in known["columns"]:
        if column["type"] in ("numeric", "text", "date"):
            shown = re.sub(rf"(\b{re.escape(column['name'])}\b \S+ )'?([\w.-]+)'?", rf"\1'\2'::{column['type']}", shown)
    return ("Seq Scan", table.name, max(count // SELECTIVITY, 1), 0.0, cost + 0.0025 * count, f"({shown})", [])
