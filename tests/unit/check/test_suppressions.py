from __future__ import annotations

import textwrap

from checking import CONFIGURATION, MAIN, Workers, configuration

HEADER = "from workers import WorkerEntrypoint\nclass Default(WorkerEntrypoint):\n    pass\n"


def told(text: str) -> list[tuple[int, str, str]]:
    files = {
        MAIN: HEADER + textwrap.dedent(text),
        CONFIGURATION: configuration(),
        "pyproject.toml": "[project]\ndependencies = ['a']\n",
    }
    return [(one.line - 3, one.code, one.message) for one in Workers(files).findings()]


def codes(text: str) -> list[tuple[int, str]]:
    return [(line, code) for line, code, _ in told(text)]


def test_a_comment_hides_a_finding_on_its_line() -> None:
    assert codes("import imp\n") == [(1, "TSU301")]
    assert codes("import imp  # tsumugi: ignore[TSU301]\n") == []
    assert codes("import imp  # noqa: F401  # tsumugi: ignore[TSU301] brought along\n") == []


def test_a_comment_alone_is_for_the_next_line_of_code() -> None:
    assert codes("# tsumugi: ignore[TSU301]\n# because\n\nimport imp\n") == []
    assert codes("def f():\n    # tsumugi: ignore[TSU301]\n    import imp\n") == []
    assert codes("# tsumugi: ignore[TSU301]\nx = 1\nimport imp\n") == [
        (1, "TSU002"),
        (3, "TSU301"),
    ]


def test_it_hides_only_what_it_names() -> None:
    assert codes("import imp  # tsumugi: ignore[TSU302]\n") == [(1, "TSU301"), (1, "TSU002")]
    assert codes("import imp, curses  # tsumugi: ignore[TSU301, TSU302]\n") == []
    assert codes("import imp, curses  # tsumugi: ignore[TSU301]\n") == [(1, "TSU302")]
    assert codes("import imp, curses  # tsumugi: ignore\n") == []


def test_a_comment_that_hides_nothing_is_noted() -> None:
    assert told("x = 1  # tsumugi: ignore[TSU301]\n") == [
        (1, "TSU002", "This comment hides no TSU301 here.")
    ]
    assert told("x = 1  # tsumugi: ignore\n") == [
        (1, "TSU002", "This comment hides no finding here.")
    ]
    assert told("import imp  # tsumugi: ignore[TSU301, TSU999]\n") == [
        (1, "TSU002", "There is no rule TSU999.")
    ]


def test_a_string_is_no_comment() -> None:
    assert codes('x = "# tsumugi: ignore[TSU301]"\n') == []
    assert codes('"""\n# tsumugi: ignore[TSU301]\n"""\nimport imp\n') == [(4, "TSU301")]
