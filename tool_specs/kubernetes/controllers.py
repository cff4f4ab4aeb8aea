"""The controllers of the cluster: what follows from a deployment, a set, a job, a service or a namespace."""

from copy import deepcopy
from datetime import timedelta
from hashlib import sha256
from json import dumps

from kinds import KINDS, place
from pods import PULLED, is_ready, number, will_run

from mcp_sim.programs.helpers import new_uuid, stamp

MOST_PODS = 330  # of one set: what three workers hold
REMEMBERED = 10  # events of a resource; the cluster forgets them after an hour anyway
CONSONANTS = "bcdfghjklmnpqrstvwxz2456789"  # what generated names are made of


def add(world, kind, name, namespace="", spec=None, labels=None, owner=None, created=None, **fields):
    """Add a resource with what the API server fills in."""
    spec = deepcopy(spec or {})
    complete(world, kind, name, spec)
    if kind == "Namespace":
        labels = {**(labels or {}), "kubernetes.io/metadata.name": name}
    return world.resource.add(
        path=place(KINDS[kind], namespace, name), kind=kind, name=name, namespace=namespace, uid=new_uuid(world),
        labels=dict(labels or {}), created=created or stamp(world.now), owner=owner, spec=spec, generation=1,
        version=next_version(world), **fields,
    )  # fmt: skip


def complete(world, kind, name, spec):
    """Fill in the fields of a spec that a manifest may leave out."""
    if kind in DEFAULTS:
        DEFAULTS[kind](world, spec, name)


def next_version(world):
    world.cluster["version"] += 1 + world.random.randrange(3)
    return world.cluster["version"]


def touch(world, row):
    row["version"] = next_version(world)
    row["generation"] += 1


# what the API server fills in -----------------------------------------------------------------------------------------


def fill_pod(_world, spec, _name=""):
    for container in spec.get("containers", []):
        latest = ":" not in container.get("image", "").rsplit("/", 1)[-1] or container["image"].endswith(":latest")
        container.setdefault("imagePullPolicy", "Always" if latest else "IfNotPresent")
        container.setdefault("resources", {})
        container.setdefault("terminationMessagePath", "/dev/termination-log")
        container.setdefault("terminationMessagePolicy", "File")
        for port in container.get("ports", []):
            port.setdefault("protocol", "TCP")
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)


def fill_workload(world, spec, _name=""):
    spec.setdefault("replicas", 1)
    fill_pod(world, spec["template"].setdefault("spec", {}))


def fill_deployment(world, spec, name=""):
    fill_workload(world, spec, name)
    spec.setdefault("progressDeadlineSeconds", 600)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault(
        "strategy", {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
    )


def fill_job(world, spec, _name=""):
    spec.setdefault("completions", 1)
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 6)
    template = spec["template"].setdefault("spec", {})
    template.setdefault("restartPolicy", "Never")
    fill_pod(world, template)


def fill_service(world, spec, name=""):
    kind = spec.setdefault("type", "ClusterIP")
    if kind != "ExternalName" and "clusterIP" not in spec:
        address = f"10.96.{world.random.randrange(1, 255)}.{world.random.randrange(1, 255)}"
        spec |= {"clusterIP": address, "clusterIPs": [address]}
    spec.setdefault("internalTrafficPolicy", "Cluster")
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")
    spec.setdefault("sessionAffinity", "None")
    for port in spec.get("ports", []):
        port.setdefault("protocol", "TCP")
        port.setdefault("targetPort", port["port"])
        if kind in ("NodePort", "LoadBalancer"):
            port.setdefault("nodePort", 30000 + number(f"{name}{port['port']}", 2768))


DEFAULTS = {
    "Pod": fill_pod, "Deployment": fill_deployment, "ReplicaSet": fill_workload, "StatefulSet": fill_workload,
    "DaemonSet": lambda world, spec, _name: fill_pod(world, spec["template"].setdefault("spec", {})),
    "Job": fill_job, "Service": fill_service,
}  # fmt: skip


# what follows ---------------------------------------------------------------------------------------------------------


def owned(world, row, kind=None):
    return [child for child in world.resource.find(owner=row["path"]) if kind in (None, child["kind"])]


def suffix(world, length=5):
    return "".join(world.random.choice(CONSONANTS) for _ in range(length))


def template_hash(template):
    digits = int(sha256(dumps(template, sort_keys=True).encode()).hexdigest()[:12], 16)
    letters = ""
    for _ in range(10):
        digits, rest = divmod(digits, len(CONSONANTS))
        letters += CONSONANTS[rest]
    return letters


def settle(world):
    """Let all controllers act until nothing is left to do."""
    for row in world.resource.find(kind="Deployment"):
        settle_deployment(world, row)
    for row in world.resource.find(kind="ReplicaSet"):
        wanted = wanted_pods(row)
        keep_pods(world, row, [f"{row['name']}-{{}}"] * wanted)
    for row in world.resource.find(kind="StatefulSet"):
        settle_named(world, row, [f"{row['name']}-{at}" for at in range(wanted_pods(row))])
    for row in world.resource.find(kind="DaemonSet"):
        settle_daemons(world, row)
    for row in world.resource.find(kind="Job"):
        if not owned(world, row, "Pod"):
            words = {"batch.kubernetes.io/job-name": row["name"], "job-name": row["name"]}
            add_pod(world, row, f"{row['name']}-{suffix(world)}", extra=words)


def wanted_pods(row):
    return max(0, min(int(row["spec"]["replicas"]), MOST_PODS))


def settle_deployment(world, row):
    """Roll out the template: the old pods stay as long as the new ones do not run."""
    hashed, replicas = template_hash(row["spec"]["template"]), wanted_pods(row)
    sets = owned(world, row, "ReplicaSet")
    current = next((child for child in sets if child["labels"]["pod-template-hash"] == hashed), None)
    if current is None:
        current = add_set(world, row, hashed)
        sets = [*sets, current]
    old = [child for child in sets if child is not current and int(child["spec"]["replicas"]) > 0]
    probe = {"name": "", "uid": "", "namespace": row["namespace"], "created": stamp(world.now), "restarts": 0,
             "spec": row["spec"]["template"]["spec"]}  # fmt: skip
    is_stuck = bool(old) and not will_run(world, probe)
    scale_set(world, row, current, 1 if is_stuck and replicas else replicas)
    if old and not is_stuck:  # a rollout is over at once, since nothing happens between two calls
        keep_pods(world, current, [f"{current['name']}-{{}}"] * replicas, stamp(world.now - timedelta(seconds=PULLED)))
    for child in old:
        scale_set(world, row, child, replicas if is_stuck else 0)


def add_set(world, row, hashed):
    template = deepcopy(row["spec"]["template"])
    labels = {**template.setdefault("metadata", {}).get("labels", {}), "pod-template-hash": hashed}
    template["metadata"]["labels"] = labels
    selector = {"matchLabels": {**row["spec"]["selector"].get("matchLabels", {}), "pod-template-hash": hashed}}
    spec = {"replicas": 0, "selector": selector, "template": template}
    name = f"{row['name']}-{hashed}"
    created = row["created"] if world.cluster["begins"] else None
    return add(world, "ReplicaSet", name, row["namespace"], spec, labels, row["path"], created)


def scale_set(world, row, child, replicas):
    before = int(child["spec"]["replicas"])
    if before == replicas:
        return
    child["spec"]["replicas"] = replicas
    direction = "up" if replicas > before else "down"
    report(
        world, row, "ScalingReplicaSet", f"Scaled {direction} replica set {child['name']} from {before} to {replicas}"
    )


def report(world, row, reason, message):
    """Remember what a controller did. An event is a part of its resource, so that it goes with it."""
    event = {"reason": reason, "message": message, "at": stamp(world.now)}
    row["history"] = [*row["history"], event][-REMEMBERED:]


def keep_pods(world, row, names, created=None):
    """Add or delete pods until there are as many as names."""
    pods = owned(world, row, "Pod")
    for name in names[len(pods) :]:
        add_pod(world, row, name.format(suffix(world)), created=created)
    if len(pods) > len(names):
        newest_first = sorted(pods, key=lambda pod: (not is_ready(world, pod), pod["created"]), reverse=True)
        for pod in newest_first[: len(pods) - len(names)]:
            delete(world, pod)


def settle_named(world, row, names):
    """Keep a pod for each name, and replace those of another template."""
    hashed = template_hash(row["spec"]["template"])
    for pod in owned(world, row, "Pod"):
        if pod["name"] not in names or pod["labels"].get("controller-revision-hash") != hashed:
            delete(world, pod)
    for name in names:
        if place(KINDS["Pod"], row["namespace"], name) not in world.resource:
            add_pod(world, row, name, extra={"controller-revision-hash": hashed})


def settle_daemons(world, row):
    hashed, pods = template_hash(row["spec"]["template"]), owned(world, row, "Pod")
    for pod in pods:
        if pod["labels"].get("controller-revision-hash") != hashed:
            delete(world, pod)
    held = {pod["spec"].get("nodeName") for pod in owned(world, row, "Pod")}
    for node in world.resource.find(kind="Node"):
        if node["name"] not in held:
            extra = {"controller-revision-hash": hashed}
            add_pod(world, row, f"{row['name']}-{suffix(world)}", node["name"], extra)


def add_pod(world, row, name, node=None, extra=None, created=None):
    template = row["spec"]["template"]
    labels = {**template.get("metadata", {}).get("labels", {}), **(extra or {})}
    spec = deepcopy(template["spec"])
    if world.cluster["begins"] and created is None:
        created = row["created"]
    pod = add(world, "Pod", name, row["namespace"], spec, labels, row["path"], created=created)
    if not world.cluster["begins"]:
        report(world, row, "SuccessfulCreate", f"Created pod: {name}")
    bind(world, pod, node)
    return pod


def bind(world, pod, node=None):
    """Choose the node of a pod: the one with the fewest pods that its selector allows."""
    wanted = pod["spec"].get("nodeSelector", {})
    nodes = [
        row for row in world.resource.find(kind="Node")
        if not row["spec"].get("unschedulable") and not row["spec"].get("taints")
        and all(row["labels"].get(key) == value for key, value in wanted.items())
    ]  # fmt: skip
    if node is None and nodes:
        counts = {row["name"]: 0 for row in nodes}
        for other in world.resource.find(kind="Pod"):
            if other["spec"].get("nodeName") in counts:
                counts[other["spec"]["nodeName"]] += 1
        node = min(counts, key=lambda name: (counts[name], name))
    if node is not None:
        at = [row["name"] for row in world.resource.find(kind="Node")].index(node)
        world.cluster["address"] += 1
        pod["spec"] = {**pod["spec"], "nodeName": node}
        pod["address"] = f"10.244.{at}.{world.cluster['address'] % 250 + 2}"


def delete(world, row):
    """Delete a resource and what belongs to it."""
    for child in owned(world, row):
        delete(world, child)
    if row["kind"] == "Namespace":
        for inner in world.resource.find(namespace=row["name"]):
            if inner["path"] in world.resource:
                delete(world, inner)
    if row["path"] in world.resource:
        world.resource.delete(row["path"])
