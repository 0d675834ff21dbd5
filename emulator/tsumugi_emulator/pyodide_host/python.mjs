// Pyodide itself: load it as the Workers runtime does, and the work it does for the host.

import path from "node:path";
import { pathToFileURL } from "node:url";

import { LATER } from "./host.mjs";
import { SAY } from "./protocol.mjs";
import { patchWaitUntil } from "./waiting.mjs";

/** Where production puts what a Worker consists of. */
const MAIN_FOLDER = "/session/metadata";
const MODULES_FOLDER = "/session/python_modules";
const OWN_FOLDER = "/tsumugi";

export async function startPython(parts) {
  const { settings, scope, scopes, output, link, Files, onFatal } = parts;
  const folder = settings.package;
  const { loadPyodide } = await import(pathToFileURL(path.join(folder, "pyodide.mjs")).href);
  const pyodide = await loadPyodide({
    indexURL: folder + path.sep,
    jsglobals: scope,
    env: { HOME: "/home/pyodide", TZ: "UTC" },
  });
  pyodide._api.on_fatal = onFatal;
  output.capture(pyodide);
  const files = new Files(pyodide);
  const version = pyodide.version;
  const python = pyodide.runPython("import sys; f'3.{sys.version_info.minor}'");
  const sitePackages = `/lib/python${python}/site-packages`;
  for (const [from, to] of settings.own) files.copy(from, `${OWN_FOLDER}/${to}`);
  for (const [from, to] of settings.sdk) files.copy(from, `${sitePackages}/${to}`);

  const env = {};
  registerRuntime(pyodide, env, parts);
  pyodide.runPython(START)(pyodide.toPy({ ...settings, own: OWN_FOLDER, modules: MODULES_FOLDER }));
  const [entryModule, scopesModule, finderModule] = ["entry", "scopes", "finder"].map((name) =>
    pyodide.pyimport(`tsumugi_pyodide.${name}`),
  );
  scopesModule.install(parts.timers.schedule);
  scopes.python = scopesModule.where;
  finderModule.install((name) => locate(name, parts, files, sitePackages));
  const settled = (id, value) => link.say([SAY.RESULT, id, true, value]);
  const failed = (id, ...failure) => link.say([SAY.RESULT, id, false, failure]);
  const entry = entryModule.Entry(env, settled, failed, parts.log);
  return {
    version: `${version} (Python ${python}) in Node ${process.versions.node}`,
    PyProxy: pyodide.ffi.PyProxy,
    cancel: (id) => entry.cancel(id),
    fired: scopesModule.fired,
    end: (ended) => taken(scopesModule.end(ended)),
    rest: () => taken(scopesModule.rest()),
    work: workOf({ entry, env, files, pyodide, ...parts }),
  };
}

const START = `
def start(settings):
    import os
    import sys
    import pyodide
    os.chdir("/")
    sys.dont_write_bytecode = True
    library = [entry for entry in sys.path if entry.startswith("/lib/")]
    own, modules = settings["own"], settings["modules"]
    packages = next(i for i, entry in enumerate(library) if entry.endswith("/site-packages"))
    sys.path[:] = [*library[:packages], modules, *library[packages:], own]
    from tsumugi_emulator.javascript.mode import MODE
    # Production names itself after its own build, and the SDK goes by that.
    pyodide.__version__ = settings["version"]
    MODE.python_version = settings["python"]
    MODE.compatibility_flags = frozenset(settings["flags"])
start
`;

function registerRuntime(pyodide, env, { settings, host }) {
  pyodide.registerJsModule("_pyodide_entrypoint_helper", {
    cloudflareWorkersModule: {
      env,
      waitUntil: (promise) => host.ask("wait until", 0, "", [promise]),
    },
    cloudflareSocketsModule: {},
    patchWaitUntil,
    doAnImport: async (name) => {
      throw new Error(`No such module "${name}".`);
    },
  });
  pyodide.registerJsModule(
    "_cloudflare_compat_flags",
    Object.fromEntries(settings.flags.map((flag) => [flag, true])),
  );
}

function taken(list) {
  const items = list.toJs();
  list.destroy();
  return items;
}

/** Where the host has a module, made visible here: what `finder.py` is told. */
function locate(name, { host }, files, sitePackages) {
  const found = host.ask("module", 0, name, []);
  if (found === null) return null;
  const [kind, ...details] = found;
  if (kind === "folder") files.mount(details[0], `${sitePackages}/${name}`);
  else if (kind === "file") files.copy(details[0], `${sitePackages}/${name}.py`);
  else if (kind === "wheels") {
    details.forEach((wheel) => files.copy(wheel, `/tmp/${path.basename(wheel)}`));
    return ["wheels", ...details.map((wheel) => `/tmp/${path.basename(wheel)}`)];
  } else return found;
  return ["mounted"];
}

function workOf({ entry, env, files, output, pyodide, foreign, bodies }) {
  const sys = pyodide.globals.get("sys");
  return {
    boot(_id, _scope, worker) {
      output.prefix = worker.prefix;
      files.copyReadOnly(worker.folder, MAIN_FOLDER);
      if (worker.modules !== null) files.mount(worker.modules, MODULES_FOLDER);
      sys.path.append(MAIN_FOLDER);
      Object.assign(env, worker.env);
      const shown = [[`${MAIN_FOLDER}/`, worker.shown], [`${MODULES_FOLDER}/`, "python_modules/"]];
      return entry.boot(`${MAIN_FOLDER}/${worker.main}`, worker.strict, Object.fromEntries(shown));
    },
    bind(_id, _scope, bindings) {
      Object.assign(env, bindings);
    },
    event(id, scope, call, ctx, args) {
      entry.start(id, scope, call, ctx, args);
      return LATER;
    },
    forget: (_id, _scope, number) => entry.forget(number),
    callback(_id, scope, number, args) {
      const target = foreign.get(number);
      if (!(target instanceof pyodide.ffi.PyProxy)) return target(...args);
      return entry.callback(scope, target, args);
    },
    read: (_id, _scope, number, name) => foreign.get(number)[name],
    list: (_id, _scope, number) => [...foreign.get(number)],
    pull: (_id, _scope, number) => bodies.pull(number),
    drop: (_id, _scope, number, reason) => bodies.cancel(number, reason),
  };
}
