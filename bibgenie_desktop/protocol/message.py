"""What every message is made from."""

from __future__ import annotations

from dataclasses import Field, dataclass
from typing import Any, ClassVar, dataclass_transform


@dataclass_transform(frozen_default=True)
class Message:
    """A value with typed fields, equal to another of its class with the same values; it is never changed.

    Each subclass is a dataclass. What all have in common is written once, here: the window makes a hundred such classes
    before its first paint, and `dataclass(frozen=True)` compiles six methods for each, which takes thirty milliseconds.
    That no field is assigned to is what the type checker sees to.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        dataclass(eq=False, repr=False)(cls)

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
