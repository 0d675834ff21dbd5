"""From the text of one file to its facts: parse once, walk once, ask every rule. Pure."""

from __future__ import annotations

import ast
import platform
import re
import sys
import warnings
from typing import TYPE_CHECKING, NamedTuple

from tsumugi_emulator.check import describe, findings, ruleset, suppressions
from tsumugi_emulator.check.facts import (
    BareCall,
    Draft,
    FileRead,
    ModuleFacts,
    Settings,
    Spot,
)
from tsumugi_emulator.check.files import file_read, may_read
from tsumugi_emulator.check.kinds import BindingCall, Kinds
from tsumugi_emulator.check.module import Module
from tsumugi_emulator.check.rules import (  # noqa: F401  # importing them registers them
    awaiting,
    import_time,
    javascript,
    missing_types,
    options,
    platform as platform_rules,
    reads,
    values,
)
from tsumugi_emulator.check.ruleset import At
from tsumugi_emulator.check.walk import Wanted, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi_emulator.check.findings import Rule
    from tsumugi_emulator.check.scopes import Site

NOT_PYTHON = findings.error(
    "TSU001", "A file that does not parse", "`SyntaxError`: the Worker does not start."
)
NEWER_PYTHON = findings.warning(
    "TSU003",
    "A file that an older Python cannot parse",
    "It may be right there: production's Python is newer than the one that checks.",
)

#: Since which Python; what an older one says, if it is always the same; what the line looks like.
_NEWER_SYNTAX = (
    ((3, 13), None, re.compile(r"\b(?:class|def|type)\b[^\[]*\[[^\]]*[^=!<>]=[^=]")),
    (
        (3, 14),
        "multiple exception types must be parenthesized",
        re.compile(r"""\b(?:[tT][rR]?|[rR][tT])["']"""),
    ),
)

_WANTED = Wanted(
    types=frozenset({ast.Call, ast.Subscript, *ruleset.NODE_RULES}),
    attributes=frozenset(ruleset.ATTRIBUTE_RULES),
)


class Source(NamedTuple):
    """A file as it was read."""

    #: As it is imported, counted from the import root.
    name: str
    path: str
    text: str
    #: Whether it is the ``__init__.py`` of a package.
    is_package: bool = False

    @property
    def package(self) -> tuple[str, ...]:
        parts = tuple(self.name.split("."))
        return parts if self.is_package else parts[:-1]


def examine(source: Source, settings: Settings) -> ModuleFacts:
    """Everything that one file says."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # invalid escapes are the linter's
            version = _numbers(settings.python_version)
            tree = ast.parse(source.text, feature_version=version)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _unparsed(source, error, settings.python_version)
    walked = walk(tree, _WANTED, package=source.package)
    module = Module(source.name, walked, source.text)
    asked = _Asked(module, settings)
    for site in walked.sites:
        asked.ask(site)
    top = walked.scope
    return ModuleFacts(
        name=source.name,
        path=source.path,
        drafts=tuple(asked.drafts),
        imports=tuple(describe.imports(module, source.package)),
        classes=describe.classes(module),
        functions=describe.functions(module),
        imported=describe.imported_names(top),
        names=frozenset(top.names),
        exported=describe.exported(top),
        has_star_import=walked.has_star_import,
        bare_calls=tuple(asked.bare_calls),
        file_reads=tuple(asked.file_reads),
        suppressions=tuple(suppressions.in_python(source.text)),
        time_zones=tuple(asked.time_zones),
        registered=frozenset(asked.registered),
        changes_path=asked.changes_path,
    )


class _Asked:
    """What the rules have said so far about one module."""

    def __init__(self, module: Module, settings: Settings) -> None:
        self._module = module
        self._settings = settings
        self._kinds = Kinds(module, settings.bindings)
        self.drafts: list[Draft] = []
        self.bare_calls: list[BareCall] = []
        self.file_reads: list[FileRead] = []
        self.time_zones: list[Spot] = []
        self.registered: set[str] = set()
        self.changes_path = False

    def ask(self, site: Site) -> None:
        node = site.node
        at = At(self._module, self._kinds, self._settings, site)
        for rule in ruleset.NODE_RULES.get(type(node), ()):
            self.drafts += rule(node, at)
        if type(node) is ast.Call:
            self._ask_about_call(node, at)
        elif type(node) is ast.Subscript:
            self.note_subscript(node, at)
        elif type(node) is ast.Attribute:
            for rule in ruleset.ATTRIBUTE_RULES[node.attr]:
                self.drafts += rule(node, at)

    def _ask_about_call(self, node: ast.Call, at: At) -> None:
        name = at.qualified(node.func)
        for rule in self._rules_for(node, at, name):
            self.drafts += rule(node, at)
        if name is not None:
            self._note(node, at, name)
        if type(node.func) is ast.Attribute:
            value = at.kind(node.func.value)
            if value is not None:
                call = BindingCall(value, node.func.attr)
                for binding_rule in ruleset.BINDING_RULES:
                    self.drafts += binding_rule(node, at, call)
        if may_read(node, name):
            read = file_read(node, at, name)
            if read is not None:
                self.file_reads.append(read)

    @staticmethod
    def _rules_for(node: ast.Call, at: At, name: str | None) -> Iterator[ruleset.NodeRule]:
        """``name`` is what is called, in full."""
        if name is not None:
            yield from ruleset.FUNCTION_RULES.get(name, ())
            yield from ruleset.ROOT_RULES.get(name.partition(".")[0], ())
        if type(node.func) is ast.Attribute:
            yield from ruleset.METHOD_RULES.get(node.func.attr, ())
        if at.is_statement:
            yield from ruleset.STATEMENT_RULES

    def _note(self, node: ast.Call, at: At, name: str) -> None:
        if name == "zoneinfo.ZoneInfo" and not at.place.catches("ZoneInfoNotFoundError"):
            self.time_zones.append(self._module.spot(node))
        elif name.startswith("sys."):
            self._note_imports(node, name)
        elif at.is_statement and not name.startswith("builtins."):
            self.bare_calls.append(BareCall(self._module.spot(node), name))

    def _note_imports(self, node: ast.Call, name: str) -> None:
        """``sys.path.insert(...)`` and ``sys.modules.setdefault(...)``."""
        if name.startswith("sys.path."):
            self.changes_path = True
        elif name == "sys.modules.setdefault" and node.args:
            self._register(node.args[0])

    def _register(self, name: ast.expr) -> None:
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            self.registered.add(name.value.partition(".")[0])
        else:
            self.changes_path = True  # any module may be there now

    def note_subscript(self, node: ast.Subscript, at: At) -> None:
        """``sys.modules["name"] = ...``."""
        if isinstance(node.ctx, ast.Store) and at.qualified(node.value) == "sys.modules":
            self._register(node.slice)


def unreadable(source: Source) -> ModuleFacts:
    """The facts of a file whose text there is no way to know."""
    message = "This file is no UTF-8 text."
    return _faulty(source, NOT_PYTHON, Spot(1, 1), message, "Save it as UTF-8.")


def _unparsed(source: Source, error: Exception, target: str) -> ModuleFacts:
    spot, what = Spot(1, 1), str(error)
    if isinstance(error, SyntaxError):
        spot, what = Spot(error.lineno or 1, max(error.offset or 1, 1)), error.msg
    here = platform.python_version()
    if isinstance(error, SyntaxError) and _is_newer_syntax(error, _numbers(target)):
        message = f"Python {here}, which checks, cannot read this: {what}. Production has {target}."
        step = f"Correct the syntax, or run tsumugi with Python {target}."
        return _faulty(source, NEWER_PYTHON, spot, message, step)
    message = f"Python {target} cannot read this: {what}."
    return _faulty(source, NOT_PYTHON, spot, message, "Correct the syntax.")


def _is_newer_syntax(error: SyntaxError, target: tuple[int, int]) -> bool:
    """Whether the Python that production runs may well read what this one does not."""
    line = error.text or ""
    return any(
        sys.version_info[:2] < since <= target and (error.msg == said or pattern.search(line))
        for since, said, pattern in _NEWER_SYNTAX
    )


def _numbers(version: str) -> tuple[int, int]:
    major, _, minor = version.partition(".")
    return int(major), int(minor)


def _faulty(source: Source, rule: Rule, spot: Spot, message: str, step: str) -> ModuleFacts:
    draft = Draft(code=rule.code, spot=spot, message=message, next_step=step)
    return ModuleFacts(
        name=source.name,
        path=source.path,
        is_read=False,
        drafts=(draft,),
        classes={},
        functions={},
        imported={},
        names=frozenset(),
    )
