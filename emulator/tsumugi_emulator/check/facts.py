"""What one file says that matters beyond it, as plain values that can be kept and sent (ADR-0201).

A file's facts depend on its text and on Settings only, so they are made anew only when one of
these changes. What depends on other files is decided later, by judge.py, from facts alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tsumugi_emulator.check.surfaces import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the configuration says about how to read the code."""

    #: "3.12", "3.13" or "3.14"
    python_version: str
    flags: frozenset[str]
    #: What each name in ``env`` is.
    bindings: Mapping[str, Kind]
    #: Whether it certainly runs with the SDK from python_modules, which converts results, and not
    #: with the older one that came with the runtime.
    sdk_converts: bool


class Role(StrEnum):
    """What a class is to the runtime."""

    ENTRYPOINT = "WorkerEntrypoint"
    OBJECT = "DurableObject"
    WORKFLOW = "WorkflowEntrypoint"


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file; both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportFact:
    spot: Spot
    #: Absolute, counted from the import root; "" when a relative import leads above it.
    module: str
    #: What is imported from it; None for ``import module``, "*" for everything.
    name: str | None
    level: int
    #: As it is written, without the dots.
    written: str
    #: Whether importing the file does not certainly get here: in a function, under a condition.
    is_lazy: bool
    #: Whether it may fail: it is caught, or depends on the platform.
    is_optional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterUse:
    """A handler reads its ``env`` or ``ctx`` parameter."""

    spot: Spot
    parameter: str
    #: The attribute that is read from it; None when it is passed on.
    attribute: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFact:
    name: str
    spot: Spot
    #: Positional parameters, the first one (``self``) included.
    parameters: tuple[str, ...]
    #: How many of them have no default.
    required: int
    takes_any_positional: bool
    required_keywords: tuple[str, ...]
    is_async: bool
    has_yield: bool
    is_static: bool
    #: Has decorators that may change how it is called.
    is_decorated: bool
    none_uses: tuple[ParameterUse, ...] = ()
    #: ``return`` of a tuple, at these places.
    tuple_returns: tuple[Spot, ...] = ()
    #: ``return`` of what cannot be a response: what it is, in words.
    other_returns: tuple[tuple[Spot, str], ...] = ()
    #: The queues of ``@tsumugi.consumes(...)``; None among them is one that cannot be known.
    consumes: tuple[str | None, ...] = ()
    #: The first name in its annotations that no Worker has, and where.
    missing_type: tuple[Spot, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassFact:
    name: str
    spot: Spot
    #: In full; None for a base that cannot be known.
    bases: tuple[str | None, ...]
    methods: Mapping[str, MethodFact]
    #: Methods that the class itself calls, on ``self``.
    called_by_itself: frozenset[str]
    #: Names its body sets otherwise: ``queue = something``.
    other_names: frozenset[str]
    #: The first use of ``self.env`` or ``self.ctx``, which the base class sets.
    first_use_of_base: Spot | None
    #: Whether its ``__init__`` leaves ``self.env`` and ``self.ctx`` unset.
    skips_base_init: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionFact:
    """A function at the top of a module."""

    spot: Spot
    is_async: bool
    is_decorated: bool


@dataclass(frozen=True, slots=True)
class BareCall:
    """A statement that only calls ``function``, named in full, and awaits nothing."""

    spot: Spot
    function: str


@dataclass(frozen=True, slots=True)
class FileRead:
    """Opens a file or directory by a relative path."""

    spot: Spot
    #: As written.
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A finding, but for its path and for what other files say."""

    code: str
    spot: Spot
    message: str
    next_step: str
    #: Holds only if the file is imported when the Worker starts.
    at_import: bool = False


@dataclass(frozen=True, slots=True)
class Suppression:
    """A comment that hides findings on ``line``; without codes it hides all."""

    line: int
    codes: tuple[str, ...]
    #: Where the comment is.
    spot: Spot


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleFacts:
    name: str
    #: An absolute path.
    path: str
    #: Whether the file could be parsed.
    is_read: bool = True
    drafts: tuple[Draft, ...] = ()
    imports: tuple[ImportFact, ...] = ()
    classes: Mapping[str, ClassFact]
    functions: Mapping[str, FunctionFact]
    #: Imported names at the top, in full, by the name they have here.
    imported: Mapping[str, str]
    #: Every name bound at the top.
    names: frozenset[str]
    #: ``__all__`` where it is a plain list.
    exported: tuple[str, ...] | None = None
    has_star_import: bool = False
    bare_calls: tuple[BareCall, ...] = ()
    file_reads: tuple[FileRead, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    #: Asks for time zones by name.
    time_zones: tuple[Spot, ...] = ()
    #: Top-level names of modules it puts into ``sys.modules`` itself.
    registered: frozenset[str] = frozenset()
    #: Whether it changes ``sys.path`` or the like, so that imports may find more than is known.
    changes_path: bool = False
