"""A Kubernetes cluster: controllers act on what is applied, and pods show why they do not run."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any
SHOP = {"namespace": "shop"}
CHECKOUT = {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "checkout"}
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, labels: {{tier: front}}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers: [{{name: web, image: "{image}"{more}}}]
"""


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("kubernetes")).open() as opened:
        yield opened


async def ask(world: World, tool: str, **arguments: Json) -> str:
    answer = value(await world.call(tool, arguments))
    return answer if isinstance(answer, str) else str(answer)


async def apply(world: World, manifest: str) -> str:
    return await ask(world, "resources_create_or_update", resource=manifest)


async def web(world: World, replicas: int = 2, image: str = "nginx:1.29", more: str = "") -> str:
    return await apply(world, WEB.format(replicas=replicas, image=image, more=more))


async def pods(world: World, selector: str = "app=web", **where: Json) -> list[list[str]]:
    text = await ask(world, "pods_list_in_namespace", **({"namespace": "default"} | where), labelSelector=selector)
    return [line.split() for line in text.splitlines()[1:]]


async def test_pods_follow_their_deployment(world: World) -> None:
    await web(world)
    starting = await pods(world)
    assert [row[5] for row in starting] == ["ContainerCreating"] * 2
    await ask(world, "namespaces_list")
    assert [row[4:6] for row in await pods(world)] == [["1/1", "Running"]] * 2
    await ask(world, "pods_delete", name=starting[0][3])
    replaced = {row[3] for row in await pods(world)}
    assert (len(replaced), starting[0][3] in replaced, starting[1][3] in replaced) == (2, False, True)
    scale = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    assert "replicas: 5" in await ask(world, "resources_scale", **scale, scale=5)
    assert len(await pods(world)) == 5
    await ask(world, "resources_delete", **scale)
    assert await pods(world) == []
    sets = await ask(world, "resources_list", apiVersion="apps/v1", kind="ReplicaSet", namespace="default")
    assert "web" not in sets


async def test_a_rollout_replaces_pods_unless_the_new_ones_cannot_run(world: World) -> None:
    await web(world)
    before = {row[3] for row in await pods(world)}
    await web(world, image="registry.teahouse.example/storefront:9.9.9")
    stuck = await pods(world)
    assert before < {row[3] for row in stuck}
    assert [row[5] for row in stuck if row[3] not in before] == ["ContainerCreating"]
    await web(world, image="registry.teahouse.example/storefront:3.12.0")
    assert [row[5] for row in await pods(world)] == ["Running", "Running"]
    assert not before & {row[3] for row in await pods(world)}


async def test_the_failed_rollout_of_the_shop_is_explained_and_can_be_mended(world: World) -> None:
    (broken,) = [row for row in await pods(world, "app=checkout", **SHOP) if row[5] != "Running"]
    assert broken[5] == "ImagePullBackOff"
    assert "is waiting to start: trying and failing to pull image" in message(
        await world.call("pods_log", SHOP | {"name": broken[3]})
    )
    events = await ask(world, "events_list", **SHOP, fieldSelector=f"involvedObject.name={broken[3]},type=Warning")
    assert "checkout:1.8.3: not found" in events
    await apply(
        world,
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: checkout, namespace: shop}\nspec: {template: {spec: "
        "{containers: [{name: checkout, image: registry.teahouse.example/checkout:1.8.2}]}}}",
    )
    shown = await ask(world, "resources_get", **CHECKOUT)
    assert ("DATABASE_URL" in shown, "checkout-config" in shown) == (True, True)
    assert {row[5] for row in await pods(world, "app=checkout", **SHOP)} == {"Running"}


async def test_a_program_without_its_setting_crashes_until_the_config_map_has_it(world: World) -> None:
    (mailer,) = await pods(world, "app=mailer", **SHOP)
    assert mailer[5] == "CrashLoopBackOff"
    assert "FATAL SMTP_HOST is not set" in await ask(world, "pods_log", **SHOP, name=mailer[3])
    await apply(
        world,
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mailer-config, namespace: shop}\n"
        "data: {SMTP_HOST: smtp.example}",
    )
    (mailer,) = await pods(world, "app=mailer", **SHOP)
    assert mailer[5] == "Running"
    assert "smtp.example" in await ask(world, "pods_exec", **SHOP, name=mailer[3], command=["printenv", "SMTP_HOST"])


async def test_applying_again_removes_what_is_left_out_and_keeps_what_others_set(world: World) -> None:
    cm = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: storefront-config, namespace: shop}}\ndata: {{{}}}"
    await apply(world, cm.format("BANNER: sale, FOOTER: hello"))
    again = await apply(world, cm.format("FOOTER: hello"))
    assert ("BANNER" in again, "THEME: spring" in again) == (False, True)
    version = re.search(r"resourceVersion: \S+", again)
    assert version
    assert version[0] in await apply(world, cm.format("FOOTER: hello"))


async def test_a_run_pod_with_a_port_goes_together_with_its_service(world: World) -> None:
    text = await ask(world, "pods_run", image="nginx:1.29", name="probe", port=80)
    assert ("kind: Service" in text, "targetPort: 80" in text) == (True, True)
    services = {"apiVersion": "v1", "kind": "Service", "namespace": "default"}
    assert "probe" in await ask(world, "resources_list", **services)
    await ask(world, "pods_delete", name="probe")
    assert "probe" not in await ask(world, "resources_list", **services)


async def test_what_is_deleted_with_a_namespace_is_gone(world: World) -> None:
    await ask(world, "resources_delete", apiVersion="v1", kind="Namespace", name="shop")
    assert " shop " not in await ask(world, "pods_list")
    assert await ask(world, "pods_list_in_namespace", namespace="shop") == ""
    refused = await world.call("resources_create_or_update", {"resource": "apiVersion: v1\nkind: ConfigMap\nmetadata: "
                                                              "{name: x, namespace: shop}"})  # fmt: skip
    assert message(refused) == 'failed to create or update resources: namespaces "shop" not found'


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("pods_get", {}, "failed to get pod: name parameter required"),
        ("pods_get", {"name": 5}, "failed to get pod: name parameter must be a string"),
        ("pods_get", {"name": "x"}, 'failed to get pod x in namespace : pods "x" not found'),
        ("resources_get", {"apiVersion": "v1", "name": "x"}, "failed to get resource, missing argument kind"),
        ("resources_get", CHECKOUT | {"name": "x"}, 'failed to get resource: deployments.apps "x" not found'),
        ("resources_list", {"apiVersion": "v2", "kind": "Pod"},
         'failed to list resources: no matches for kind "Pod" in version "v2"'),
        ("resources_scale", {"apiVersion": "v1", "kind": "Service", "name": "cart", **SHOP},
         "failed to get/update resource scale: the server could not find the requested resource"),
        ("pods_list", {"fieldSelector": "spec.color=red"}, "field label not supported: spec.color"),
        ("resources_create_or_update", {"resource": "a: 1"}, "Object 'Kind' is missing in '{\"a\":1}'"),
        ("resources_create_or_update", {"resource": WEB.format(replicas=1, image="x", more="").replace(
            "labels: {app: web}", "labels: {app: other}")}, "`selector` does not match template `labels`"),
        ("nodes_log", {"name": "worker-9", "query": "kubelet"}, 'nodes "worker-9" not found'),
    ],
)  # fmt: skip
async def test_what_cannot_be_is_refused_as_the_server_says(
    tool: str, arguments: Json, text: str, world: World
) -> None:
    assert text in message(await world.call(tool, arguments))
    assert not world.ledger.steps[-1]["committed"]


async def test_empty_scripts_print_nothing_and_a_log_has_an_end(world: World) -> None:
    name = next(line.split()[3] for line in (await ask(world, "pods_list")).splitlines() if " catalog-" in line)
    assert "not produced any output" in await ask(world, "pods_exec", **SHOP, name=name, command=["sh", "-c", ""])
    failed = await world.call("pods_exec", SHOP | {"name": name, "command": ["sh", "-c"]})
    assert "exit code 2" in message(failed)
    assert len((await ask(world, "pods_log", **SHOP, name=name, tail=1e9)).splitlines()) == 10_000


async def test_usage_and_statistics_agree_about_a_node(world: World) -> None:
    top = await ask(world, "nodes_top", name="worker-2")
    cpu = re.search(r"worker-2\s+(\d+)m", top)
    assert cpu
    assert f'"usageNanoCores": {cpu[1]}000000' in await ask(world, "nodes_stats_summary", name="worker-2")


async def test_given_resources_and_images_extend_the_cluster(tmp_path: Any) -> None:
    (tmp_path / "given.yaml").write_text(
        "mcp_sim: 1\nname: given\ntools: kubernetes\nworld:\n  state:\n    images: {quiz: ['1.0']}\n    resources:\n"
        "      - {apiVersion: v1, kind: Pod, metadata: {name: quiz}, spec: {containers: [{name: quiz, image: "
        "'registry.teahouse.example/quiz:1.0'}]}}\n"
    )
    async with Simulator.load(tmp_path / "given.yaml").open() as world:
        await ask(world, "namespaces_list")
        assert "phase: Running" in await ask(world, "pods_get", name="quiz")
