"""The cluster of a tea shop: its nodes, and what runs on them when a world begins."""

from datetime import timedelta

from controllers import add, settle
from pods import REGISTRY

from mcp_sim.programs.helpers import stamp

TAGS = {
    "storefront": ("3.11.0", "3.11.1", "3.12.0"), "catalog": ("2.4.6", "2.4.7"), "cart": ("1.19.2", "1.20.0"),
    "checkout": ("1.8.0", "1.8.1", "1.8.2"), "mailer": ("0.9.3", "0.9.4"), "report": ("1.2.0",),
}  # fmt: skip
NODES = (("cp-1", "10.0.3.10"), ("worker-1", "10.0.3.11"), ("worker-2", "10.0.3.12"), ("worker-3", "10.0.3.13"))
CONFIG = {
    "storefront-config": {"CATALOG_URL": "http://catalog:8080", "CURRENCY": "EUR", "THEME": "spring"},
    "mailer-config": {"SMTP_PORT": "587", "SENDER": "hello@teahouse.example"},
    "checkout-config": {"PAYMENT_URL": "https://pay.teahouse.example", "TIMEOUT": "8s"},
}
SECRETS = {
    "postgres-credentials": {"username": "c2hvcA==", "password": "bGVhdmVzLTE5OA=="},
    "checkout-database": {"DATABASE_URL": "cG9zdGdyZXM6Ly9zaG9wQHBvc3RncmVzOjU0MzIvc2hvcA=="},
}


def fill(world):
    """Add the cluster, older than the world."""
    world.cluster["begins"] = True
    old = stamp(world.now - timedelta(days=212, hours=5))
    for name in ("default", "kube-node-lease", "kube-public", "kube-system", "monitoring", "shop"):
        add(world, "Namespace", name, created=old, spec={"finalizers": ["kubernetes"]})
    for name, tags in TAGS.items():
        world.image.add(name=name, tags=[*tags])
    for name, address in NODES:
        add_node(world, name, address, old)
    for name, data in CONFIG.items():
        add(world, "ConfigMap", name, "shop", data=dict(data), created=old)
    for name, data in SECRETS.items():
        add(world, "Secret", name, "shop", data=dict(data), created=old)
    add_system(world, old)
    add_shop(world, old)
    settle(world)
    for row in world.resource:  # the shop is older than what the cluster remembers
        row["history"] = []
    for pod in world.resource.find(kind="Pod"):
        pod["restarts"] = int(pod["name"].startswith("cart-"))
    world.cluster["begins"] = False
    ship(world)


def add_node(world, name, address, created):
    is_plane = name.startswith("cp")
    labels = {"kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    labels |= {"node-role.kubernetes.io/control-plane": ""} if is_plane else {"disk": "ssd"}
    spec = {"podCIDR": f"10.244.{int(name[-1]) if not is_plane else 0}.0/24"}
    if is_plane:
        spec["taints"] = [{"effect": "NoSchedule", "key": "node-role.kubernetes.io/control-plane"}]
    add(world, "Node", name, spec=spec, labels=labels, created=created, address=address)


def container(name, image, port=None, **fields):
    ports = {"ports": [{"containerPort": port, "name": "http"}]} if port else {}
    requests = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}}
    return {"name": name, "image": image, **ports, "resources": requests, **fields}


def workload(world, kind, name, namespace, created, replicas, inner, port=None):
    labels = {"app": name}
    template = {"metadata": {"labels": dict(labels)}, "spec": {"containers": [inner]}}
    spec = {"selector": {"matchLabels": dict(labels)}, "template": template}
    if kind != "DaemonSet":
        spec["replicas"] = replicas
    if kind == "StatefulSet":
        spec["serviceName"] = name
    add(world, kind, name, namespace, spec, labels, created=created)
    if port:
        ports = [{"name": "http", "port": port}]
        add(world, "Service", name, namespace, {"selector": dict(labels), "ports": ports}, labels, created=created)


def add_system(world, old):
    for name, image in (("coredns", "registry.k8s.io/coredns/coredns:v1.12.0"),
                        ("metrics-server", "registry.k8s.io/metrics-server/metrics-server:v0.8.0")):  # fmt: skip
        replicas = 2 if name == "coredns" else 1
        workload(world, "Deployment", name, "kube-system", old, replicas, container(name, image))
    proxy = container("kube-proxy", "registry.k8s.io/kube-proxy:v1.33.4")
    workload(world, "DaemonSet", "kube-proxy", "kube-system", old, 0, proxy)
    for name, image, port in (("prometheus", "quay.io/prometheus/prometheus:v3.5.0", 9090),
                              ("grafana", "grafana/grafana:12.1.0", 3000)):  # fmt: skip
        workload(world, "Deployment", name, "monitoring", old, 1, container(name, image, port), port)
    add(world, "Service", "kubernetes", "default", {"ports": [{"name": "https", "port": 443, "targetPort": 6443}],
        "clusterIP": "10.96.0.1", "clusterIPs": ["10.96.0.1"]}, created=old)  # fmt: skip


def add_shop(world, old):
    newer = stamp(world.now - timedelta(days=31, hours=2))
    for name, tag, replicas in (("storefront", "3.11.1", 3), ("catalog", "2.4.7", 2), ("cart", "1.20.0", 2)):
        extra = {"envFrom": [{"configMapRef": {"name": "storefront-config"}}]} if name == "storefront" else {}
        inner = container(name, f"{REGISTRY}/{name}:{tag}", 8080, **extra)
        workload(world, "Deployment", name, "shop", newer, replicas, inner, 8080)
    database = {
        "name": "DATABASE_URL",
        "valueFrom": {"secretKeyRef": {"name": "checkout-database", "key": "DATABASE_URL"}},
    }
    inner = container("checkout", f"{REGISTRY}/checkout:1.8.1", 8080, env=[database],
                      envFrom=[{"configMapRef": {"name": "checkout-config"}}])  # fmt: skip
    workload(world, "Deployment", "checkout", "shop", newer, 2, inner, 8080)
    inner = container("mailer", f"{REGISTRY}/mailer:0.9.4", envFrom=[{"configMapRef": {"name": "mailer-config"}}])
    workload(world, "Deployment", "mailer", "shop", newer, 1, inner)
    key = {"secretKeyRef": {"name": "postgres-credentials", "key": "password"}}
    inner = container("postgres", "postgres:17.5", 5432, env=[{"name": "POSTGRES_PASSWORD", "valueFrom": key}])
    workload(world, "StatefulSet", "postgres", "shop", old, 1, inner, 5432)
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "20Gi"}},
        "storageClassName": "standard",
    }
    add(world, "PersistentVolumeClaim", "data-postgres-0", "shop", claim, {"app": "postgres"}, created=old)
    backend = {"service": {"name": "storefront", "port": {"number": 8080}}}
    rule = {"host": "teahouse.example", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
    add(world, "Ingress", "shop", "shop", {"ingressClassName": "nginx", "rules": [rule]}, created=old)
    inner = {
        "template": {
            "spec": {"restartPolicy": "Never", "containers": [container("report", f"{REGISTRY}/report:1.2.0")]}
        }
    }
    night = world.now.replace(hour=2, minute=30, second=0, microsecond=0)
    night = stamp(night if night < world.now else night - timedelta(days=1))
    spec = {"schedule": "30 2 * * *", "concurrencyPolicy": "Forbid", "suspend": False, "jobTemplate": {"spec": inner}}
    cron = add(world, "CronJob", "nightly-report", "shop", spec, created=newer)
    add(world, "Job", "nightly-report-31180950", "shop", inner, owner=cron["path"], created=night)


def ship(world):
    """Deploy a version of checkout whose image does not exist, as someone did a while ago."""
    row = world.resource["deployments/shop/checkout"]
    row["spec"]["template"]["spec"]["containers"][0]["image"] = f"{REGISTRY}/checkout:1.8.3"
    row["generation"] += 1
    settle(world)
    at = stamp(world.now - timedelta(minutes=38))
    for row in world.resource.find(created=stamp(world.now)):
        row["created"] = at
    for row in world.resource:
        row["history"] = [{**event, "at": at} for event in row["history"]]
