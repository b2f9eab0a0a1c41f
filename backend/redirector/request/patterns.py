"""Finds in microseconds which of some thousand patterns can be in a text.

A pattern needs certain words: `(Chrome)/(\\d+).*Mobile` needs "chrome/" and "mobile". One pass of an
Aho-Corasick automaton finds the words of all patterns, and only patterns whose words are there are tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, chain

# Python's own parser of patterns, which `re.compile` uses. No other one knows exactly what a pattern means.
# Python has it from 3.11 on, but mypy's stubs do not, or do once it has seen all files.
from re import _constants as codes  # type: ignore[attr-defined,unused-ignore]
from re import _parser as parser  # type: ignore[attr-defined,unused-ignore]
from typing import Any

import ahocorasick

_SHORTEST_SECOND = 4  # letters of a second need: shorter words are found too often
_MOST_WORDS = 200  # of a part of a pattern that can be written in so many ways
_NOTHING = (codes.AT, codes.ASSERT, codes.ASSERT_NOT)  # take no letters
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


class Patterns:
    """One of the lists. `found` is what `PatternLists.find` has found in the text."""

    def __init__(self, patterns: Sequence[str], at: int) -> None:
        """`at` is the place of the list's first bit."""
        self.mask = ((1 << len(patterns)) - 1) << at
        self._at = at
        self._patterns = [re.compile(pattern) for pattern in patterns]
        self._searches = [pattern.search for pattern in self._patterns]

    def matches(self, found: int, text: str) -> Iterator[tuple[int, re.Match[str]]]:
        """The places of the patterns that are in the text, the first one first, and what each finds."""
        searches = self._searches
        for place in self._places(found):
            if match := searches[place](text):
                yield place, match

    def first(self, found: int, text: str) -> tuple[int, re.Match[str]] | None:
        """The first of the `matches`; None if there is none."""
        bits = found & self.mask
        if not bits:
            return None
        searches = self._searches
        bits >>= self._at
        while bits:  # as in `_places`, since a generator takes as long as most of what it is asked for
            place = (bits & -bits).bit_length() - 1
            if match := searches[place](text):
                return place, match
            bits &= bits - 1
        return None

    def blanked(self, found: int, text: str) -> str:
        """The text with a blank in the place of all that the patterns find."""
        for place in self._places(found):
            text = self._patterns[place].sub(" ", text)
        return text

    def _places(self, found: int) -> Iterator[int]:
        bits = (found & self.mask) >> self._at
        while bits:
            yield (bits & -bits).bit_length() - 1
            bits &= bits - 1


class PatternLists:
    """Lists of patterns, by name, that are looked for together.

    What is found is one number, with a bit for each pattern whose words are in the text.
    """

    def __init__(self, lists: Mapping[str, Sequence[str]], common: str) -> None:
        """`common` is a text like most of those to come: words that are in it tell little.

        Put the longest list last: to ask for one takes as long as there are bits up to its end.
        Raises ValueError if a pattern needs no word: it would have to be tried on every text.
        """
        starts = accumulate(map(len, lists.values()), initial=0)
        self.by_name = {
            name: Patterns(patterns, at) for (name, patterns), at in zip(lists.items(), starts, strict=False)
        }
        self._automaton = _automaton(chain.from_iterable(lists.values()), common)

    def find(self, lowered: str) -> int:
        """What may be in a text, which must be in lower case."""
        first = second = 0
        for _, (one, two) in self._automaton.iter(lowered):
            first |= one
            second |= two
        return first & second


def _automaton(patterns: Iterable[str], common: str) -> Any:
    """Finds words, each with the bits of the patterns whose first need it is, and of those whose second."""
    words: dict[str, tuple[int, int]] = {}
    for at, pattern in enumerate(patterns):
        for is_first, is_second, either in _two_needs(pattern, common):
            for word in either:
                one, two = words.get(word, (0, 0))
                words[word] = (one | is_first << at, two | is_second << at)
    numbers: dict[int, int] = {}  # most words have the bits of another one, and a number of these is long
    automaton = ahocorasick.Automaton()
    for word, (one, two) in words.items():
        automaton.add_word(word, (numbers.setdefault(one, one), numbers.setdefault(two, two)))
    automaton.make_automaton()
    return automaton


def needed_words(pattern: str, common: str = "") -> list[set[str]]:
    """Sets of words in lower case: any text that the pattern is found in has a word of each set.

    Those that tell most come first; words that are in `common` tell little.
    """
    found: list[set[str]] = []
    _collect(parser.parse(pattern), found, common)
    return sorted(found, key=lambda words: _telling(words, common), reverse=True)


def _two_needs(pattern: str, common: str) -> list[tuple[bool, bool, set[str]]]:
    """The words that tell most of what the pattern needs, as its first need, its second, or both."""
    needs = needed_words(pattern, common)
    if not needs:
        raise ValueError(f"the pattern {pattern!r} needs no word")
    first, *more = needs
    if not more or min(map(len, more[0])) < _SHORTEST_SECOND:
        return [(True, True, first)]
    return [(True, False, first), (False, True, more[0])]


def _telling(words: AbstractSet[str], common: str) -> tuple[bool, int]:
    """How much it tells that one of these words is in a text."""
    return not any(word in common for word in words), min(map(len, words))


def _collect(items: Any, found: list[set[str]], common: str) -> None:
    """Add the words that this part of a parsed pattern needs."""
    run: list[Any] = []  # items in a row that can be written in a few ways only
    for item in items:
        if _texts([*run, item]) is not None:
            run.append(item)
            continue
        _add(_texts(run), found)
        run = [item] if _texts([item]) is not None else []
        if run:
            continue
        code, value = item
        if code is codes.SUBPATTERN:
            _collect(value[3], found, common)
        elif code is codes.BRANCH:
            _collect_branches(value[1], found, common)
        elif code in _REPEATS and value[0] >= 1:
            _collect(value[2], found, common)
    _add(_texts(run), found)


def _collect_branches(branches: Sequence[Any], found: list[set[str]], common: str) -> None:
    either: set[str] = set()
    for branch in branches:
        words: list[set[str]] = []
        _collect(branch, words, common)
        if not words:
            return
        either |= max(words, key=lambda these: _telling(these, common))
    found.append(either)


def _add(texts: set[str] | None, found: list[set[str]]) -> None:
    if texts and "" not in texts:
        found.append(texts)


def _texts(items: Sequence[Any]) -> set[str] | None:
    """All texts that this part can stand for, in lower case; None if they are too many to list."""
    texts = {""}
    for code, value in items:
        more = _item_texts(code, value)
        if more is None:
            return None
        texts = {start + end for start in texts for end in more}
        if len(texts) > _MOST_WORDS:
            return None
    return texts


def _item_texts(code: Any, value: Any) -> set[str] | None:
    texts: set[str] | None = None
    if code is codes.LITERAL:
        texts = {chr(value).lower()}
    elif code is codes.IN and all(kind is codes.LITERAL for kind, _ in value):
        texts = {chr(letter).lower() for _, letter in value}
    elif code is codes.SUBPATTERN:
        texts = _texts(value[3])
    elif code is codes.BRANCH:
        texts = _branch_texts(value[1])
    elif code in _NOTHING:
        texts = {""}
    elif code in _REPEATS and value[:2] == (0, 1):
        once = _texts(value[2])
        texts = None if once is None else once | {""}
    return texts


def _branch_texts(branches: Sequence[Any]) -> set[str] | None:
    texts: set[str] = set()
    for branch in branches:
        more = _texts(branch)
        if more is None:
            return None
        texts |= more
    return texts
