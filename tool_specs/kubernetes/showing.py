"""Resources as manifests and as the tables of kubectl."""

from copy import deepcopy
from datetime import datetime, timedelta

import yaml
from controllers import owned
from kinds import KINDS
from pods import age, is_ready, moment, number, state


class GoDumper(yaml.SafeDumper):
    """Writes YAML as the Go library of Kubernetes does."""


def text_node(dumper, text):
    is_plain = dumper.resolve(yaml.ScalarNode, text, (True, False)) == "tag:yaml.org,2002:str"
    style = "|" if "\n" in text else None if is_plain else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


GoDumper.add_representer(str, text_node)


def as_yaml(value):
    return yaml.dump(value, Dumper=GoDumper, sort_keys=True, allow_unicode=True, width=10**6)


# manifests ------------------------------------------------------------------------------------------------------------


def manifest(world, row):
    """Return a resource as the API server shows it."""
    kind = KINDS[row["kind"]]
    metadata = {"creationTimestamp": row["created"], "name": row["name"], "resourceVersion": str(row["version"]),
                "uid": row["uid"]}  # fmt: skip
    if kind.is_namespaced:
        metadata["namespace"] = row["namespace"]
    for field in ("labels", "annotations"):
        if row[field]:
            metadata[field] = row[field]
    if row["kind"] in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "Ingress"):
        metadata["generation"] = row["generation"]
    owner = world.resource.get(row["owner"]) if row["owner"] else None
    if owner is not None:
        metadata["ownerReferences"] = [{
            "apiVersion": KINDS[owner["kind"]].api_version, "blockOwnerDeletion": True, "controller": True,
            "kind": owner["kind"], "name": owner["name"], "uid": owner["uid"],
        }]  # fmt: skip
    shown = {"apiVersion": kind.api_version, "kind": row["kind"], "metadata": metadata}
    if row["kind"] in ("ConfigMap", "Secret"):
        shown["data"] = row["data"]
        return shown | ({"type": row["type"] or "Opaque"} if row["kind"] == "Secret" else {})
    if row["kind"] == "ServiceAccount":
        return shown
    status = STATUS[row["kind"]](world, row) if row["kind"] in STATUS else {}
    return deepcopy(shown | {"spec": row["spec"], "status": status})


def pod_status(world, pod):
    phase, _, ready, restarts, troubles = state(world, pod)
    conditions = [
        {"lastProbeTime": None, "lastTransitionTime": pod["created"], "status": str(holds), "type": kind}
        for kind, holds in (
            ("Initialized", True), ("Ready", all(ready)), ("ContainersReady", all(ready)),
            ("PodScheduled", "nodeName" in pod["spec"]),
        )
    ]  # fmt: skip
    containers = []
    for container, runs, trouble in zip(pod["spec"]["containers"], ready, troubles, strict=True):
        now = {"running": {"startedAt": pod["created"]}}
        if phase == "Succeeded":
            now = {"terminated": {"exitCode": 0, "finishedAt": pod["created"], "reason": "Completed"}}
        elif trouble:
            now = {"waiting": {"message": trouble[1], "reason": trouble[0]}}
        elif not runs:
            now = {"waiting": {"reason": "ContainerCreating"}}
        containers.append({
            "image": container["image"], "lastState": {}, "name": container["name"], "ready": runs,
            "restartCount": restarts, "started": runs, "state": now,
        })  # fmt: skip
    address = {"podIP": pod["address"], "podIPs": [{"ip": pod["address"]}]} if pod["address"] else {}
    return {"conditions": conditions, "containerStatuses": containers, "phase": phase, "qosClass": "Burstable",
            "startTime": pod["created"], **address}  # fmt: skip


def pods_of(world, row):
    if row["kind"] != "Deployment":
        return owned(world, row, "Pod")
    return [pod for child in owned(world, row, "ReplicaSet") for pod in owned(world, child, "Pod")]


def updated(world, row):
    """Return the pods of a deployment's newest replica set."""
    sets = sorted(owned(world, row, "ReplicaSet"), key=lambda child: child["version"])
    template = row["spec"]["template"]["spec"]
    current = [child for child in sets if child["spec"]["template"]["spec"] == template]
    return owned(world, current[-1], "Pod") if current else []


def workload_status(world, row):
    pods = pods_of(world, row)
    ready = sum(is_ready(world, pod) for pod in pods)
    counts = {"availableReplicas": ready, "readyReplicas": ready, "replicas": len(pods)}
    status = {"observedGeneration": row["generation"], **{name: count for name, count in counts.items() if count}}
    if row["kind"] == "Deployment":
        new = updated(world, row)
        is_available = ready >= int(row["spec"]["replicas"]) * 3 // 4
        is_done = all(is_ready(world, pod) for pod in new)
        status["updatedReplicas"] = len(new)
        if len(pods) > ready:
            status["unavailableReplicas"] = len(pods) - ready
        late = age(world, row) > row["spec"]["progressDeadlineSeconds"]
        progress = "NewReplicaSetAvailable" if is_done else "ProgressDeadlineExceeded" if late else "ReplicaSetUpdated"
        status["conditions"] = [
            {"lastTransitionTime": row["created"], "reason": f"MinimumReplicas{'A' if is_available else 'Una'}vailable",
             "status": str(is_available), "type": "Available"},
            {"lastTransitionTime": row["created"], "reason": progress, "status": str(is_done or not late),
             "type": "Progressing"},
        ]  # fmt: skip
    return status


def daemon_status(world, row):
    pods = pods_of(world, row)
    ready = sum(is_ready(world, pod) for pod in pods)
    return {"currentNumberScheduled": len(pods), "desiredNumberScheduled": len(pods), "numberAvailable": ready,
            "numberMisscheduled": 0, "numberReady": ready, "updatedNumberScheduled": len(pods)}  # fmt: skip


def node_status(world, row):
    conditions = [
        {"lastHeartbeatTime": moment(world.now), "lastTransitionTime": row["created"], "reason": reason,
         "status": status, "type": kind}
        for kind, status, reason in (
            ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
            ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
            ("PIDPressure", "False", "KubeletHasSufficientPID"), ("Ready", "True", "KubeletReady"),
        )
    ]  # fmt: skip
    size = {"cpu": "4", "ephemeral-storage": "101430960Ki", "memory": "16384Mi", "pods": "110"}
    return {
        "addresses": [{"address": row["address"], "type": "InternalIP"}, {"address": row["name"], "type": "Hostname"}],
        "allocatable": size, "capacity": size, "conditions": conditions,
        "nodeInfo": {
            "architecture": "amd64", "containerRuntimeVersion": RUNTIME, "kernelVersion": KERNEL,
            "kubeletVersion": VERSION, "operatingSystem": "linux", "osImage": SYSTEM,
        },
    }  # fmt: skip


VERSION, RUNTIME, KERNEL, SYSTEM = "v1.33.4", "containerd://2.1.4", "6.1.0-37-amd64", "Debian GNU/Linux 12 (bookworm)"
STATUS = {
    "Pod": pod_status, "Deployment": workload_status, "ReplicaSet": workload_status, "StatefulSet": workload_status,
    "DaemonSet": daemon_status, "Node": node_status, "Namespace": lambda *_: {"phase": "Active"},
    "Service": lambda *_: {"loadBalancer": {}},
    "Job": lambda world, row: {"succeeded": 1} if job_is_done(world, row) else {"active": 1},
    "PersistentVolumeClaim": lambda _world, row: {
        "accessModes": row["spec"]["accessModes"], "capacity": row["spec"]["resources"]["requests"], "phase": "Bound",
    },
}  # fmt: skip


def job_is_done(world, row):
    return all(state(world, pod)[0] == "Succeeded" for pod in owned(world, row, "Pod"))


# tables ---------------------------------------------------------------------------------------------------------------


def table(rows):
    """Return rows of cells as a tab writer aligns them: three spaces between columns of at least six."""
    widths = [max(6, *(len(row[at]) + 3 for row in rows)) for at in range(len(rows[0]) - 1)]
    return "".join(
        "".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)) + row[-1] + "\n" for row in rows
    )


def since(world, time):
    """Return a duration as kubectl shows ages: `45s`, `12m`, `3h20m`, `5d4h`, `40d`."""
    seconds = max(0, int((world.now - datetime.fromisoformat(time)).total_seconds()))
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    return f"{days}d" if days < 730 else f"{days // 365}y{days % 365}d"


def labelled(labels):
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or "<none>"


def workload_cells(row):
    containers = row["spec"]["template"]["spec"]["containers"]
    selector = labelled(row["spec"].get("selector", {}).get("matchLabels", {}))
    names = ",".join(container["name"] for container in containers)
    return {
        "Containers": names,
        "Images": ",".join(container["image"] for container in containers),
        "Selector": selector,
    }


def pod_cells(world, pod):
    _, status, ready, restarts, _ = state(world, pod)
    crashed = moment(world.now - timedelta(seconds=number(pod["uid"], 290))) if status != "Running" else pod["created"]
    shown = f"{restarts} ({since(world, crashed)} ago)" if restarts else "0"
    return {"Ready": f"{sum(ready)}/{len(ready)}", "Status": status, "Restarts": shown,
            "Age": since(world, pod["created"]), "IP": pod["address"] or "<none>",
            "Node": pod["spec"].get("nodeName", "<none>"), "Nominated Node": "<none>",
            "Readiness Gates": "<none>"}  # fmt: skip


def deployment_cells(world, row):
    pods = pods_of(world, row)
    ready = sum(is_ready(world, pod) for pod in pods)
    return {"Ready": f"{ready}/{row['spec']['replicas']}", "Up-to-date": len(updated(world, row)),
            "Available": ready, "Age": since(world, row["created"]), **workload_cells(row)}  # fmt: skip


def set_cells(world, row):
    pods = pods_of(world, row)
    ready = sum(is_ready(world, pod) for pod in pods)
    return {"Desired": int(row["spec"]["replicas"]), "Current": len(pods), "Ready": ready,
            "Age": since(world, row["created"]), **workload_cells(row)}  # fmt: skip


def stateful_cells(world, row):
    ready = sum(is_ready(world, pod) for pod in pods_of(world, row))
    cells = {"Ready": f"{ready}/{row['spec']['replicas']}", "Age": since(world, row["created"]), **workload_cells(row)}
    cells.pop("Selector")
    return cells


def daemon_cells(world, row):
    pods = pods_of(world, row)
    count, ready = len(pods), sum(is_ready(world, pod) for pod in pods)
    selector = labelled(row["spec"]["template"]["spec"].get("nodeSelector", {}))
    return {"Desired": count, "Current": count, "Ready": ready, "Up-to-date": count, "Available": ready,
            "Node Selector": selector, "Age": since(world, row["created"]), **workload_cells(row)}  # fmt: skip


def service_cells(world, row):
    spec = row["spec"]
    ports = ",".join(
        f"{port['port']}{':' + str(port['nodePort']) if 'nodePort' in port else ''}/{port['protocol']}"
        for port in spec.get("ports", [])
    )
    outside = "<pending>" if spec["type"] == "LoadBalancer" else spec.get("externalName", "<none>")
    return {"Type": spec["type"], "Cluster-IP": spec.get("clusterIP", "<none>"), "External-IP": outside,
            "Port(s)": ports or "<none>", "Age": since(world, row["created"]),
            "Selector": labelled(spec.get("selector", {}))}  # fmt: skip


def ingress_cells(world, row):
    hosts = ",".join(rule.get("host", "*") for rule in row["spec"].get("rules", [])) or "*"
    return {"Class": row["spec"].get("ingressClassName", "<none>"), "Hosts": hosts, "Address": "10.0.3.20",
            "Ports": "80, 443" if row["spec"].get("tls") else "80", "Age": since(world, row["created"])}  # fmt: skip


def job_cells(world, row):
    done = job_is_done(world, row)
    return {"Status": "Complete" if done else "Running", "Completions": f"{int(done)}/{row['spec']['completions']}",
            "Duration": "9s" if done else since(world, row["created"]), "Age": since(world, row["created"]),
            **workload_cells(row)}  # fmt: skip


def cron_cells(world, row):
    jobs = owned(world, row, "Job")
    last = since(world, max(job["created"] for job in jobs)) if jobs else "<none>"
    active = sum(not job_is_done(world, job) for job in jobs)
    inner = {"spec": row["spec"]["jobTemplate"]["spec"]}
    return {"Schedule": row["spec"]["schedule"], "Timezone": row["spec"].get("timeZone", "<none>"),
            "Suspend": str(row["spec"].get("suspend", False)), "Active": active, "Last Schedule": last,
            "Age": since(world, row["created"]), **workload_cells(inner)}  # fmt: skip


def claim_cells(world, row):
    spec, short = row["spec"], {"ReadWriteOnce": "RWO", "ReadWriteMany": "RWX", "ReadOnlyMany": "ROX"}
    return {"Status": "Bound", "Volume": f"pvc-{row['uid']}", "Capacity": spec["resources"]["requests"]["storage"],
            "Access Modes": ",".join(short.get(mode, mode) for mode in spec["accessModes"]),
            "StorageClass": spec.get("storageClassName", "standard"), "VolumeAttributesClass": "<unset>",
            "Age": since(world, row["created"]), "VolumeMode": "Filesystem"}  # fmt: skip


def node_cells(world, row):
    roles = ",".join(key.partition("/")[2] for key in row["labels"] if key.startswith("node-role.kubernetes.io/"))
    status = "Ready,SchedulingDisabled" if row["spec"].get("unschedulable") else "Ready"
    return {"Status": status, "Roles": roles or "<none>", "Age": since(world, row["created"]), "Version": VERSION,
            "Internal-IP": row["address"], "External-IP": "<none>", "OS-Image": SYSTEM, "Kernel-Version": KERNEL,
            "Container-Runtime": RUNTIME}  # fmt: skip


def data_cells(world, row):
    kind = {"Type": row["type"] or "Opaque"} if row["kind"] == "Secret" else {}
    return {**kind, "Data": len(row["data"]), "Age": since(world, row["created"])}


CELLS = {
    "Pod": pod_cells, "Deployment": deployment_cells, "ReplicaSet": set_cells, "StatefulSet": stateful_cells,
    "DaemonSet": daemon_cells, "Service": service_cells, "Ingress": ingress_cells, "Job": job_cells,
    "CronJob": cron_cells,
    "PersistentVolumeClaim": claim_cells, "Node": node_cells, "ConfigMap": data_cells, "Secret": data_cells,
    "Namespace": lambda world, row: {"Status": "Active", "Age": since(world, row["created"])},
    "ServiceAccount": lambda world, row: {"Secrets": 0, "Age": since(world, row["created"])},
}  # fmt: skip


def listed(world, kind, rows):
    """Return rows of a kind as a table, and the same as a list of objects."""
    if not rows:
        return "", None
    items = [
        {"apiVersion": kind.api_version, "kind": kind.name, "Name": row["name"], **CELLS[kind.name](world, row)}
        for row in rows
    ]
    lines = [[*([row["namespace"]] if kind.is_namespaced else []), *map(str, item.values()), labelled(row["labels"])]
             for row, item in zip(rows, items, strict=True)]  # fmt: skip
    head = [*(["Namespace"] if kind.is_namespaced else []), *items[0], "Labels"]
    if kind.is_namespaced:
        items = [{**item, "Namespace": row["namespace"]} for row, item in zip(rows, items, strict=True)]
    return table([[cell.upper() for cell in head], *lines]), items
