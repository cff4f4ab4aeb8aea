"""A Kubernetes cluster: its resources, what the controllers make of them, and what pods log and use."""

import json
import re
from contextlib import contextmanager
from datetime import datetime, timedelta

from cluster import fill
from controllers import add, bind, complete, delete, settle, suffix, touch
from kinds import KINDS, SCALABLE, ApiError, kind_of, not_found, picks, place, selects
from pods import environment, events, log, moment, number, state, usage
from showing import as_yaml, listed, manifest, since, table

from mcp_sim.programs import Refused, Result, initial, invalid_arguments, tool
from mcp_sim.programs.helpers import stamp, yaml_value

# fmt: off
tables = {
    "resource": {"key": "path", "natural": True, "links": {"owner": "resource"}, "hidden": ["applied"], "fields": {
        "kind": "", "name": "", "namespace": "", "uid": {"type": "string", "format": "uuid"}, "labels": {},
        "annotations": {}, "created": "", "owner": None, "generation": 1, "version": 1, "spec": {}, "data": {},
        "type": "", "address": "", "restarts": 0, "history": [], "applied": {},
    }},
    "image": {"key": "name", "natural": True, "fields": {"tags": []}},
    "cluster": {"singleton": True, "fields": {"version": 4100200, "address": 0, "begins": False}},
}
# fmt: on

NAME = "kubernetes-mcp-server"
MOST_LINES = 10_000  # of a log: more than any agent reads
DONE = "# The following resources (YAML) have been created or updated successfully\n"
DNS_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


@initial
def begin(given, world):
    fill(world)
    for name, tags in (given or {}).get("images", {}).items():
        world.image.delete(name)
        world.image.add(name=name, tags=[*tags])
    for item in (given or {}).get("resources", []):
        apply(world, item)
    settle(world)


@contextmanager
def trying(what):
    """Put what was tried before an error of the API server."""
    try:
        yield
    except ApiError as error:
        raise Refused(f"{what}: {error}") from None


ATTEMPTS = {
    "configuration_view": "get configuration", "events_list": "list events in all namespaces",
    "namespaces_list": "list namespaces", "nodes_log": "get node log", "nodes_stats_summary": "get node stats summary",
    "nodes_top": "get nodes top", "pods_delete": "delete pod", "pods_exec": "exec in pod", "pods_get": "get pod",
    "pods_list": "list pods in all namespaces", "pods_list_in_namespace": "list pods in namespace",
    "pods_log": "get pod log", "pods_run": "run pod", "pods_top": "get pods top",
    "resources_create_or_update": "create or update resources", "resources_delete": "delete resource",
    "resources_get": "get resource", "resources_list": "list resources",
    "resources_scale": "get/update resource scale",
}  # fmt: skip
ARTICLES = {"string": "a string", "boolean": "a boolean", "integer": "an integer", "number": "an integer"}


@invalid_arguments
def refuse(world, tool, arguments, problems):
    """Word wrong arguments as the server does, which knows two styles."""
    is_old, schema = tool.startswith(("resources_", "nodes_")), world.input_schema
    attempt = f"failed to {ATTEMPTS[tool]}"
    if tool == "pods_exec" and "name" in arguments:
        return Refused(f"{attempt}: command parameter must be an array of strings")
    order = ["apiVersion", "kind", "name", "namespace"]
    needed = sorted(schema.get("required", []), key=lambda name: order.index(name) if name in order else len(order))
    for name in needed:
        if name not in arguments:
            return Refused(f"{attempt}, missing argument {name}" if is_old else f"{attempt}: {name} parameter required")
    for name, value in arguments.items():
        kind = schema["properties"].get(name, {}).get("type", "")
        if (kind in ARTICLES and f"'{name}'" in " ".join(problems)) or f"{name}:" in " ".join(problems):
            if is_old:
                return Refused(f"{name} is not {ARTICLES.get(kind, kind)}")
            return Refused(f"{attempt}: {name} parameter must be {ARTICLES.get(kind, kind)}")
        if "elector" in name:
            return Refused(f"{attempt}: unable to parse requirement: found '{value}'")
    return Refused(f"{attempt}: {'; '.join(problems)}")


# finding --------------------------------------------------------------------------------------------------------------


def found(world, kind, namespace, name):
    row = world.resource.get(place(kind, namespace or "default", name))
    if row is None:
        raise not_found(kind, name)
    return row


def fields_of(world, row):
    fields = {"metadata.name": row["name"], "metadata.namespace": row["namespace"]}
    if row["kind"] == "Pod":
        fields |= {"status.phase": state(world, row)[0], "spec.nodeName": row["spec"].get("nodeName", ""),
                   "spec.restartPolicy": row["spec"].get("restartPolicy"), "status.podIP": row["address"]}  # fmt: skip
    if row["kind"] == "Namespace":
        fields["status.phase"] = "Active"
    return fields


def chosen(world, kind, namespace="", labels="", fields=""):
    """Return the resources of a kind that both selectors pick, by namespace and name."""
    rows = world.resource.find(kind=kind.name, **({"namespace": namespace} if namespace and kind.is_namespaced else {}))
    picked = [row for row in rows if selects(labels, row["labels"]) and picks(fields, fields_of(world, row), kind)]
    return sorted(picked, key=lambda row: (row["namespace"], row["name"]))


# pods -----------------------------------------------------------------------------------------------------------------


@tool(reads=True, verb="list", entity="resource")
def pods_list(world, labelSelector="", fieldSelector=""):
    with trying("failed to list pods in all namespaces"):
        return listed(world, KINDS["Pod"], chosen(world, KINDS["Pod"], "", labelSelector, fieldSelector))[0]


@tool(reads=True, verb="list", entity="resource")
def pods_list_in_namespace(world, namespace, labelSelector="", fieldSelector=""):
    with trying(f"failed to list pods in namespace {namespace}"):
        return listed(world, KINDS["Pod"], chosen(world, KINDS["Pod"], namespace, labelSelector, fieldSelector))[0]


@tool(reads=True, verb="get", entity="resource")
def pods_get(world, name, namespace=""):
    with trying(f"failed to get pod {name} in namespace {namespace}"):
        return as_yaml(manifest(world, found(world, KINDS["Pod"], namespace, name)))


@tool(verb="delete", entity="resource")
def pods_delete(world, name, namespace=""):
    with trying(f"failed to delete pod {name} in namespace {namespace}"):
        pod = found(world, KINDS["Pod"], namespace, name)
        if pod["labels"].get("app.kubernetes.io/managed-by") == NAME:
            for service in world.resource.find(kind="Service", namespace=pod["namespace"]):
                if service["labels"] == pod["labels"]:
                    delete(world, service)
        delete(world, pod)
        settle(world)
        return "Pod deleted successfully"


@tool(reads=True, verb="get", entity="resource")
def pods_log(world, name, namespace="", container="", tail=100, previous=False):
    with trying(f"failed to get pod {name} log in namespace {namespace}"):
        pod = found(world, KINDS["Pod"], namespace, name)
        inner = container_of(pod, container)
        restarts, reason = state(world, pod)[3], state(world, pod)[1]
        if previous and not restarts:
            raise ApiError(f'previous terminated container "{inner["name"]}" in pod "{name}" not found')
        if reason in ("ErrImagePull", "ImagePullBackOff", "ContainerCreating", "CreateContainerConfigError", "Pending"):
            why = "trying and failing to pull image" if "Image" in reason else reason
            raise ApiError(f'container "{inner["name"]}" in pod "{name}" is waiting to start: {why}')
        lines = log(world, pod, inner, min(int(tail) or 100, MOST_LINES))
        return (
            "\n".join(lines) + "\n"
            if lines
            else f"The pod {name} in namespace {namespace} has not logged any message yet"
        )


def container_of(pod, name):
    containers = pod["spec"]["containers"]
    inner = next((inner for inner in containers if name in ("", inner["name"])), None)
    if inner is None:
        raise ApiError(f"container {name} is not valid for pod {pod['name']}")
    return inner


@tool(verb="create", entity="resource")
def pods_run(world, image, namespace="", name="", port=0):
    with trying(f"failed to run pod {name} in namespace {namespace}"):
        name = name or f"{NAME}-run-{suffix(world)}"
        words = {"name": name, "component": name, "managed-by": NAME, "part-of": f"{NAME}-run-sandbox"}
        labels = {f"app.kubernetes.io/{key}": value for key, value in words.items()}
        metadata = {"name": name, "namespace": namespace or "default", "labels": labels}
        container = {"name": name, "image": image, "imagePullPolicy": "Always"}
        manifests = [{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}]
        if port:
            container["ports"] = [{"containerPort": int(port)}]
            spec = {"selector": labels, "type": "ClusterIP", "ports": [{"port": int(port), "targetPort": int(port)}]}
            manifests.append({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
        rows = [apply(world, item) for item in manifests]
        settle(world)
        return DONE + as_yaml([manifest(world, row) for row in rows])


@tool(reads=True)
def pods_exec(world, name, command, namespace="", container=""):
    with trying(f"failed to exec in pod {name} in namespace {namespace}"):
        pod = found(world, KINDS["Pod"], namespace, name)
        phase = state(world, pod)[0]
        if phase in ("Succeeded", "Failed"):
            raise ApiError(f"cannot exec into a container in a completed pod; current phase is {phase}")
        inner = container_of(pod, container)
        if phase != "Running":
            raise ApiError(f'unable to upgrade connection: container not found ("{inner["name"]}")')
        output = run(world, pod, inner, command)
        return output or f"The executed command in pod {name} in namespace {namespace} has not produced any output"


def words_of(command):
    """Return the words of a command, or of the script that it gives to a shell."""
    if command[:2] not in (["sh", "-c"], ["bash", "-c"]):
        return command or ["sh"]
    if len(command) == 2:
        raise ApiError("command terminated with exit code 2")
    return command[2].split() or ["sh"]


def run(world, pod, container, command):
    """Return what a command prints in a container, which has a few programs and files only."""
    values = environment(world, pod, container)[0]
    words = words_of(command)
    hosts = f"127.0.0.1\tlocalhost\n{pod['address']}\t{pod['name']}\n"
    files = {
        "/etc/hostname": f"{pod['name']}\n",
        "/etc/hosts": hosts,
        "/etc/resolv.conf": f"search {pod['namespace']}.svc.cluster.local svc.cluster.local\nnameserver 10.96.0.10\n",
    }
    match words[0].rsplit("/", 1)[-1]:
        case "env" | "printenv" if len(words) == 1:
            return "".join(f"{key}={value}\n" for key, value in values.items())
        case "printenv":
            return f"{values[words[1]]}\n" if words[1] in values else ""
        case "hostname":
            return f"{pod['name']}\n"
        case "date":
            return world.now.strftime("%a %b %e %H:%M:%S UTC %Y\n")
        case "echo":
            return (
                " ".join(re.sub(r"\$\{?(\w+)\}?", lambda match: values.get(match[1], ""), word) for word in words[1:])
                + "\n"
            )
        case "ls":
            return "bin\ndev\netc\nhome\nproc\nroot\nsys\ntmp\nusr\nvar\n"
        case "cat" if len(words) > 1 and words[1] in files:
            return files[words[1]]
        case "cat":
            raise ApiError("command terminated with exit code 1")
        case "sh" | "true" | "sleep":
            return ""
    raise ApiError(
        "Internal error occurred: error executing command in container: failed to exec in container: exec: "
        f'"{words[0]}": executable file not found in $PATH'
    )


# resources ------------------------------------------------------------------------------------------------------------


@tool(reads=True, verb="list", entity="resource")
def namespaces_list(world, fieldSelector=""):
    with trying("failed to list namespaces"):
        return listed(world, KINDS["Namespace"], chosen(world, KINDS["Namespace"], "", "", fieldSelector))[0]


@tool(reads=True, verb="list", entity="resource", rows="items")
def resources_list(world, apiVersion, kind, namespace="", labelSelector="", fieldSelector=""):
    with trying("failed to list resources"):
        of = kind_of(apiVersion, kind)
        if kind == "Event":
            return event_table(world, namespace)
        text, items = listed(world, of, chosen(world, of, namespace, labelSelector, fieldSelector))
        return Result(text=text, structured=items and {"items": items})


@tool(reads=True, verb="get", entity="resource")
def resources_get(world, apiVersion, kind, name, namespace=""):
    with trying("failed to get resource"):
        shown = manifest(world, found(world, kind_of(apiVersion, kind), namespace, name))
        return Result(text=as_yaml(shown), structured=shown)


@tool(verb="delete", entity="resource")
def resources_delete(world, apiVersion, kind, name, namespace="", gracePeriodSeconds=None):
    with trying("failed to delete resource"):
        if gracePeriodSeconds is not None and gracePeriodSeconds < 0:
            raise ApiError("gracePeriodSeconds: must be greater than or equal to 0")
        row = found(world, kind_of(apiVersion, kind), namespace, name)
        if kind == "Namespace" and name in ("default", "kube-public", "kube-system"):
            raise ApiError(f'namespaces "{name}" is forbidden: this namespace may not be deleted')
        delete(world, row)
        settle(world)
        return "Resource deleted successfully"


@tool(verb="update", entity="resource")
def resources_scale(world, apiVersion, kind, name, namespace="", scale=None):
    with trying("failed to get/update resource scale"):
        of = kind_of(apiVersion, kind)
        if kind not in SCALABLE:
            raise ApiError("the server could not find the requested resource")
        row = found(world, of, namespace, name)
        before = len([pod for pod in chosen(world, KINDS["Pod"], row["namespace"]) if belongs(world, pod, row)])
        if scale is not None:
            if scale < 0:
                problem = "spec.replicas: Invalid value: {}: must be greater than or equal to 0"
                raise ApiError(f'Scale.autoscaling "{name}" is invalid: {problem.format(scale)}')
            if scale != row["spec"]["replicas"]:
                row["spec"]["replicas"] = int(scale)
                touch(world, row)
                settle(world)
        selector = ",".join(f"{key}={value}" for key, value in sorted(row["spec"]["selector"]["matchLabels"].items()))
        metadata = {"creationTimestamp": row["created"], "name": name, "namespace": row["namespace"],
                    "resourceVersion": str(row["version"]), "uid": row["uid"]}  # fmt: skip
        status = {"replicas": before, "selector": selector}
        shown = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "status": status,
                 "spec": {"replicas": row["spec"]["replicas"]}}  # fmt: skip
        return f"# Current resource scale (YAML) is below\n{as_yaml(shown)}"


def belongs(world, pod, row):
    owner = world.resource.get(pod["owner"]) if pod["owner"] else None
    return owner is not None and row["path"] in (owner["path"], owner["owner"])


@tool(verb="update", entity="resource")
def resources_create_or_update(world, resource):
    with trying("failed to create or update resources"):
        if not resource:
            raise Refused("failed to create or update resources, missing argument resource")
        rows = []
        for text in re.split(r"\r?\n---\r?\n", resource):
            try:
                item = yaml_value(text)
            except ValueError as error:
                raise ApiError(f"error converting YAML to JSON: {error}") from None
            if not isinstance(item, dict) or "kind" not in item:
                shown = json.dumps(item, separators=(",", ":"))
                raise ApiError(f"error unmarshaling JSON: while decoding JSON: Object 'Kind' is missing in '{shown}'")
            rows.append(apply(world, item))
        settle(world)
        return DONE + as_yaml([manifest(world, row) for row in rows])


def apply(world, item):
    """Create a resource, or change what the manifest names of it. Raises `ApiError` where the API server refuses it."""
    kind, item = kind_of(str(item.get("apiVersion")), str(item["kind"])), without_nulls(item)
    metadata = item.get("metadata", {})
    is_named = isinstance(metadata, dict)
    name = metadata.get("name") if is_named else None
    namespace = str(metadata.get("namespace", "default")) if is_named else "default"
    problem = mistyped(item, MANIFEST)
    if problem:
        shown = f"{namespace if kind.is_namespaced else ''}/{name}; {kind.api_version}, Kind={kind.name}"
        raise ApiError(f"failed to create typed patch object ({shown}): {problem}")
    if not name:
        raise ApiError("name is required")
    if DNS_NAME.fullmatch(name) is None:
        raise ApiError(
            f'{kind.name} "{name}" is invalid: metadata.name: Invalid value: "{name}": a lowercase RFC 1123 subdomain '
            "must consist of lower case alphanumeric characters, '-' or '.'"
        )
    if kind.is_namespaced and place(KINDS["Namespace"], "", namespace) not in world.resource:
        raise not_found(KINDS["Namespace"], namespace)
    content = {"labels": metadata.get("labels", {}), "annotations": metadata.get("annotations", {}),
               "spec": item.get("spec", {}), "data": item.get("data", {}) | item.get("stringData", {})}  # fmt: skip
    row = world.resource.get(place(kind, namespace, name))
    merged = content if row is None else {
        field: merge(row[field], value, row["applied"].get(field, {})) for field, value in content.items()
    }  # fmt: skip
    check(kind, name, merged["spec"], None if row is None else row["spec"])
    if row is None:
        row = add(world, kind.name, name, namespace if kind.is_namespaced else "", applied=content, **merged)
        if kind.name == "Pod":
            bind(world, row)
        return row
    complete(world, kind.name, name, merged["spec"])
    if any(row[field] != value for field, value in merged.items()):
        row.update({**merged, "applied": content})
        touch(world, row)
    return row


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value if item is not None]
    return value


SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef")
TEXTS = {"": str}
POD = {"nodeSelector": TEXTS, "nodeName": str, "restartPolicy": str, "containers": [{
    "name": str, "image": str, "command": [str], "args": [str], "resources": {}, "ports": [{"containerPort": int}],
    "envFrom": [{"configMapRef": {"name": str}, "secretRef": {"name": str}}],
    "env": [{"name": str, "value": str, "valueFrom": {key: {"name": str, "key": str} for key in SOURCES}}],
}]}  # fmt: skip
TEMPLATE = {"metadata": {"labels": TEXTS}, "spec": POD}
SPEC = POD | {
    "replicas": int, "selector": {"matchLabels": TEXTS}, "template": TEMPLATE, "type": str,
    "ports": [{"port": int, "protocol": str}], "clusterIP": str, "externalName": str, "schedule": str, "suspend": bool,
    "completions": int, "accessModes": [str], "resources": {"requests": TEXTS}, "ingressClassName": str,
    "jobTemplate": {"spec": {"template": TEMPLATE}}, "rules": [{"host": str}], "tls": [{}], "taints": [{}],
    "progressDeadlineSeconds": int,
}  # fmt: skip
METADATA = {"name": str, "namespace": str, "labels": TEXTS, "annotations": TEXTS}
MANIFEST = {"metadata": METADATA, "spec": SPEC, "data": TEXTS, "stringData": TEXTS}
WORDS = {str: "string", int: "numeric (int or float)", bool: "boolean", dict: "map", list: "list"}


def mistyped(value, shape, path=""):
    """Return which value of a manifest has another type than its field, as the API server says it; empty for none."""
    kind = type(shape) if isinstance(shape, dict | list) else shape
    if value is None:
        return ""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        return f"{path}: expected {WORDS[kind]}, got &value.valueUnstructured{{Value:{json.dumps(value)}}}"
    if isinstance(shape, dict):
        inner = [(f"{path}.{key}", item, shape.get(key, shape.get(""))) for key, item in value.items()]
    else:
        inner = [(f"{path}[{at}]", item, shape[0]) for at, item in enumerate(value)] if kind is list else []
    found = (mistyped(item, of, where) for where, item, of in inner if of is not None)
    return next((problem for problem in found if problem), "")


WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
POD_PATHS = dict.fromkeys((*WORKLOADS, "Job"), "spec.template.spec") | {
    "Pod": "spec", "CronJob": "spec.jobTemplate.spec.template.spec",
}  # fmt: skip
NEEDED = {
    "CronJob": ("spec.schedule",), "PersistentVolumeClaim": ("spec.accessModes", "spec.resources.requests.storage"),
}  # fmt: skip


def at_path(spec, path):
    """Return the value at a path such as `spec.template.spec`, or None."""
    for name in path.split(".")[1:]:
        spec = spec.get(name, {}) if isinstance(spec, dict) else {}
    return spec or None


def check(kind, name, spec, before):
    """Raise `ApiError` for a spec that the API server refuses."""
    problems = [f"{path}: Required value" for path in NEEDED.get(kind.name, ()) if at_path(spec, path) is None]
    if kind.name in WORKLOADS:
        problems += selector_problems(spec, before)
    if kind.name in POD_PATHS:
        problems += container_problems(at_path(spec, POD_PATHS[kind.name]) or {}, POD_PATHS[kind.name])
    if kind.name == "Service" and spec.get("type") != "ExternalName":
        ports = spec.get("ports", [])
        problems += [] if ports else ["spec.ports: Required value"]
        problems += [f"spec.ports[{at}].port: Required value" for at, port in enumerate(ports) if "port" not in port]
    if kind.name == "Pod" and before and without_images(spec) != without_images(before):
        problems.append(
            "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
            "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
            "negative)"
        )
    if problems:
        text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        group = kind.resource.partition(".")[2]
        raise ApiError(f'{kind.name}{"." + group if group else ""} "{name}" is invalid: {text}')


def selector_problems(spec, before):
    labels = at_path(spec, "spec.template.metadata.labels") or {}
    selector = at_path(spec, "spec.selector.matchLabels")
    if not selector:
        yield "spec.selector: Required value"
    elif any(labels.get(key) != value for key, value in selector.items()):
        shown = json.dumps(labels, separators=(",", ":"))
        yield f"spec.template.metadata.labels: Invalid value: {shown}: `selector` does not match template `labels`"
    if before and selector != before["selector"].get("matchLabels"):
        yield f"spec.selector: Invalid value: {json.dumps(spec.get('selector'))}: field is immutable"


def container_problems(pod, path):
    containers = pod.get("containers", [])
    if not containers:
        yield f"{path}.containers: Required value"
    for at, container in enumerate(containers):
        here = f"{path}.containers[{at}]"
        yield from (f"{here}.{field}: Required value" for field in ("name", "image") if not container.get(field))
        for name, field in (("ports", "containerPort"), ("env", "name")):
            items = container.get(name, [])
            yield from (
                f"{here}.{name}[{n}].{field}: Required value" for n, item in enumerate(items) if field not in item
            )
        for n, item in enumerate(container.get("env", [])):
            if "valueFrom" in item and not {*item["valueFrom"]} & {*SOURCES}:
                yield f'{here}.env[{n}].valueFrom: Invalid value: "": must specify one of: {", ".join(SOURCES)}'


def without_images(spec):
    return {**spec, "containers": [{**container, "image": ""} for container in spec.get("containers", [])]}


LIST_KEYS = ("name", "containerPort", "port", "mountPath", "host", "ip")
"""By which of their fields the items of a list are merged; a list without is replaced."""


def merge(held, wanted, applied):
    """Return a value with what a manifest wants; what its last version named, and this one does not, is removed."""
    if isinstance(held, dict) and isinstance(wanted, dict):
        last = applied if isinstance(applied, dict) else {}
        kept = {key: value for key, value in held.items() if key in wanted or key not in last}
        return kept | {key: merge(held.get(key), value, last.get(key)) for key, value in wanted.items()}
    if (
        isinstance(held, list)
        and isinstance(wanted, list)
        and wanted
        and all(isinstance(item, dict) for item in wanted)
    ):
        field = next((key for key in LIST_KEYS if all(key in item for item in [*held, *wanted])), None)
        if field is not None:
            old = {item[field]: item for item in held}
            last = {item[field]: item for item in applied or [] if isinstance(item, dict) and field in item}
            new = {item[field]: merge(old.get(item[field]), item, last.get(item[field])) for item in wanted}
            return [new.pop(key, item) for key, item in old.items() if key in new or key not in last] + [*new.values()]
    return wanted


# events, nodes, configuration -----------------------------------------------------------------------------------------


def all_events(world, namespace):
    """Return what was reported within an hour, the oldest first: time, type, reason, kind, name, message, count."""
    recent = stamp(world.now - timedelta(hours=1))
    reported = [
        (event["at"], "Normal", event["reason"], row["kind"], row["name"], event["message"], 1, row["namespace"])
        for row in world.resource
        for event in row["history"]
        if event["at"] > recent
    ]
    for pod in world.resource.find(kind="Pod"):
        created = datetime.fromisoformat(pod["created"])
        for kind, reason, message, seconds, count in events(world, pod):
            at = created + timedelta(seconds=seconds)
            last = world.now - timedelta(seconds=number(message, 50)) if count > 4 else at
            if at <= world.now and last > world.now - timedelta(hours=1):
                reported.append((moment(last), kind, reason, "Pod", pod["name"], message, count, pod["namespace"]))
    return sorted(event for event in reported if namespace in ("", event[7]))


@tool(reads=True, verb="list", entity="resource")
def events_list(world, namespace="", fieldSelector=""):
    with trying("failed to list events in all namespaces"):
        rows = []
        for at, kind, reason, involved, name, message, _, space in all_events(world, namespace):
            fields = {"metadata.namespace": space, "involvedObject.kind": involved, "involvedObject.name": name,
                      "involvedObject.namespace": space, "reason": reason, "type": kind}  # fmt: skip
            if picks(fieldSelector, fields, KINDS["Event"]):
                of = {"apiVersion": KINDS[involved].api_version, "Kind": involved, "Name": name}
                rows.append({
                    "Namespace": space, "Timestamp": f"{at[:19].replace('T', ' ')} +0000 UTC", "Type": kind,
                    "Reason": reason, "InvolvedObject": of, "Message": message,
                })  # fmt: skip
        return f"# The following events (YAML format) were found:\n{as_yaml(rows)}" if rows else "# No events found"


def event_table(world, namespace):
    items = [
        {
            "Last Seen": since(world, at),
            "Type": kind,
            "Reason": reason,
            "Object": f"{involved.lower()}/{name}",
            "Message": text,
        }
        for at, kind, reason, involved, name, text, _, _ in all_events(world, namespace)
    ]
    head = ["APIVERSION", "KIND", *([cell.upper() for cell in items[0]] if items else [])]
    text = table([head, *(["v1", "Event", *item.values()] for item in items)]) if items else ""
    return Result(text=text, structured={"items": items} if items else None)


@tool(reads=True)
def pods_top(world, all_namespaces=True, namespace="", name="", label_selector=""):
    with trying("failed to get pods top"):
        space = namespace or ("" if all_namespaces else "default")
        pods = [found(world, KINDS["Pod"], space, name)] if name else chosen(world, KINDS["Pod"], space, label_selector)
        used = [(pod["namespace"], pod["name"], *row) for pod in pods for row in usage(world, pod)]
        rows = [(space, pod, inner, f"{cpu}m", f"{memory}Mi", "0Mi", "") for space, pod, inner, cpu, memory in used]
        total = (f"{sum(row[3] for row in used)}m", f"{sum(row[4] for row in used)}Mi", "0Mi", "")
        head = ("NAMESPACE", "POD", "NAME", "CPU(cores)", "MEMORY(bytes)", "SWAP(bytes)", "")
        return table([head, *rows, ("", "", "", *("________",) * 3, ""), ("", "", "", *total)])


def node_usage(world, node):
    pods = [pod for pod in world.resource.find(kind="Pod") if pod["spec"].get("nodeName") == node["name"]]
    used = [row for pod in pods for row in usage(world, pod)]
    return 120 + sum(row[1] for row in used), 900 + sum(row[2] for row in used), pods


@tool(reads=True)
def nodes_top(world, name="", label_selector=""):
    with trying("failed to get nodes top"):
        nodes = [found(world, KINDS["Node"], "", name)] if name else chosen(world, KINDS["Node"], "", label_selector)
        rows = [("NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)", "")]
        for node in nodes:
            cpu, memory, _ = node_usage(world, node)
            rows.append(
                (node["name"], f"{cpu}m", f"{cpu * 100 // 4000}%", f"{memory}Mi", f"{memory * 100 // 16384}%", "")
            )
        return table(rows)


@tool(reads=True)
def nodes_log(world, name, query, tailLines=100):
    with trying(f"failed to get node log for {name}"):
        node = world.resource.get(place(KINDS["Node"], "", name))
        if node is None:
            raise ApiError(f"failed to get node {name}: {not_found(KINDS['Node'], name)}")
        if query.rsplit("/", 1)[-1].removesuffix(".log") not in ("kubelet", "kube-proxy", "containerd"):
            raise ApiError("failed to get node logs: the server could not find the requested resource")
        lines = []
        for at, kind, reason, _, pod, message, _, space in all_events(world, ""):
            row = world.resource.get(place(KINDS["Pod"], space, pod))
            if row is not None and row["spec"].get("nodeName") == name:
                level = "E" if kind == "Warning" else "I"
                lines.append(f'{level}{at[5:7]}{at[8:10]} {at[11:19]}.000000    1187 pod_workers.go] "{reason}" '
                             f'pod="{space}/{pod}" message={json.dumps(message)}')  # fmt: skip
        lines = lines[-int(tailLines) :] if tailLines else lines
        return "\n".join(lines) if lines else f"The node {name} has not logged any message yet or the log file is empty"


@tool(reads=True)
def nodes_stats_summary(world, name):
    with trying(f"failed to get node stats summary for {name}"):
        node = world.resource.get(place(KINDS["Node"], "", name))
        if node is None:
            raise ApiError(f"failed to get node {name}: {not_found(KINDS['Node'], name)}")
        cpu, memory, pods = node_usage(world, node)
        time = moment(world.now)
        shown = [
            {"podRef": {"name": pod["name"], "namespace": pod["namespace"], "uid": pod["uid"]},
             "startTime": pod["created"], "containers": [
                 {"name": inner, "cpu": {"time": time, "usageNanoCores": used * 10**6},
                  "memory": {"time": time, "workingSetBytes": size * 2**20}} for inner, used, size in usage(world, pod)
             ]}
            for pod in pods
        ]  # fmt: skip
        summary = {
            "nodeName": name, "startTime": node["created"], "cpu": {"time": time, "usageNanoCores": cpu * 10**6},
            "memory": {"time": time, "workingSetBytes": memory * 2**20, "availableBytes": (16384 - memory) * 2**20},
            "fs": {"time": time, "capacityBytes": 103865303040, "usedBytes": 10**9 * (11 + number(node["uid"], 40))},
        }  # fmt: skip
        return json.dumps({"node": summary, "pods": shown}, indent=1)


@tool(reads=True)
def configuration_view(_world, minified=True):
    def entry(name):
        return {
            "clusters": [{"cluster": {"server": f"https://{name}.teahouse.example:6443"}, "name": name}],
            "contexts": [{"context": {"cluster": name, "namespace": "default", "user": f"{name}-admin"}, "name": name}],
            "users": [{"name": f"{name}-admin", "user": {}}],
        }

    config = {"apiVersion": "v1", "current-context": "tea", "kind": "Config", **entry("tea")}
    if not minified:
        config |= {key: [*config[key], *value] for key, value in entry("tea-staging").items()}
    return as_yaml(config)
