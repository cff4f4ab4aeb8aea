"""The example for several hosts: its files agree, and a world stays with its simulator, also when another dies."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from support.http_deals import DEAL
from support.over_http import ERAS, Caller, listening
from support.places import ROOT

HOSTS = ROOT / "examples" / "hosts"
TEMPLATE = HOSTS / "nginx.conf.template"
SERVER = re.compile(r"server (mcp-sim-\d+)\$\{MCP_SIM_DOMAIN\}:8000 (max_fails=0) resolve;")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
ALL_CREATED = 3


def test_the_files_name_the_same_simulators() -> None:
    names = [name for name, _ in SERVER.findall(TEMPLATE.read_text(encoding="utf-8"))]
    services = yaml.safe_load((HOSTS / "compose.yml").read_text(encoding="utf-8"))["services"]
    assert [name for name in services if name != "router"] == names
    objects = list(yaml.safe_load_all((HOSTS / "kubernetes.yml").read_text(encoding="utf-8")))
    [simulators] = [found for found in objects if found["kind"] == "StatefulSet"]
    assert [f"{simulators['metadata']['name']}-{n}" for n in range(simulators["spec"]["replicas"])] == names
    kustomization = yaml.safe_load((HOSTS / "kustomization.yml").read_text(encoding="utf-8"))
    assert kustomization["resources"] == ["kubernetes.yml"]
    assert kustomization["configMapGenerator"] == [{"name": "router", "files": [TEMPLATE.name]}]
    for router in (services["router"]["environment"], environment(objects)):
        assert {"MCP_SIM_DOMAIN", "NGINX_ENTRYPOINT_LOCAL_RESOLVERS", "NGINX_ENVSUBST_OUTPUT_DIR"} <= set(router)


def environment(objects: Sequence[Any]) -> list[str]:
    """Return the names of the variables of the router in Kubernetes."""
    [router] = [found for found in objects if found["kind"] == "Deployment"]
    return [variable["name"] for variable in router["spec"]["template"]["spec"]["containers"][0]["env"]]


@pytest.mark.skipif(NGINX is None, reason="needs nginx")
async def test_a_world_always_meets_the_same_simulator_and_never_begins_again(tmp_path: Path) -> None:
    with ExitStack() as stack:
        simulators = [stack.enter_context(listening("calm_crm", "--clock", "virtual")) for _ in range(3)]
        url = stack.enter_context(routed(tmp_path, [served.port for served in simulators]))
        worlds = [f"world{number}" for number in range(24)]
        for created in range(1, ALL_CREATED + 1):
            assert {name: await deals_after_another(url, name) for name in worlds} == dict.fromkeys(worlds, created)
        simulators[1].end(signal.SIGKILL)
        later = {name: await deals_after_another(url, name) for name in worlds}
        assert set(later.values()) == {502, ALL_CREATED + 1}
        again = {name: await deals_after_another(url, name) for name in worlds}
        assert {name for name in worlds if again[name] == 502} == {name for name in worlds if later[name] == 502}
        async with httpx2.AsyncClient() as client:
            assert (await client.get(f"{url}/mcp")).status_code == 404


async def deals_after_another(url: str, world: str) -> int:
    """Create a deal in a world, over a new connection. Return how many it has now, or the status of a failure."""
    async with httpx2.AsyncClient(timeout=60) as client:
        caller = Caller(f"{url}/w/{world}/mcp", ERAS[1], client)
        response = await caller.post("tools/call", {"name": "create_deal", "arguments": DEAL})
        if response.status_code != 200:
            return response.status_code
        answer = await caller.call("list_deals", {"contact_id": DEAL["contact_id"], "limit": 50})
        deals = answer["result"]["structuredContent"]["deals"]
        return sum(deal["title"] == DEAL["title"] for deal in deals)


@contextmanager
def routed(folder: Path, ports: Sequence[int]) -> Generator[str]:
    """Yield the URL of nginx with the shipped template, in front of simulators at these ports of this machine."""
    assert NGINX is not None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    remaining = iter(ports)
    text = SERVER.sub(
        lambda found: f"server 127.0.0.1:{next(remaining)} {found[2]};", TEMPLATE.read_text(encoding="utf-8")
    )
    text = re.sub(r" *resolver .*", "", text).replace("listen 8000;", f"listen 127.0.0.1:{port};")
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    command = [NGINX, "-c", folder / "nginx.conf", "-e", "stderr", "-g", f"daemon off; pid {folder}/pid;"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            transport = httpx2.HTTPTransport(retries=8)  # it listens soon
            with httpx2.Client(transport=transport) as client:
                assert client.get(f"{url}/health").status_code == 200
            yield url
        finally:
            process.terminate()
