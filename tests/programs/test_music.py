"""The music service: what is found, playlists, the library, and a player that goes on as time passes."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

SLACK_WATER = "321wYVmSOokjMnBCAowCz2"
UNKNOWN = "0000000000000000000000"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("calm_music")).open(clock="virtual") as opened:
        yield opened


async def ask(world: World, tool: str, **arguments: Any) -> str:
    return value(await world.call(tool, arguments))


def ids(text: str) -> list[str]:
    return re.findall(r"ID\*{0,2}: (\w{22})", text)


async def playlist(world: World, name: str = "Test") -> str:
    made = await ask(world, "createPlaylist", name=name)
    assert made.startswith(f'Successfully created playlist "{name}"\nPlaylist ID: ')
    return ids(made)[0]


async def tracks(world: World, key: str) -> list[str]:
    return ids(await ask(world, "getPlaylistTracks", playlistId=key))


async def test_what_is_found_has_its_parts_and_the_same_ids_everywhere(world: World) -> None:
    albums = await ask(world, "searchSpotify", query="kestrel nine", type="album")
    assert albums.splitlines()[2].startswith('1. "Cartography" by Kestrel Nine - ID: ')
    first, second = ids(albums)
    listed = await ask(world, "getAlbumTracks", albumId=first, limit=2, offset=2)
    assert listed.startswith('# Album Tracks (3-4 of 6)\n\n3. "Cartography" by Kestrel Nine (')
    assert ids(listed)[0] in await ask(world, "searchSpotify", query="Cartography", type="track")
    assert "**Total Tracks**: 6" in await ask(world, "getAlbums", albumIds=first)
    both = await ask(world, "getAlbums", albumIds=[first, UNKNOWN, second])
    assert "2. [Album not found]" in both
    assert await ask(world, "searchSpotify", query="zither", type="artist") == 'No artist results found for "zither"'


async def test_a_playlist_is_filled_ordered_and_emptied(world: World) -> None:
    key, known = await playlist(world), ids(await ask(world, "getAlbumTracks", albumId=SLACK_WATER))
    assert await ask(world, "getPlaylistTracks", playlistId=key) == "This playlist doesn't have any tracks"
    added = await ask(world, "addTracksToPlaylist", playlistId=key, trackIds=known[:4])
    assert added == f"Successfully added 4 tracks to playlist (ID: {key})"
    await ask(world, "addTracksToPlaylist", playlistId=key, trackIds=known[4:5], position=1)
    assert await tracks(world, key) == [known[0], known[4], *known[1:4]]
    await ask(world, "reorderPlaylistItems", playlistId=key, rangeStart=0, insertBefore=3, rangeLength=2)
    assert await tracks(world, key) == [known[1], known[0], known[4], *known[2:4]]
    await ask(world, "reorderPlaylistItems", playlistId=key, rangeStart=3, insertBefore=0)
    assert await tracks(world, key) == [known[2], known[1], known[0], known[4], known[3]]
    removed = await ask(world, "removeTracksFromPlaylist", playlistId=key, trackIds=[known[1]])
    assert removed == f"Successfully removed 1 track from playlist (ID: {key})"
    changed = await ask(world, "updatePlaylist", playlistId=key, name="Quay", public=True)
    assert changed.endswith("Fields updated: name, public")
    shown = await ask(world, "getPlaylist", playlistId=key)
    assert shown.startswith('# Playlist: "Quay"\n\n**Owner**: Robin\n**Tracks**: 4\n**Visibility**: Public\n')
    assert '5. "Quay" (4 tracks)' in await ask(world, "getMyPlaylists")


async def test_the_player_goes_on_as_time_passes(world: World) -> None:
    queue = ids(await ask(world, "getQueue", limit=50))
    now = ids(await ask(world, "getNowPlaying"))[0]
    await world.advance(timedelta(minutes=6))
    later = ids(await ask(world, "getNowPlaying"))[0]
    assert later in queue
    assert later != now
    assert ids(await ask(world, "getRecentlyPlayed", limit=1)) == [([now, *queue])[queue.index(later)]]
    assert await ask(world, "pausePlayback") == "Playback paused"
    paused = await ask(world, "getNowPlaying")
    await world.advance(timedelta(hours=1))
    assert await ask(world, "getNowPlaying") == paused
    assert "Restriction violated" in message(await world.call("pausePlayback", {}))
    assert await ask(world, "resumePlayback") == "Playback resumed"
    await world.advance(timedelta(days=1))
    assert await ask(world, "getNowPlaying") == "Nothing is currently playing on Spotify"


async def test_what_is_queued_plays_next_and_one_may_go_back(world: World) -> None:
    first, second = ids(await ask(world, "getAlbumTracks", albumId=SLACK_WATER, limit=2))
    now = ids(await ask(world, "getNowPlaying"))[0]
    assert await ask(world, "addToQueue", type="track", id=first) == f"Added item spotify:track:{first} to queue"
    assert ids(await ask(world, "getQueue", limit=1)) == [first]
    await ask(world, "skipToNext")
    assert ids(await ask(world, "getNowPlaying")) == [first]
    await ask(world, "skipToPrevious")
    assert ids(await ask(world, "getNowPlaying")) == [now]
    await ask(world, "playMusic", uri=f"spotify:album:{SLACK_WATER}")
    assert ids(await ask(world, "getNowPlaying")) == [first]
    assert ids(await ask(world, "getQueue", limit=1)) == [second]


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("createPlaylist", {"name": "x", "public": True, "collaborative": True}, "Error: A playlist cannot be both"),
        ("addTracksToPlaylist", {"playlistId": UNKNOWN, "trackIds": [UNKNOWN]}, "Resource not found"),
        ("addTracksToPlaylist", {"playlistId": "MINE", "trackIds": [UNKNOWN]}, "Payload contains a non-existing ID"),
        ("removeTracksFromPlaylist", {"playlistId": UNKNOWN, "trackIds": [UNKNOWN]}, "Resource not found"),
        ("reorderPlaylistItems", {"playlistId": "MINE", "rangeStart": 90, "insertBefore": 0}, "Index out of bounds"),
        ("updatePlaylist", {"playlistId": "MINE"}, "Error: At least one field to update must be provided"),
        ("getPlaylist", {"playlistId": UNKNOWN}, "Error getting playlist: Unrecognised response code: 404"),
        ("getAlbums", {"albumIds": UNKNOWN}, "Error getting albums: Unrecognised response code: 404"),
        ("getAlbumTracks", {"albumId": UNKNOWN}, "Error getting album tracks: Unrecognised response code: 404"),
        ("saveOrRemoveAlbumForUser", {"albumIds": [UNKNOWN], "action": "save"}, "Error saving albums: "),
        ("setVolume", {"volumePercent": 5, "deviceId": "none"}, "Error setting volume: "),
        ("playMusic", {"type": "track"}, "Error: Must provide either a URI or both a type and ID"),
        ("playMusic", {"uri": "spotify:track:none"}, "Resource not found"),
        ("getPlaylistTracks", {"playlistId": UNKNOWN}, "Resource not found"),
        ("skipToNext", {"deviceId": "none"}, "Device not found"),
    ],
)
async def test_what_is_refused_says_why_and_writes_nothing(tool: str, arguments: Any, text: str, world: World) -> None:
    mine = ids(await ask(world, "getMyPlaylists"))[0]
    given = {name: mine if part == "MINE" else part for name, part in arguments.items()}
    before = {entity: [*world.view.rows(entity)] for entity in world.view.entities()}
    answer = await world.call(tool, given)
    assert text in str(answer.body)
    assert before == {entity: [*world.view.rows(entity)] for entity in world.view.entities()}
