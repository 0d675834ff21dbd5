"""A template is a project of its own whose names all follow from one: its placeholder."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).parents[3] / "templates"
NAMES = ["hello", "queue"]
#: What `init` leaves behind: made by running a template where it lies.
NOT_COPIED = {".pytest_cache", ".venv", ".venv-workers", ".wrangler", "__pycache__", "uv.lock"}


def files_of(template: str, name: str) -> dict[str, str]:
    """The project that `init` makes: every file, with the placeholder replaced by ``name``."""
    root = TEMPLATES / template
    return {
        str(path.relative_to(root)): path.read_text().replace(f"tsumugi-{template}-template", name)
        for path in sorted(root.rglob("*"))
        if path.is_file() and not NOT_COPIED & set(path.relative_to(root).parts)
    }


@pytest.mark.parametrize("template", NAMES)
class TestATemplate:
    def test_is_a_complete_project(self, template: str) -> None:
        assert files_of(template, "shop").keys() >= {
            ".gitignore",
            "README.md",
            "pyproject.toml",
            "src/entry.py",
            "tests/test_entry.py",
            "wrangler.jsonc",
        }

    def test_names_everything_after_the_project(self, template: str) -> None:
        files = files_of(template, "shop")
        assert [name for name, text in files.items() if re.search("template", text, re.I)] == []
        assert files["README.md"].startswith("# shop\n")
        assert tomllib.loads(files["pyproject.toml"])["project"]["name"] == "shop"
        assert json.loads(files["wrangler.jsonc"])["name"] == "shop"

    def test_deploys_nothing_but_the_standard_library(self, template: str) -> None:
        project = tomllib.loads(files_of(template, "shop")["pyproject.toml"])
        assert project["project"]["dependencies"] == []
        needs = [re.split("[><=]", need)[0] for need in project["dependency-groups"]["dev"]]
        assert needs == ["pytest", "tsumugi-workers", "workers-py"]

    def test_does_not_import_tsumugi_in_its_worker(self, template: str) -> None:
        sources = [t for name, t in files_of(template, "shop").items() if name.startswith("src/")]
        assert not any("tsumugi" in source for source in sources)


def test_the_queues_of_the_queue_template_follow_its_name_too() -> None:
    files = files_of("queue", "shop")
    queues = json.loads(files["wrangler.jsonc"])["queues"]
    assert [entry["queue"] for entry in queues["producers"]] == ["shop-jobs"]
    assert [entry["queue"] for entry in queues["consumers"]] == ["shop-jobs", "shop-jobs-dlq"]
    assert queues["consumers"][0]["dead_letter_queue"] == "shop-jobs-dlq"
    for entry in queues["consumers"]:
        assert f"queues create {entry['queue']}\n" in files["README.md"]
