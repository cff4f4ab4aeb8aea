"""What pods do: whether their image can be pulled, whether they run, what they log, use and report."""

from datetime import datetime, timedelta
from hashlib import sha256

REGISTRY = "registry.teahouse.example"
PULLED = 2  # seconds until a container of a known image runs
BACKOFF = 15  # seconds after which the kubelet pulls or starts less often
NEEDED = {"mailer": "SMTP_HOST", "checkout": "DATABASE_URL"}
"""What the programs of an image read from their environment. Without it they end at once."""
LINES = {
    "storefront": ("GET / 200 12ms", "GET /tea/sencha 200 18ms", "GET /cart 200 9ms", "GET /healthz 200 1ms"),
    "catalog": ("GET /v1/teas?limit=20 200 21ms", "cache hit teas:green", "GET /v1/teas/17 200 6ms"),
    "cart": ("PUT /v1/carts/8841/items 200 14ms", "GET /v1/carts/8841 200 5ms", "expired 3 carts"),
    "checkout": ("POST /v1/orders 201 84ms", "payment authorised order=5127", "GET /healthz 200 1ms"),
    "mailer": ("sent confirmation order=5127", "queue is empty", "sent newsletter batch=12"),
    "postgres": ("checkpoint starting: time", "checkpoint complete: wrote 44 buffers (0.3%)"),
    "busybox": (),
}
ANY_LINES = ("started worker", "GET /healthz 200 1ms", "collected 214 samples", "reloaded configuration")


def number(text, size):
    """Return a number below `size` that belongs to a text: the same in each call."""
    return int.from_bytes(sha256(text.encode()).digest()[:6], "big") % size


def age(world, row):
    return (world.now - datetime.fromisoformat(row["created"])).total_seconds()


def image_name(image):
    """Return the last part of an image's name, without its tag."""
    return image.rsplit("/", 1)[-1].split(":")[0].split("@")[0]


def can_pull(world, image):
    """Whether an image exists: all of public registries, and what the cluster's own registry has."""
    if not image.startswith(REGISTRY):
        return " " not in image and image == image.lower()
    row = world.image.get(image_name(image))
    return row is not None and image.rsplit(":", 1)[-1] in row["tags"]


def environment(world, pod, container):
    """Return the environment of a container, and the problem that keeps it from being created."""
    values, problem = {"HOSTNAME": pod["name"], "KUBERNETES_SERVICE_HOST": "10.96.0.1"}, None
    for source in container.get("envFrom", []):
        kind, name, is_optional = reference(source, "configMapRef", "secretRef")
        row = world.resource.get(f"{kind}/{pod['namespace']}/{name}")
        if row is None and not is_optional:
            problem = problem or f'{kind[:-1]} "{name}" not found'
        values |= row["data"] if row else {}
    for item in container.get("env", []):
        if "valueFrom" not in item:
            values[item["name"]] = item.get("value", "")
            continue
        source = item["valueFrom"]
        kind, name, is_optional = reference(source, "configMapKeyRef", "secretKeyRef")
        key = (source.get("configMapKeyRef") or source.get("secretKeyRef") or {}).get("key", "")
        row = world.resource.get(f"{kind}/{pod['namespace']}/{name}")
        if row is not None and key in row["data"]:
            values[item["name"]] = row["data"][key]
        elif not is_optional and kind:
            problem = problem or (
                f'{kind[:-1]} "{name}" not found' if row is None else f"couldn't find key {key} in {kind[:-1]} {name}"
            )
    return values, problem


def reference(source, config, secret):
    for field, kind in ((config, "configmaps"), (secret, "secrets")):
        if field in source:
            return kind, source[field].get("name", ""), source[field].get("optional", False)
    return "", "", True


def trouble(world, pod, container):
    """Return why a container does not run, and the message of its kubelet; None if it does."""
    values, problem = environment(world, pod, container)
    if not can_pull(world, container["image"]):
        late = age(world, pod) > BACKOFF
        return "ImagePullBackOff" if late else "ErrImagePull", f'Back-off pulling image "{container["image"]}"'
    if problem:
        return "CreateContainerConfigError", problem
    needed = NEEDED.get(image_name(container["image"]))
    if needed and not values.get(needed):
        return "CrashLoopBackOff", f"{needed} is not set"
    return None


def state(world, pod):
    """Return phase, status (as lists show it), readiness by container, restarts, and the containers' troubles."""
    containers = pod["spec"]["containers"]
    troubles = [trouble(world, pod, container) for container in containers]
    seconds, reason = age(world, pod), next((problem[0] for problem in troubles if problem), None)
    if not pod["spec"].get("nodeName"):
        return "Pending", "Pending", [False] * len(containers), 0, troubles
    if pod["spec"].get("restartPolicy") in ("Never", "OnFailure") and reason is None and seconds >= PULLED:
        return "Succeeded", "Completed", [False] * len(containers), 0, troubles
    if seconds < PULLED and reason != "CreateContainerConfigError":
        return "Pending", "ContainerCreating", [False] * len(containers), 0, troubles
    if reason is None:
        return "Running", "Running", [True] * len(containers), pod["restarts"], troubles
    # The pauses of the kubelet double up to five minutes; the first ones are short.
    restarts = min(int(seconds // 10), 4) + int(seconds // 300) if reason == "CrashLoopBackOff" else 0
    return "Running" if restarts else "Pending", reason, [problem is None for problem in troubles], restarts, troubles


def is_ready(world, pod):
    return all(state(world, pod)[2])


def will_run(world, pod):
    """Whether nothing keeps a pod from running, now or soon."""
    return not any(trouble(world, pod, container) for container in pod["spec"]["containers"])


def log(world, pod, container, lines):
    """Return the last lines that a container wrote, up to now."""
    problem, name = trouble(world, pod, container), image_name(container["image"])
    if problem and problem[0] == "CrashLoopBackOff":
        started = world.now - timedelta(seconds=number(pod["name"], 60))
        return [f"{moment(started)} INFO starting {name}", f"{moment(started)} FATAL {problem[1]}"][-lines:]
    texts, step = LINES.get(name, ANY_LINES), 7 + number(pod["name"], 20)
    count = min(lines, int(age(world, pod) // step)) if texts else 0
    last = int(world.now.timestamp() // step)
    moments = [datetime.fromtimestamp(at * step, world.now.tzinfo) for at in range(last - count + 1, last + 1)]
    return [f"{moment(at)} INFO {texts[number(pod['uid'] + moment(at), len(texts))]}" for at in moments]


def moment(time):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def usage(world, pod):
    """Return the CPU (thousandths) and memory (MiB) that each container uses; pods that do not run use none."""
    if state(world, pod)[0] != "Running":
        return []
    ready = state(world, pod)[2]
    return [
        (container["name"], 2 + number(f"{pod['uid']}{world.now.minute}", 90), 24 + number(pod["uid"], 400))
        for container, runs in zip(pod["spec"]["containers"], ready, strict=True)
        if runs
    ]


def events(world, pod):
    """Yield what was reported about a pod: type, reason, message, seconds after its creation, and how often."""
    name = f"{pod['namespace']}/{pod['name']}"
    if not pod["spec"].get("nodeName"):
        yield "Warning", "FailedScheduling", "0/4 nodes are available: no node matches the pod's node selector.", 0, 1
        return
    yield "Normal", "Scheduled", f"Successfully assigned {name} to {pod['spec']['nodeName']}", 0, 1
    for container in pod["spec"]["containers"]:
        image, problem = container["image"], trouble(world, pod, container)
        times = max(1, int(age(world, pod) // 60))
        if problem and problem[0] in ("ErrImagePull", "ImagePullBackOff"):
            reference = f'failed to pull and unpack image "{image}": {image}: not found'
            yield "Normal", "Pulling", f'Pulling image "{image}"', 1, min(times, 4)
            yield (
                "Warning",
                "Failed",
                f'Failed to pull image "{image}": rpc error: code = NotFound desc = {reference}',
                1,
                4,
            )
            yield "Warning", "Failed", "Error: ErrImagePull", 1, 4
            yield "Normal", "BackOff", f'Back-off pulling image "{image}"', BACKOFF, times
        elif problem and problem[0] == "CreateContainerConfigError":
            yield "Warning", "Failed", f"Error: {problem[1]}", 1, times
        else:
            yield "Normal", "Pulled", f'Container image "{image}" already present on machine', 1, 1
            yield "Normal", "Created", f"Created container: {container['name']}", PULLED, 1
            yield "Normal", "Started", f"Started container {container['name']}", PULLED, 1
            if problem:
                text = (
                    f"Back-off restarting failed container {container['name']} in pod {pod['name']}_{pod['namespace']}"
                )
                yield "Warning", "BackOff", f"{text}({pod['uid']})", BACKOFF, times
