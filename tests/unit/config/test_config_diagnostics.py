from __future__ import annotations

from pathlib import Path

from tsumugi_emulator.config.diagnostics import Diagnostic, Severity, render

ROOT = Path("/home/me/shop")
FILE = ROOT / "wrangler.jsonc"


def error(message: str, path: Path | None = FILE, **place: object) -> Diagnostic:
    return Diagnostic(severity=Severity.ERROR, message=message, path=path, **place)  # type: ignore[arg-type]


def warning(message: str, path: Path | None = FILE, **place: object) -> Diagnostic:
    return Diagnostic(severity=Severity.WARNING, message=message, path=path, **place)  # type: ignore[arg-type]


def test_nothing_to_tell_is_nothing() -> None:
    assert render([]) == ""


def test_the_layout_is_wranglers_with_a_place_under_each_fault() -> None:
    diagnostics = [error("one\nmore", line=3, column=7), error("two"), warning("three", line=1)]
    assert render(diagnostics, cwd=ROOT.parent) == (
        "▲ [WARNING] Processing shop/wrangler.jsonc configuration:\n"
        "\n"
        "    - three\n"
        "      shop/wrangler.jsonc:1\n"
        "\n"
        "✘ [ERROR] Processing shop/wrangler.jsonc configuration:\n"
        "\n"
        "    - one\n"
        "      more\n"
        "      shop/wrangler.jsonc:3:7\n"
        "    - two\n"
    )


def test_files_have_blocks_of_their_own_and_only_names_without_a_directory() -> None:
    text = render([error("one"), error("two", ROOT / ".dev.vars")])
    assert text == (
        "✘ [ERROR] Processing wrangler.jsonc configuration:\n\n    - one\n\n"
        "✘ [ERROR] Processing .dev.vars configuration:\n\n    - two\n"
    )


def test_faults_of_an_environment_stand_one_level_deeper() -> None:
    section = '"env.staging" environment configuration'
    text = render([error("deep", line=2, column=1, section=section), error("top")])
    assert text == (
        "✘ [ERROR] Processing wrangler.jsonc configuration:\n\n"
        "    - top\n"
        '    - "env.staging" environment configuration\n'
        "      - deep\n"
        "        wrangler.jsonc:2:1\n"
    )


def test_a_fault_without_a_file_is_its_own_heading() -> None:
    assert render([error("Nothing here.\nDo this.", None)]) == (
        "✘ [ERROR] Nothing here.\n  Do this.\n"
    )


def test_colour_is_only_there_when_asked_for() -> None:
    assert "\x1b" not in render([error("x")])
    assert "\x1b[31m✘" in render([error("x")], colour=True)
    assert "\x1b[33m▲" in render([warning("x")], colour=True)


def test_one_diagnostic_reads_as_one_line() -> None:
    assert str(error("bad", line=3, column=7)) == "wrangler.jsonc:3:7: error: bad"
    assert str(warning("odd", None)) == "warning: odd"
