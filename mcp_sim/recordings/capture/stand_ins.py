"""Stand-ins for personal data: keyed hashes of it, in its form."""

from __future__ import annotations

import hmac
import os
import re
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from mcp_sim.recordings.capture.personal_fields import Kind, luhn_sum

KEY_FILE = ".pseudonyms.key"
"""The file with the key, in the folder of a recording. Who has it can test which names a recording has."""

_ONSETS, _VOWELS = "bdfghklmnprstvwz", "aeiou"
_SYLLABLES = 4
"""Syllables of a stand-in for a word. With 80 different ones, two of a thousand words are the same in a recording of a
hundred."""


class StandIns:
    """The same text has the same stand-in under the same key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def _hash(self, text: str) -> int:
        return int.from_bytes(hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), "sha256"))

    def cased(self, token: str) -> str:
        """Return the stand-in of a word, in capitals where the word is."""
        if token.isdecimal():
            return self._digits(token, self._hash(token))
        word = self.word(token)
        if token.islower():
            return word.lower()
        return word.upper() if token.isupper() and len(token) > 1 else word

    def word(self, token: str) -> str:
        """Return a word that can be spoken; the first letter of one for a single letter."""
        number, letters = self._hash(token.casefold()), list[str]()
        for _ in range(_SYLLABLES):
            number, onset = divmod(number, len(_ONSETS))
            number, vowel = divmod(number, len(_VOWELS))
            letters += [_ONSETS[onset], _VOWELS[vowel]]
        word = "".join(letters).title()
        return word[0] if len(token) == 1 else word

    def of(self, kind: Kind, text: str) -> str:
        """Return a text of the same form, with other digits; a street has another name, too."""
        digits = re.sub(r"\D", "", text)
        number = self._hash(f"{kind}:{digits if kind != 'street' else text.casefold()}")
        match kind:
            case "street":
                number, house = divmod(number, 199)
                return f"{house + 1} {self.word(text)} Street"
            case "card":
                return _spread(_with_check_digit(digits[0] + self._digits(digits[1:-4], number) + digits[-4:]), text)
            case _:
                return _spread(digits[:2] + self._digits(digits[2:], number), text)  # a country, or 0 and a kind

    @staticmethod
    def _digits(text: str, number: int) -> str:
        """Return as many digits as a text has, from the end of a number."""
        return "".join(str(number // 10**at % 10) for at in range(len(text)))


def _spread(digits: str, text: str) -> str:
    """Return a text with its digits replaced in order."""
    following = iter(digits)
    return re.sub(r"\d", lambda _: next(following), text)


def _with_check_digit(digits: str) -> str:
    """Return the number of a card with a valid check digit: the fifth digit from the end is adapted."""
    return next(
        changed for digit in "0123456789" if luhn_sum(changed := f"{digits[:-5]}{digit}{digits[-4:]}") % 10 == 0
    )


def pseudonym_key(folder: Path) -> bytes:
    """Return the key of a recording. The first time it is drawn, and hidden from Git. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    path, fresh = folder / KEY_FILE, folder / f"{KEY_FILE}.{token_hex(8)}"
    if not path.exists():
        with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as stream:
            stream.write(token_hex(32))
        try:
            with suppress(FileExistsError):  # another session of the folder begins at the same time
                os.link(fresh, path)
        finally:
            fresh.unlink()
    ignored = folder / ".gitignore"
    lines = ignored.read_text(encoding="utf-8").splitlines() if ignored.exists() else []
    if KEY_FILE not in lines:
        ignored.write_text("".join(f"{line}\n" for line in (*lines, KEY_FILE)), encoding="utf-8")
    return bytes.fromhex(path.read_text(encoding="utf-8"))
