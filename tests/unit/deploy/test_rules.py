"""Which files go up, case by case; an integration test compares with the real wrangler."""

from __future__ import annotations

import pytest
from tsumugi_emulator.config.model import UploadRule
from tsumugi_emulator.deploy.rules import Module, RuleConflict, choose


def chosen(*paths: str, rules: tuple[UploadRule, ...] = ()) -> dict[str, str]:
    found = choose(paths, (), rules=rules)
    return {module.name: module.type for module in found.modules}


def test_python_files_go_up_from_every_folder() -> None:
    assert chosen("entry.py", "a/b/c.py") == {"entry.py": "python", "a/b/c.py": "python"}


def test_text_and_binary_files_go_up_and_json_stays_at_home() -> None:
    found = choose(["a.txt", "b/c.html", "d.sql", "e.bin", "f.wasm", "g.json", "h.md"], ())
    assert [module.type for module in found.modules] == [
        "text", "text", "text", "buffer", "compiled-wasm",
    ]  # fmt: skip
    assert found.left_out == ("g.json", "h.md")


def test_caches_are_left_out_without_a_word() -> None:
    found = choose(["__pycache__/a.pyc", ".venv/lib/x.so", "node_modules/a/b.js"], ())
    assert found.modules == ()
    assert found.left_out == ()


def test_a_rule_of_ones_own_adds_files() -> None:
    rule = UploadRule(type="Data", globs=("**/*.json",), fallthrough=True)
    assert chosen("a.json", "b/c.json", "d.bin", rules=(rule,)) == {
        "a.json": "buffer", "b/c.json": "buffer", "d.bin": "buffer",
    }  # fmt: skip


def test_a_rule_that_does_not_fall_through_completes_its_type() -> None:
    rule = UploadRule(type="Data", globs=("**/*.json",))
    assert chosen("a.json", "d.bin", rules=(rule,)) == {"a.json": "buffer"}


def test_a_file_that_only_a_switched_off_rule_names_is_refused() -> None:
    rule = UploadRule(type="Data", globs=("**/*.json",))
    with pytest.raises(RuleConflict, match=r"sub/d\.bin .* \"fallthrough\": true"):
        choose(["sub/d.bin"], (), rules=(rule,))


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("**/*.json", "a.json", True),
        ("**/*.json", "a/b.json", True),
        ("*.json", "a/b.json", False),
        ("data/**", "data/a/b", True),
        ("data/**", "other/a", False),
        ("a+b.json", "aab.json", False),
        ("a**b.x", "a/b.x", False),
        ("a?.json", "ab.json", False),
    ],
)
def test_globs_are_read_as_wrangler_reads_them(glob: str, path: str, *, matches: bool) -> None:
    found = chosen(path, rules=(UploadRule(type="Data", globs=(glob,)),))
    assert (path in found) is matches


def test_vendored_files_go_up_as_they_are_except_those_excluded() -> None:
    vendored = ["pkg/a.py", "pkg/a.pyc", "workers/sdk.mjs", "other/x.js", "tsumugi_emulator/a.py"]
    found = choose([], vendored, excluded=["**/*.pyc", "tsumugi_emulator/**"])
    assert found.modules == (
        Module("python_modules/other/x.js", "buffer"),
        Module("python_modules/pkg/a.py", "buffer"),
        Module("python_modules/workers/sdk.mjs", "esm"),
    )
