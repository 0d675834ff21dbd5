"""Run scenario modules in name order and return their transcript as JSON."""

from __future__ import annotations

import gc
import importlib
import json
import platform
import traceback
from pathlib import Path

SCENARIOS = Path(__file__).parent.parent / "scenarios"

# The SDK chooses its `fetch` by this string; production has the second alpha, npm the fourth.
PRODUCTION_VERSIONS = {"0.26.0a4": "0.26.0a2"}


async def run(host, wanted_json):
    import pyodide

    pyodide.__version__ = PRODUCTION_VERSIONS.get(pyodide.__version__, pyodide.__version__)
    from workers.rpc import _EnvWrapper

    from harness.dispatch import Host

    wanted = json.loads(wanted_json)
    names = sorted(path.stem for path in SCENARIOS.glob("[!_]*.py"))
    modules = {}
    for name in names:
        if wanted and name not in wanted:
            continue
        modules[name] = await run_module(name, Host(host), _EnvWrapper)
    return json.dumps({"python": platform.python_version(), "modules": modules})


async def run_module(name, host, wrap_env):
    from harness.recorder import DEADLINE_S, Recorder

    module = importlib.import_module(f"scenarios.{name}")
    transcript = {}
    for attribute, scenario in list(vars(module).items()):
        if not attribute.startswith("scenario_"):
            continue
        record = Recorder(host.take, getattr(module, "DEADLINE_S", DEADLINE_S))
        try:
            await scenario(record, wrap_env(host.env), host)
        except Exception as error:
            record.note(f"the scenario failed: {error!r}")
            traceback.print_exc()
        gc.collect()
        transcript[attribute.removeprefix("scenario_")] = record.finish()
    return transcript
