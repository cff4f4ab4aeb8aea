"""A simulated music service: a catalogue, playlists, saved music, and a player that goes on as time passes.

Most answers are texts for people. Some tools report a failure as an ordinary text, others as an error, as their server
does.
"""

import json
from datetime import timedelta
from hashlib import sha256

from catalogue import ALBUMS, DEVICES, LISTENER, PLAYLISTS, SAVED
from parts import count_of, day, duration, failure, id_of, line, moment, name_of, not_found, numbered, part
from player import active, item, left, named, play, playback, start, tracks_of

from mcp_sim.programs import Refused, initial, tool

tables = {
    "artist": {"natural": True, "fields": {"id": "", "name": ""}},
    "album": {
        "natural": True, "links": {"artist": "artist"},
        "fields": {"id": "", "name": "", "artist": "", "release_date": "", "saved": False},
    },
    "track": {
        "natural": True, "links": {"album": "album", "artist": "artist"},
        "fields": {"id": "", "name": "", "album": "", "artist": "", "number": 1, "duration_ms": 200_000,
                   "liked_at": None},
    },
    "playlist": {
        "natural": True,
        "fields": {"id": "", "name": "", "description": "", "public": False, "collaborative": False, "owner": "Robin",
                   "tracks": {"type": "array", "default": []}},
    },
    "device": {"natural": True, "fields": {"id": "", "name": "", "type": "", "is_active": False, "volume_percent": 50}},
    "player": {
        "singleton": True,
        "fields": {"is_playing": False, "since": "", "progress_ms": 0, "tracks": {"type": "array", "default": []},
                   "past": {"type": "array", "default": []}},
    },
}  # fmt: skip
"""The tracks of the player are the current one and those after it; its past has those before it."""


# the catalogue --------------------------------------------------------------------------------------------------------


def matches(world, row, query):
    names = (row["name"], name_of(world, "artist", row), name_of(world, "album", row), row.get("description", ""))
    text = " ".join(names).casefold()
    return all(word in text for word in query.casefold().replace('"', " ").split())


def found_line(world, kind, row):
    match kind:
        case "track":
            return f"{line(world, row)} - ID: {row['id']}"
        case "album":
            return f'"{row["name"]}" by {name_of(world, "artist", row)} - ID: {row["id"]}'
        case "artist":
            return f"{row['name']} - ID: {row['id']}"
    return f'"{row["name"]} ({row["description"] or "No description"} tracks)" by {row["owner"]} - ID: {row["id"]}'


@tool("searchSpotify", verb="search", entity="track")
def search(world, query, type, limit=10):
    table = {"track": world.track, "album": world.album, "artist": world.artist, "playlist": world.playlist}[type]
    rows = [row for row in table if matches(world, row, query)][: int(limit)]
    if not rows:
        return f'No {type} results found for "{query}"'
    lines = numbered(found_line(world, type, row) for row in rows)
    return f'# Search results for "{query}" (type: {type})\n\n{lines}'


def track_line(world, key):
    row = world.track.get(key)
    return "[Removed track]" if row is None else found_line(world, "track", row)


@tool("getAlbums", verb="get", entity="album")
def get_albums(world, albumIds):
    ids = [albumIds] if isinstance(albumIds, str) else albumIds
    if not ids:
        return "Error: No album IDs provided"
    rows = [world.album.get(key) for key in ids]
    if isinstance(albumIds, str) and rows == [None]:
        return f"Error getting albums: {not_found()}"
    if len(rows) == 1 and rows[0] is not None:
        row = rows[0]
        return (
            f'# Album Details\n\n**Name**: "{row["name"]}"\n**Artists**: {name_of(world, "artist", row)}\n'
            f"**Release Date**: {row['release_date']}\n**Type**: album\n"
            f"**Total Tracks**: {len(world.track.find(album=row['id']))}\n**ID**: {row['id']}"
        )
    return f"# Multiple Albums\n\n{numbered(album_line(world, row) for row in rows)}"


def album_line(world, row):
    if row is None:
        return "[Album not found]"
    artist, n = name_of(world, "artist", row), len(world.track.find(album=row["id"]))
    return f'"{row["name"]}" by {artist} ({row["release_date"]}) - {n} tracks - ID: {row["id"]}'


@tool("getAlbumTracks", verb="list", entity="track")
def get_album_tracks(world, albumId, limit=20, offset=0):
    if albumId not in world.album:
        return f"Error getting album tracks: {not_found()}"
    rows = sorted(world.track.find(album=albumId), key=lambda row: row["number"])
    shown, span = part(rows, limit, offset)
    if not shown:
        return "No tracks found in this album"
    lines = numbered((found_line(world, "track", row) for row in shown), int(offset) + 1)
    return f"# Album Tracks ({span} of {len(rows)})\n\n{lines}"


@tool("saveOrRemoveAlbumForUser", verb="update", entity="album")
def save_or_remove_album(world, albumIds, action):
    if not albumIds:
        return "Error: No album IDs provided"
    if any(key not in world.album for key in albumIds):
        return f"Error {action[:-1]}ing albums: {failure(400, 'Bad Request', 'invalid id')}"
    for album_id in world.each(albumIds):
        world.album.get(album_id)["saved"] = action == "save"
    done = "saved" if action == "save" else "removed"
    where = "to" if action == "save" else "from"
    return f"Successfully {done} {len(albumIds)} album{'s' * (len(albumIds) != 1)} {where} your library"


@tool("checkUsersSavedAlbums", verb="get", entity="album")
def check_saved_albums(world, albumIds):
    if not albumIds:
        return "Error: No album IDs provided"
    marks = ((world.album.get(key) or {}).get("saved") for key in albumIds)
    lines = (f"{key}: {'Saved' if mark else 'Not saved'}" for key, mark in zip(albumIds, marks, strict=True))
    return f"# Album Save Status\n\n{numbered(lines)}"


@tool("getUsersSavedTracks", verb="list", entity="track")
def get_saved_tracks(world, limit=50, offset=0):
    rows = sorted((row for row in world.track if row["liked_at"]), key=lambda row: row["liked_at"], reverse=True)
    shown, span = part(rows, limit, offset)
    if not shown:
        return "You don't have any saved tracks in your Liked Songs"
    lines = (f"{found_line(world, 'track', row)} - Added: {day(row['liked_at'])}" for row in shown)
    return f"# Your Liked Songs ({span} of {len(rows)})\n\n{numbered(lines, int(offset) + 1)}"


# playlists ------------------------------------------------------------------------------------------------------------


@tool("getMyPlaylists", verb="list", entity="playlist")
def get_my_playlists(world, limit=50):
    rows = world.playlist.find(owner=LISTENER)[: int(limit)]
    if not rows:
        return "You don't have any playlists on Spotify"
    lines = (f'"{row["name"]}" ({len(row["tracks"])} tracks) - ID: {row["id"]}' for row in rows)
    return f"# Your Spotify Playlists\n\n{numbered(lines)}"


@tool("getPlaylist", verb="get", entity="playlist", key="playlistId")
def get_playlist(world, playlistId):
    row = world.playlist.get(playlistId)
    if row is None:
        return f"Error getting playlist: {not_found()}"
    marks = ("Public" if row["public"] else "Private") + " | Collaborative" * row["collaborative"]
    about = f"\n**Description**: {row['description']}" if row["description"] else ""
    return (
        f'# Playlist: "{row["name"]}"\n\n**Owner**: {row["owner"]}\n**Tracks**: {len(row["tracks"])}\n'
        f"**Visibility**: {marks}{about}\n**ID**: {row['id']}\n**URL**: {url(row)}"
    )


def url(row):
    return f"https://open.spotify.com/playlist/{row['id']}"


@tool("getPlaylistTracks", verb="get", entity="playlist", key="playlistId")
def get_playlist_tracks(world, playlistId, limit=50, offset=0):
    row = world.playlist.get(playlistId)
    if row is None:
        raise Refused(not_found())
    shown, span = part([*row["tracks"]], limit, offset)
    if not shown:
        return "This playlist doesn't have any tracks"
    lines = numbered((track_line(world, track) for track in shown), int(offset) + 1)
    return f"# Tracks in Playlist ({span} of {len(row['tracks'])})\n\n{lines}"


@tool("createPlaylist", verb="create", entity="playlist")
def create_playlist(world, name, description="", public=False, collaborative=False):
    if collaborative and public:
        return "Error: A playlist cannot be both collaborative and public at the same time."
    if not name.strip():
        raise Refused(f"Failed to create playlist: {json.dumps({'error': {'status': 400, 'message': 'Missing name'}})}")
    row = world.playlist.add(
        id=id_of("playlist", f"{len(world.playlist)} {name}"), name=name, description=description or "", public=public,
        collaborative=collaborative,
    )  # fmt: skip
    return f'Successfully created playlist "{name}"\nPlaylist ID: {row["id"]}\nPlaylist URL: {url(row)}'


@tool("updatePlaylist", verb="update", entity="playlist", key="playlistId")
def update_playlist(world, playlistId, name="", description=None, public=None, collaborative=None):
    given = {"name": name or None, "description": description, "public": public, "collaborative": collaborative}
    body = {field: value for field, value in given.items() if value is not None}
    if not body:
        fields = "name, description, public, collaborative"
        return f"Error: At least one field to update must be provided ({fields})"
    row = world.playlist.get(playlistId)
    if row is None:
        return f"Error updating playlist: {not_found()}"
    row.update(body)
    return f"Successfully updated playlist (ID: {playlistId})\nFields updated: {', '.join(body)}"


@tool("addTracksToPlaylist", verb="update", entity="playlist", key="playlistId")
def add_tracks(world, playlistId, trackIds, position=None):
    if not trackIds:
        return "Error: No track IDs provided"
    problem = playlist_problem(world, playlistId, trackIds)
    if problem:
        return f"Error adding tracks to playlist: Failed to add tracks: {problem}"
    tracks = world.playlist.get(playlistId)["tracks"]
    at = len(tracks) if position is None else int(position)
    tracks[at:at] = trackIds
    return f"Successfully added {tracks_text(trackIds)} to playlist (ID: {playlistId})"


def playlist_problem(world, playlist, tracks):
    """Return the body of the service's refusal; None if the playlist and the tracks exist."""
    known = playlist in world.playlist
    status, message = (404, "Resource not found") if not known else (400, "Payload contains a non-existing ID")
    if known and all(track in world.track for track in tracks):
        return None
    return json.dumps({"error": {"status": status, "message": message}})


def tracks_text(ids):
    return f"{len(ids)} track{'s' * (len(ids) != 1)}"


@tool("removeTracksFromPlaylist", verb="update", entity="playlist", key="playlistId")
def remove_tracks(world, playlistId, trackIds):
    problem = playlist_problem(world, playlistId, [])
    if problem:
        return f"Error removing tracks from playlist: Spotify API error 404: {problem}"
    row = world.playlist.get(playlistId)
    row["tracks"] = [track for track in row["tracks"] if track not in trackIds]
    return f"Successfully removed {tracks_text(trackIds)} from playlist (ID: {playlistId})"


@tool("reorderPlaylistItems", verb="update", entity="playlist", key="playlistId")
def reorder(world, playlistId, rangeStart, insertBefore, rangeLength=1):
    start, before, n = int(rangeStart), int(insertBefore), int(rangeLength)
    problem = playlist_problem(world, playlistId, [])
    if problem:
        return f"Error reordering playlist items: Spotify API error 404: {problem}"
    row = world.playlist.get(playlistId)
    tracks = [*row["tracks"]]
    if start + n > len(tracks) or before > len(tracks):
        refusal = json.dumps({"error": {"status": 400, "message": "Index out of bounds"}})
        return f"Error reordering playlist items: Spotify API error 400: {refusal}"
    moved = tracks[start : start + n]
    at = before if before <= start else max(start, before - n)
    rest = tracks[:start] + tracks[start + n :]
    row["tracks"] = rest[:at] + moved + rest[at:]
    place = f"from position {start} to before position {before}"
    return f"Successfully moved {tracks_text(moved)} {place} in playlist (ID: {playlistId})"


# the player -----------------------------------------------------------------------------------------------------------


@tool("playMusic", verb="update", entity="player")
def play_music(world, uri=None, type=None, id=None, deviceId=None):
    wanted = named(uri, type, id)
    if wanted is None:
        return "Error: Must provide either a URI or both a type and ID"
    active(world, deviceId)
    tracks, past, _ = playback(world)
    play(world, item(world, wanted), left(world, tracks, past))
    return f"Started playing {type or 'music'} {f'(ID: {id})' if id else ''}"


@tool("pausePlayback", verb="update", entity="player")
def pause(world, deviceId=None):
    active(world, deviceId)
    tracks, past, progress = playback(world)
    if not (world.player["is_playing"] and tracks):
        raise Refused(failure(403, "Forbidden", "Player command failed: Restriction violated", "UNKNOWN"))
    play(world, tracks, past, progress, is_playing=False)
    return "Playback paused"


@tool("resumePlayback", verb="update", entity="player")
def resume(world, deviceId=None):
    active(world, deviceId)
    tracks, past, progress = playback(world)
    if world.player["is_playing"] or not tracks:
        raise Refused(failure(403, "Forbidden", "Player command failed: Restriction violated", "UNKNOWN"))
    play(world, tracks, past, progress)
    return "Playback resumed"


@tool("skipToNext", verb="update", entity="player")
def skip_to_next(world, deviceId=None):
    active(world, deviceId)
    tracks, past, _ = playback(world)
    play(world, tracks[1:], left(world, tracks, past))
    return "Skipped to next track"


@tool("skipToPrevious", verb="update", entity="player")
def skip_to_previous(world, deviceId=None):
    active(world, deviceId)
    tracks, past, _ = playback(world)
    before = [past[-1]["track"]] if past else []
    play(world, [*before, *tracks], past[:-1])
    return "Skipped to previous track"


@tool("addToQueue", verb="update", entity="player")
def add_to_queue(world, uri=None, type=None, id=None, deviceId=None):
    wanted = named(uri, type, id)
    if wanted is None:
        return "Error: Must provide either a URI or both a type and ID"
    active(world, deviceId)
    added, (tracks, past, progress) = item(world, wanted), playback(world)
    is_playing = world.player["is_playing"]
    play(world, [*tracks[:1], *added, *tracks[1:]], past, progress, is_playing=is_playing)
    return f"Added item {wanted} to queue"


@tool("setVolume", verb="update", entity="device")
def set_volume(world, volumePercent, deviceId=None):
    try:
        active(world, deviceId)["volume_percent"] = round(volumePercent)
    except Refused as refusal:
        return f"Error setting volume: {refusal}"
    return f"Volume set to {round(volumePercent)}%"


@tool("adjustVolume", verb="update", entity="device")
def adjust_volume(world, adjustment, deviceId=None):
    row = world.device.get(deviceId) if deviceId else next(iter(world.device.find(is_active=True)), None)
    if row is None:
        return "No active device found. Make sure Spotify is open and playing on a device."
    before = row["volume_percent"]
    row["volume_percent"] = round(min(100, max(0, before + adjustment)))
    return f"Volume {'increased' if adjustment > 0 else 'decreased'} from {before}% to {row['volume_percent']}%"


@tool("getNowPlaying", verb="get", entity="player")
def get_now_playing(world):
    tracks, _, progress = playback(world)
    if not tracks:
        return "Nothing is currently playing on Spotify"
    track, device = world.track.get(tracks[0]), next(iter(world.device.find(is_active=True)), None)
    where = "Unknown device" if device is None else f"{device['name']} ({device['type']})"
    volume = "N/A" if device is None else f"{device['volume_percent']}%"
    return (
        f"# Currently {'Playing' if world.player['is_playing'] else 'Paused'}\n\n"
        f'**Track**: "{track["name"]}"\n**Artist**: {name_of(world, "artist", track)}\n'
        f"**Album**: {name_of(world, 'album', track)}\n"
        f"**Progress**: {duration(progress)} / {duration(track['duration_ms'])}\n**ID**: {track['id']}\n\n"
        f"**Device**: {where}\n**Volume**: {volume}\n**Shuffle**: Off | **Repeat**: off"
    )


@tool("getQueue", verb="get", entity="player")
def get_queue(world, limit=10):
    tracks, _, _ = playback(world)
    rows = [world.track.get(track) for track in tracks[: int(limit) + 1]]
    now = f"Currently Playing: {line(world, rows[0])}" if rows else "Nothing is currently playing"
    if len(rows) < 2:
        return f"# Spotify Queue\n\n{now}\n\nNo upcoming items in the queue"
    lines = numbered(found_line(world, "track", row) for row in rows[1:])
    return f"# Spotify Queue\n\n{now}\n\nNext {len(rows) - 1} in queue:\n\n{lines}"


@tool("getRecentlyPlayed", verb="get", entity="player")
def get_recently_played(world, limit=50):
    _, past, _ = playback(world)
    shown = past[::-1][: int(limit)]
    if not shown:
        return "You don't have any recently played tracks on Spotify"
    lines = (f"{track_line(world, played['track'])} - Played at: {moment(played['at'])}" for played in shown)
    return f"# Recently Played Tracks\n\n{numbered(lines)}"


@tool("getAvailableDevices", verb="list", entity="device")
def get_available_devices(world):
    if not len(world.device):
        return "No available devices found. Make sure Spotify is open on at least one device."
    lines = (
        f"{number}. {row['name']} ({row['type']})\n   Status: {'▶ Active' if row['is_active'] else '○ Inactive'} | "
        f"Volume: {row['volume_percent']}% | ID: {row['id']}"
        for number, row in enumerate(world.device, 1)
    )
    return "# Available Spotify Devices\n\n" + "\n\n".join(lines)


# the beginning --------------------------------------------------------------------------------------------------------


@initial
def begin(given, world):
    """Fill the world; `world.state` may say that nothing is `playing`, and how many tracks are `liked` (default 12)."""
    state, chance = given or {}, world.random
    liked = count_of(state.get("liked", 12))
    for title, artist, released, tracks in ALBUMS:
        add_album(world, title, artist, released, tracks.split(", "))
    for name, kind, volume in DEVICES:
        is_first = name == DEVICES[0][0]
        key = sha256(name.encode()).hexdigest()[:40]
        world.device.add(id=key, name=name, type=kind, is_active=is_first, volume_percent=volume)
    playlists = []
    for name, description, is_public, albums in PLAYLISTS:
        pool = [key for title in albums.split(", ") for key in tracks_of(world, "album", id_of("album", title))]
        tracks = chance.sample(pool, min(len(pool), 14))
        key = id_of("playlist", f"{len(world.playlist)} {name}")
        playlists.append(tracks)
        world.playlist.add(id=key, name=name, description=description, public=is_public, tracks=tracks)
    for days, row in enumerate(chance.sample([*world.track], min(len(world.track), liked)), 2):
        row["liked_at"] = (world.now - timedelta(days=11 * days, minutes=chance.randrange(600))).isoformat()
    start(world, playlists[0], state.get("playing", True))


def add_album(world, title, artist, released, tracks):
    maker, key = id_of("artist", artist), id_of("album", title)
    if maker not in world.artist:
        world.artist.add(id=maker, name=artist)
    world.album.add(id=key, name=title, artist=maker, release_date=released, saved=title in SAVED)
    for number, name in enumerate(tracks, 1):
        track = id_of("track", f"{title} {name}")
        length = 140_000 + int(sha256(track.encode()).hexdigest()[:4], 16) * 3
        world.track.add(id=track, name=name, album=key, artist=maker, number=number, duration_ms=length)
