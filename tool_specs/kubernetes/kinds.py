"""The kinds of resources of the cluster, how errors name them, and which of them a selector picks."""

import re
from typing import NamedTuple


class ApiError(Exception):
    """What the API server refuses. Tools put what they tried before it."""


class Kind(NamedTuple):
    name: str
    api_version: str
    plural: str
    is_namespaced: bool = True

    @property
    def resource(self):
        """The plural with its group, as errors name it: `deployments.apps`."""
        group, slash, _ = self.api_version.partition("/")
        return f"{self.plural}.{group}" if slash else self.plural


KINDS = {
    kind.name: kind
    for kind in (
        Kind("Namespace", "v1", "namespaces", is_namespaced=False),
        Kind("Node", "v1", "nodes", is_namespaced=False),
        Kind("Pod", "v1", "pods"),
        Kind("Service", "v1", "services"),
        Kind("ConfigMap", "v1", "configmaps"),
        Kind("Secret", "v1", "secrets"),
        Kind("ServiceAccount", "v1", "serviceaccounts"),
        Kind("PersistentVolumeClaim", "v1", "persistentvolumeclaims"),
        Kind("Event", "v1", "events"),
        Kind("Deployment", "apps/v1", "deployments"),
        Kind("ReplicaSet", "apps/v1", "replicasets"),
        Kind("StatefulSet", "apps/v1", "statefulsets"),
        Kind("DaemonSet", "apps/v1", "daemonsets"),
        Kind("Job", "batch/v1", "jobs"),
        Kind("CronJob", "batch/v1", "cronjobs"),
        Kind("Ingress", "networking.k8s.io/v1", "ingresses"),
    )
}
SCALABLE = ("Deployment", "ReplicaSet", "StatefulSet")


def kind_of(api_version, name):
    """Return a kind. Raises `ApiError` for one that the cluster does not have."""
    kind = KINDS.get(name)
    if kind is None or kind.api_version != api_version:
        raise ApiError(f'no matches for kind "{name}" in version "{api_version}"')
    return kind


def place(kind, namespace, name):
    """Return the key of a resource."""
    return f"{kind.plural}/{namespace}/{name}" if kind.is_namespaced else f"{kind.plural}/{name}"


def not_found(kind, name):
    return ApiError(f'{kind.resource} "{name}" not found')


REQUIREMENT = re.compile(
    r"\s*(?:(?P<absent>!\s*)?(?P<key>[\w./-]+)\s*(?:(?P<operator>!=|==|=|\bin\b|\bnotin\b)\s*"
    r"(?P<value>\([^)]*\)|[\w.-]*))?)\s*(?:,|$)"
)


def selects(selector, labels):
    """Whether a label selector such as `app=web,tier in (a, b),!old` picks these labels."""
    at, text = 0, selector or ""
    while at < len(text):
        match = REQUIREMENT.match(text, at)
        if match is None or match.end() == at:
            raise ApiError(f"unable to parse requirement: found '{text[at:]}', expected: identifier")
        if not meets(match, labels):
            return False
        at = match.end()
    return True


def meets(match, labels):
    key, operator, value = match["key"], match["operator"], (match["value"] or "").strip("()")
    if operator is None:
        return (key in labels) is not bool(match["absent"])
    values = [item.strip() for item in value.split(",")]
    return (labels.get(key) in values) is (operator in ("=", "==", "in"))


def picks(selector, fields, kind):
    """Whether a field selector such as `status.phase=Running,metadata.name!=web` picks these fields."""
    for part in filter(None, (selector or "").split(",")):
        match = re.fullmatch(r"([^=!]+)(!=|==|=)(.*)", part)
        if match is None:
            raise ApiError(f"invalid selector: '{selector}'; can't understand '{part}'")
        key, operator, value = match.groups()
        if key not in fields:
            raise ApiError(
                f'Unable to find "{kind.api_version}, Resource={kind.plural}" that match label selector "", '
                f'field selector "{selector}": field label not supported: {key}'
            )
        if (str(fields[key]) == value) is (operator == "!="):
            return False
    return True
