"""Compare mcp-sim over HTTP with moto, a stateful fake of AWS: a get, a create, and a list of 20 records.

    python benchmarks/neighbours/beside_moto.py MOTO_SERVER [--quick]

MOTO_SERVER is the command of that name, of moto[server,dynamodb] in an environment of its own. moto gets, puts and
scans items of a DynamoDB table; it speaks no MCP, and closes a connection after each response. Both are measured in
turns, as by `over_http.py`; the ratios are to moto. Its processor time is counted in hundredths of a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from over_http import CONNECTIONS, Figures, measure, row
from raw_client import ERAS
from raw_http import Connection, Listening, start_server
from sides import CALLS, OURS, open_sides
from table import print_table

TABLE: dict[str, Any] = {
    "TableName": "records",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
OPERATIONS = {"get_contact": "GetItem", "create_deal": "PutItem", "search_contacts": "Scan"}


class Threaded(Listening):
    """A server with a thread for each connection."""

    def cpu_seconds(self) -> float:
        """Return processor seconds so far, also of threads that have ended, to the hundredth (Linux)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class AwsConnection(Connection):
    """Connections to a DynamoDB of moto, one after the other: moto closes each after its response."""

    async def open(self) -> None:
        """Connect when there is something to send."""

    async def exchange(self, request: bytes) -> bytes:
        self._from, self._to = await asyncio.open_connection("127.0.0.1", self._port)
        body = await super().exchange(request)
        self._to.close()
        return body

    async def close(self) -> None:
        """All connections are closed."""

    def encode_call(self, tool: str, arguments: dict[str, Any]) -> bytes:
        """Return the operation on items that is nearest to a call."""
        key = {"id": {"S": "con_00001"}}
        options: dict[str, dict[str, Any]] = {
            "GetItem": {"Key": key},
            "PutItem": {"Item": item(arguments | {"id": arguments.get("title", "")})},
            "Scan": {"Limit": 20},
        }
        return self.encode_operation(OPERATIONS[tool], {"TableName": "records", **options[OPERATIONS[tool]]})

    def encode_operation(self, operation: str, options: dict[str, Any]) -> bytes:
        body = json.dumps(options).encode()
        head = [
            "POST / HTTP/1.1",
            f"host: 127.0.0.1:{self._port}",
            f"x-amz-target: DynamoDB_20120810.{operation}",
            "content-type: application/x-amz-json-1.0",
            "authorization: AWS4-HMAC-SHA256 Credential=a/20300101/us-east-1/dynamodb/aws4_request",
            f"content-length: {len(body)}",
        ]
        return "\r\n".join([*head, "", ""]).encode() + body

    def check_result(self, body: bytes) -> None:
        """Accept every response: a failure has another status."""


def item(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record as an item, with texts for all values."""
    return {name: {"S": value if isinstance(value, str) else json.dumps(value)} for name, value in record.items()}


async def fill(server: Listening, records: list[dict[str, Any]]) -> None:
    """Make the table and put the records into it."""
    connection = AwsConnection(server.port, "/", "")
    await connection.open()
    await connection.exchange(connection.encode_operation("CreateTable", TABLE))
    for record in records:
        await connection.exchange(
            connection.encode_operation("PutItem", {"TableName": "records", "Item": item(record)})
        )
    await connection.close()


def main(moto_server: str, *, quick: bool) -> None:
    rounds, calls = (2, 40) if quick else (5, 320)
    with open_sides() as sides:
        records = [sides.results["get_contact"], *sides.results["search_contacts"]["contacts"]]
        ours = sides.ours("--http", "127.0.0.1:0")
        with start_server([moto_server, "-p", "0"]) as moto, start_server(ours) as own:
            asyncio.run(fill(moto, records))
            other = Threaded(moto.pid, moto.port)
            rows = list[list[str]]()
            for kind, call in CALLS.items():
                worlds = [f"/w/{kind.replace(' ', '-')}-{n}/mcp" for n in range(CONNECTIONS)]
                taken: tuple[list[Figures], list[Figures]] = ([], [])
                size = [0, 0]
                for _ in range(rounds):
                    there, size[0] = asyncio.run(measure(other, worlds, "", call, calls, AwsConnection))
                    here, size[1] = asyncio.run(measure(own, worlds, ERAS[1], call, calls))
                    taken[0].append(there)
                    taken[1].append(here)
                rows += [
                    row(f"{kind}, {name}", of, taken[0], bytes_)
                    for name, of, bytes_ in zip(("moto", OURS), taken, size, strict=True)
                ]
    head = ["", "bytes", "us CPU per call", "ratio", "us per call", "ratio", "ms p50", "ratio"]
    print_table(f"Calls over HTTP, {rounds} rounds of {calls} calls, {CONNECTIONS} connections", head, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("moto_server", metavar="MOTO_SERVER")
    parser.add_argument("--quick", action="store_true", help="small counts, to check that it runs")
    args = parser.parse_args()
    main(args.moto_server, quick=args.quick)
