"""The conversation of a world with a model: its transcript, and the requests that continue it.

Turns are only appended to a transcript, so a world and its forks share one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from secrets import token_hex

from mcp_sim.models.language_model import prompt
from mcp_sim.models.language_model.disclosure import Disclosure
from mcp_sim.models.language_model.endpoint import Ask, Request
from mcp_sim.models.language_model.reply import COMPLAINT, Reply
from mcp_sim.types import Attempt, Change, Json, Memory, Observation, Record, Transition, Turn, View, frozen
from mcp_sim.types.errors import Crash, TooLong, Unanswered

MAX_RETRY_QUOTE = 4_000
"""How much of a rejected reply is quoted in the next request, in characters. A reply that ran until its tokens ended
would leave no room for another."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Transcript:
    """A turn and the turns before it.

    `changes` are the writes that the turn was expected to make. `size` is the number of characters of all turns.
    """

    index: int
    user: str
    assistant: str
    changes: tuple[Change, ...]
    before: Transcript | None
    size: int

    @property
    def own_size(self) -> int:
        """The number of characters of this turn alone."""
        return len(self.user) + len(self.assistant)

    def turns(self) -> list[Transcript]:
        """Return all turns, oldest first."""
        transcripts = list[Transcript]()
        transcript: Transcript | None = self
        while transcript is not None:
            transcripts.append(transcript)
            transcript = transcript.before
        return transcripts[::-1]


def append_turn(
    before: Transcript | None, index: int, user: str, assistant: str, changes: tuple[Change, ...]
) -> Transcript:
    """Return the transcript with one more turn."""
    size = len(user) + len(assistant)
    return Transcript(index, user, assistant, changes, before, size + (before.size if before else 0))


def shorten_transcript(
    transcript: Transcript | None,
    max_sent: int,
    summarize: Callable[[int], tuple[str, str] | None],
    *,
    at_once: bool = False,
) -> Transcript | None:
    """Return the transcript, shortened in one big step if it has more than `max_sent` characters.

    Dropping turns invalidates the engine's prefix cache, so half of the space is left free. A quarter holds the newest
    turns. A quarter holds the summary of the state that replaces the older turns: `summarize` takes its maximum size,
    and may return None. With `at_once` the transcript is shortened even if it fits.
    """
    if transcript is None or (transcript.size <= max_sent and not at_once):
        return transcript
    max_sent = min(max_sent, transcript.size)
    summary = summarize(max_sent // 4)
    turns = transcript.turns()
    kept = list[Transcript]()
    for turn in reversed(turns):
        if sum(earlier.own_size for earlier in kept) + turn.own_size > max_sent // 4:
            break
        kept.append(turn)
    last_dropped = turns[len(turns) - len(kept) - 1] if len(kept) < len(turns) else turns[0]
    shortened = None if summary is None else append_turn(None, last_dropped.index, *summary, last_dropped.changes)
    for turn in reversed(kept):
        shortened = append_turn(shortened, turn.index, turn.user, turn.assistant, turn.changes)
    return shortened


@frozen
class Conversation:
    """The conversations of a scenario's worlds. Each is kept in its world's memory, under the name `owner`.

    At most `max_sent` characters of a transcript are sent. `max_characters` returns how many the engine accepts in a
    whole conversation, or None if that is unknown. `summarize` returns the turn that replaces old ones in a given size;
    None if they are only dropped.
    """

    system: str
    disclosure: Disclosure
    ask: Ask
    owner: str
    max_sent: int
    max_characters: Callable[[], int | None]
    summarize: Callable[[Turn, Disclosure, int], tuple[str, str] | None] = prompt.state_turn

    async def ask_model(self, turn: Turn, user: str, schema: Record | None, rejected: tuple[Attempt, ...]) -> Reply:
        """Return the model's reply to `user`; the transcript is shortened if the engine rejects its length.

        Raises `Crash` if there is no reply.
        """
        for at_once in (False, True):
            transcript = self.shortened(turn, len(user), at_once=at_once)
            sent, seed = messages(self.system, transcript, user, rejected), _seed(turn, len(rejected))
            try:
                return await self.ask(Request(sent, schema, seed, self._affinity(turn), prompt.STOP))
            except Unanswered as error:
                # A single turn, or a summary alone, cannot be shortened further.
                is_short = at_once or transcript is None or transcript.before is None
                if is_short or not isinstance(error, TooLong):
                    raise Crash(turn.tool.id, str(error)) from None
        raise AssertionError("a shortened request is answered, or a crash")

    async def ask_changes(self, turn: Turn, user: str, observed: Observation, schema: Record) -> Reply | None:
        """Return the model's reply to the question what the call has changed, or None."""
        assistant = prompt.observation_turn(self._disclosed(turn, turn.view, observed))
        asked = append_turn(self.shortened(turn, len(user) + len(assistant)), turn.index, user, assistant, ())
        return await self._beside(turn, asked, prompt.changes_turn(turn), schema, "changes")

    async def ask_about(self, turn: Turn, user: str, schema: Record, purpose: str) -> Reply | None:
        """Return the model's reply to a question about a call, or None."""
        return await self._beside(turn, self.shortened(turn, len(user)), user, schema, purpose)

    async def _beside(
        self, turn: Turn, transcript: Transcript | None, user: str, schema: Record, purpose: str
    ) -> Reply | None:
        """Return the reply to a question that does not become part of the transcript, or None."""
        asked = messages(self.system, transcript, user, ())
        try:
            return await self.ask(Request(asked, schema, _seed(turn, purpose), self._affinity(turn), prompt.STOP))
        except Unanswered:
            return None

    def transcript(self, turn: Turn) -> Transcript | None:
        """Return the transcript of the turn's world."""
        return self.memory(turn).get("transcript")

    def remember(self, turn: Turn, user: str, transition: Transition) -> None:
        """Append the turn with its true observation. This is kept if the call is committed."""
        written: tuple[Change, ...] = (*transition.changes, *transition.absorbed)
        disclosed = self._disclosed(turn, turn.view.after(written), transition.observation)
        assistant = prompt.observation_turn(disclosed)
        transcript = append_turn(self.transcript(turn), turn.index, user, assistant, written)
        self.memory(turn).set("transcript", transcript)

    def _disclosed(self, turn: Turn, view: View, observation: Observation) -> Json:
        plan = self.disclosure.domain.plans.get(turn.tool.id)
        return self.disclosure.value(view, plan.entity if plan else None, prompt.observation_value(observation))

    def memory(self, turn: Turn) -> Memory:
        """Return the memory of the conversation in the turn's world."""
        return turn.memories.of(self.owner)

    def shortened(self, turn: Turn, user: int, *, at_once: bool = False) -> Transcript | None:
        """Return the transcript, shortened if it does not fit beside a turn of `user` characters."""
        max_characters, max_sent = self.max_characters(), self.max_sent
        if max_characters is not None:
            max_sent = max(0, min(max_sent, max_characters - len(self.system) - user))
        before = self.transcript(turn)
        transcript = shorten_transcript(
            before, max_sent, lambda size: self.summarize(turn, self.disclosure, size), at_once=at_once
        )
        if transcript is not before:
            self.memory(turn).set("transcript", transcript)
        return transcript

    def _affinity(self, turn: Turn) -> str:
        """Return the conversation's id for routers. Forks inherit it, since they share the beginning of the text."""
        known = self.memory(turn).get("affinity")
        if known is None:
            known = token_hex(8)
            self.memory(turn).set("affinity", known)
        return known


def _seed(turn: Turn, attempt: int | str) -> int:
    """Return the sampling seed of one attempt."""
    return int(turn.draws.unit(f"language_model/{attempt}") * 2**31)


def messages(
    system_text: str, transcript: Transcript | None, user: str, rejected: Sequence[Attempt]
) -> list[prompt.Message]:
    """Return the messages of a request, including this turn's rejected attempts."""
    sent: list[prompt.Message] = [
        {"role": "system", "content": system_text},
        *(
            message
            for turn in (transcript.turns() if transcript else ())
            for message in _exchange(turn.user, turn.assistant)
        ),
        {"role": "user", "content": user},
    ]
    for attempt in rejected:
        # Marks of the chat template in a reply would end the quotation in the prompt.
        reply = prompt.TEMPLATE_MARK.sub("< ", attempt.raw.rpartition("</think>")[2].strip())
        problems = "\n".join(f"- {problem}" for problem in attempt.problems)
        text = prompt.encodable(
            f"**Problems:**\n{problems}\n\n{COMPLAINT} Answer the same turn again, without these problems."
        )
        if reply:
            sent.extend(_exchange(text, prompt.encodable(reply[:MAX_RETRY_QUOTE]))[::-1])
        else:
            sent[-1] = {"role": "user", "content": f"{sent[-1]['content']}\n\n{text}"}
    return sent


def _exchange(user: str, assistant: str) -> tuple[prompt.Message, prompt.Message]:
    return {"role": "user", "content": user}, {"role": "assistant", "content": assistant}
