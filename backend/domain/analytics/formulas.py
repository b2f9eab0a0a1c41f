"""How measures are made of sums: said once, and worked out as exact fractions or written as SQL."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of a group, by its name in `figures.GroupSums`.

    It is counted where the measures are that `counted_with` names.
    """

    name: str
    counted_with: tuple[str, ...]

    @property
    def sums(self) -> tuple[Sum, ...]:
        """Itself."""
        return (self,)


@dataclass(frozen=True, slots=True)
class Less:
    """An amount without a part of it, in each currency."""

    whole: Sum
    part: Sum

    @property
    def sums(self) -> tuple[Sum, ...]:
        """What it is made of."""
        return self.whole, self.part


@dataclass(frozen=True, slots=True)
class Per:
    """One sum by another one: nothing where the other is 0 or not known. Of amounts, in each currency."""

    of: Sum
    by: Sum

    @property
    def sums(self) -> tuple[Sum, ...]:
        """What it is made of."""
        return self.of, self.by


Formula = Sum | Less | Per
