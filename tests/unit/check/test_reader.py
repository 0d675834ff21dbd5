from __future__ import annotations

from checking import CONFIGURATION, MAIN, OBJECTS, Workers, configuration

FILES = {
    MAIN: "import one\nfrom workers import WorkerEntrypoint\n"
    "class Default(WorkerEntrypoint):\n    pass\n",
    "src/one.py": "import two\nimport imp\n",
    "src/two.py": "import one\n",
    CONFIGURATION: configuration(),
    "pyproject.toml": "[project]\ndependencies = ['a']\n",
}


def test_only_what_changed_is_parsed_again() -> None:
    workers = Workers(FILES)
    assert [one.code for one in workers.findings()] == ["TSU301"]
    assert workers.reader.examined == 3
    workers.findings()
    assert workers.reader.examined == 3
    workers.projects[0]["src/one.py"] = "import two\n"
    assert workers.findings() == []
    assert workers.reader.examined == 4


def test_a_file_that_is_gone_says_nothing_any_more() -> None:
    workers = Workers(FILES)
    workers.findings()
    workers.projects[0][MAIN] = FILES[MAIN].replace("import one\n", "")
    del workers.projects[0]["src/one.py"]
    assert workers.findings() == []


def test_a_configuration_that_reads_code_otherwise_parses_it_again() -> None:
    workers = Workers(FILES)
    workers.findings()
    workers.projects[0][CONFIGURATION] = configuration(compatibility_date="2025-01-01")
    workers.findings()
    assert workers.reader.examined == 6


def test_a_configuration_that_does_not_parses_nothing_again() -> None:
    workers = Workers(FILES)
    workers.findings()
    workers.projects[0][CONFIGURATION] = configuration(triggers={"crons": ["* * * * *"]})
    assert [one.code for one in workers.findings()] == ["TSU108", "TSU301"]
    assert workers.reader.examined == 3


def test_imports_that_go_in_circles_end() -> None:
    files = {**FILES, MAIN: f"import entry\n{FILES[MAIN]}", "src/one.py": "import entry, two\n"}
    assert Workers(files).findings() == []


def test_columns_count_characters() -> None:
    files = {**FILES, "src/one.py": "é = 'é'; import imp\n"}
    assert [one.column for one in Workers(files).findings()] == [17]


def test_a_class_is_found_through_reexports() -> None:
    files = {
        **FILES,
        MAIN: "from package import Default, Room\n",
        "src/package/__init__.py": "from .inner import Default\nfrom .inner import Room\n",
        "src/package/inner.py": "from workers import DurableObject, WorkerEntrypoint\n"
        "class Default(WorkerEntrypoint):\n    async def queue(self, batch):\n        pass\n"
        "class Room(DurableObject):\n    pass\n",
        CONFIGURATION: configuration(**OBJECTS),
    }
    assert [(one.line, one.code) for one in Workers(files).findings()] == [(3, "TSU101")]


def test_workers_that_share_a_pyproject_above_them_have_its_dependencies() -> None:
    configuration_below = "workers/api/wrangler.jsonc"
    below = {
        f"workers/api/{MAIN}": "import httpx\nfrom workers import WorkerEntrypoint\n"
        "class Default(WorkerEntrypoint):\n    pass\n",
        configuration_below: configuration(),
        "pyproject.toml": "[project]\ndependencies = ['httpx']\n",
    }
    workers = Workers(below, configuration=configuration_below)
    assert workers.findings() == []
    workers.projects[0]["workers/api/pyproject.toml"] = "[project]\ndependencies = []\n"
    assert [one.code for one in workers.findings()] == ["TSU304"]
