"""A simulated SQLite database with the tools of the reference server. Failures are ordinary results, as there."""

from library_shop import STATEMENTS

from mcp_sim.libraries.sql import SqlError, first_word
from mcp_sim.programs import Refused, initial, invalid_arguments, resource, tool

tables = {
    "insight": {"ids": 1, "fields": {"text": ""}},
    "authors": {"natural": True, "fields": {"id": 0, "name": "", "country": ""}},
    "books": {
        "key": "isbn", "natural": True, "links": {"author_id": "authors"},
        "fields": {"isbn": "", "title": "", "author_id": 0, "year": 0, "price": 0.5, "stock": 0},
    },
    "members": {"natural": True, "fields": {"id": 0, "name": "", "email": "", "joined": ""}},
    "sales": {
        "natural": True, "links": {"isbn": "books", "member_id": "members"},
        "fields": {"id": 0, "isbn": "", "member_id": 0, "quantity": 0, "sold_on": ""},
    },
}  # fmt: skip

COUNTED = ("INSERT", "UPDATE", "DELETE")
DEFINING = ("CREATE", "DROP", "ALTER")


@initial
def begin(given, world):
    """Create the given tables, else those of a bookshop."""
    if not world.sql.load(given):
        for statement in STATEMENTS:
            world.sql.run(statement)


def answered(run):
    """Return what SQLite returns, as Python shows it; its failures are results too."""
    try:
        return str(run())
    except SqlError as error:
        return f"Database error: {error}"


@tool(reads=True, verb="search", entity="books")
def read_query(world, query):
    if not query.strip().upper().startswith("SELECT"):
        return "Error: Only SELECT queries are allowed for read_query"
    return answered(lambda: world.sql.run(query).rows)


@tool(verb="update", entity="books")
def write_query(world, query):
    if query.strip().upper().startswith("SELECT"):
        return "Error: SELECT queries are not allowed for write_query"

    def run():
        result, word = world.sql.run(query), first_word(query)
        if word in (*COUNTED, *DEFINING):
            return [{"affected_rows": result.affected if word in COUNTED else -1}]
        return result.rows

    return answered(run)


@tool(verb="create", entity="sql_table")
def create_table(world, query):
    if not query.strip().upper().startswith("CREATE TABLE"):
        return "Error: Only CREATE TABLE statements are allowed"
    return answered(lambda: world.sql.run(query) and "Table created successfully")


@tool(reads=True, verb="list", entity="sql_table")
def list_tables(world):
    known = world.sql.tables
    counted = [name for name, statement in known.items() if "AUTOINCREMENT" in statement.upper()]
    names = [*known]
    if counted:  # SQLite makes this table with the first one whose numbers are never used again
        names.insert(names.index(counted[0]) + 1, "sqlite_sequence")
    return str([{"name": name} for name in names])


@tool(reads=True, verb="get", entity="sql_table", key="table_name")
def describe_table(world, table_name):
    # The server puts the name into the statement as it is, so that some names are syntax errors.
    return answered(lambda: world.sql.run(f"PRAGMA table_info({table_name})").rows)


@tool(verb="create", entity="insight")
def append_insight(world, insight):
    world.insight.add(text=insight)
    return "Insight added to memo"


@invalid_arguments
def invalid(_world, _tool, _arguments, problems):
    return Refused(f"Input validation error: {problems[0]}")


@resource("memo://insights", name="Business Insights Memo", mime_type="text/plain")
def memo(world):
    """A living document of discovered business insights."""
    insights = [row["text"] for row in world.insight]
    if not insights:
        return "No business insights have been discovered yet."
    lines = ["📊 Business Intelligence Memo 📊", "", "Key Insights Discovered:", ""]
    lines += [f"- {text}" for text in insights]
    if len(insights) > 1:
        lines += ["", "Summary:", f"Analysis has revealed {len(insights)} key business insights."]
    return "\n".join(lines)
