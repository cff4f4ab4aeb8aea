"""Simulated parcel lockers: a parcel takes the smallest free locker that it fits into."""

from mcp_sim.programs import Refused, tool

SIZES = "SML"

tables = {
    "locker": {"key": "number", "natural": True, "fields": {"number": "", "station": "", "size": "S", "parcel_id": ""}},
    "parcel": {"ids": "P-1001", "fields": {"recipient": "", "size": "S", "code": "", "locker": "", "collected": False}},
}


@tool(reads=True)
def list_lockers(world, station, free=None):
    lockers = world.locker.find(station=station)
    if not lockers:
        raise Refused(f"No station {station}")
    return [locker for locker in lockers if free is None or free != bool(locker["parcel_id"])]


@tool(verb="create", entity="parcel")
def deposit_parcel(world, station, recipient, size):
    fitting = [locker for locker in world.locker.find(station=station, parcel_id="") if fits(size, locker)]
    if not fitting:
        raise Refused(f"No free locker of size {size} at {station}")
    locker = min(fitting, key=lambda locker: SIZES.index(locker["size"]))
    code = f"{world.random.randrange(10_000):04}"
    parcel = world.parcel.add(recipient=recipient, size=size, code=code, locker=locker["number"])
    locker["parcel_id"] = parcel["id"]
    return parcel


@tool(verb="update", entity="parcel", key="parcel_id")
def collect_parcel(world, parcel_id, code):
    parcel = world.parcel.get(parcel_id)
    if parcel is None or parcel["collected"]:
        raise Refused(f"No parcel {parcel_id}")
    if parcel["code"] != code:
        raise Refused("Wrong code")
    parcel["collected"] = True
    world.locker.get(parcel["locker"])["parcel_id"] = ""
    return f"Locker {parcel['locker']} is open."


def fits(size, locker):
    return SIZES.index(size) <= SIZES.index(locker["size"])
