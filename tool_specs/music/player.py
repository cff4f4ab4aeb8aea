"""The player of the music service: what plays now, on which device, and what comes next."""

from datetime import datetime, timedelta

from parts import failure, not_found

from mcp_sim.programs import Refused

MOST_PAST = 50
"""The most tracks that were played and are remembered."""


def playback(world):
    """Return what plays now, as time has passed: the tracks from the current one on, those before, and the progress."""
    player = world.player
    tracks = [track for track in player["tracks"] if track in world.track]
    past, progress = [*player["past"]], player["progress_ms"]
    if player["is_playing"]:
        began = datetime.fromisoformat(player["since"])
        progress += (world.now - began) // timedelta(milliseconds=1)
        at = began - timedelta(milliseconds=player["progress_ms"])
        while tracks and progress >= world.track.get(tracks[0])["duration_ms"]:
            length = world.track.get(tracks[0])["duration_ms"]
            past.append({"track": tracks.pop(0), "at": at.isoformat()})
            progress, at = progress - length, at + timedelta(milliseconds=length)
    return tracks, past[-MOST_PAST:], progress if tracks else 0


def play(world, tracks, past, progress_ms=0, *, is_playing=True):
    """Set what the player does from now on."""
    world.player.update(
        tracks=tracks, past=past[-MOST_PAST:], progress_ms=progress_ms, since=world.now.isoformat(),
        is_playing=is_playing and bool(tracks),
    )  # fmt: skip


def start(world, tracks, is_playing):
    """Let a playlist play for some tracks."""
    n = 5 if is_playing else len(tracks)
    at, past = world.now - timedelta(milliseconds=71_000), []
    for track in tracks[:n][::-1]:
        at -= timedelta(milliseconds=world.track.get(track)["duration_ms"])
        past.insert(0, {"track": track, "at": at.isoformat()})
    play(world, tracks[n:], past, 71_000 if tracks[n:] else 0)


def active(world, device=None):
    """Return the device that is meant. Raises `Refused` without an active one."""
    row = world.device.get(device) if device else next(iter(world.device.find(is_active=True)), None)
    if row is None and device:
        raise Refused(failure(404, "Not Found", "Device not found"))
    if row is None:
        message = "Player command failed: No active device found"
        raise Refused(failure(404, "Not Found", message, "NO_ACTIVE_DEVICE"))
    for other in world.device:
        if other["is_active"] and other["id"] != row["id"]:
            other["is_active"] = False
    if not row["is_active"]:
        row["is_active"] = True
    return row


def left(world, tracks, past):
    """Return the past with the current track, which is left."""
    return [*past, {"track": tracks[0], "at": world.now.isoformat()}] if tracks else past


def tracks_of(world, kind, key):
    """Return the ids of the tracks of an item. Raises `Refused` if it does not exist."""
    row = world[kind].get(key) if kind in {"track", "album", "artist", "playlist"} else None
    if row is None:
        raise Refused(not_found())
    if kind in {"album", "artist"}:
        return [track["id"] for track in world.track.find(**{kind: key})]
    return [key] if kind == "track" else [*row["tracks"]]


def named(uri, kind, key):
    """Return the URI that a call names; None if it names nothing."""
    return uri or (f"spotify:{kind}:{key}" if kind and key else None)


def item(world, uri):
    kind, _, key = uri.removeprefix("spotify:").partition(":")
    return tracks_of(world, kind, key)
