// What Pyodide's file system holds: the Worker where production puts it, read-only, and packages.

import fs from "node:fs";
import path from "node:path";

const READ_ONLY_FILE = 0o444;
const READ_ONLY_FOLDER = 0o555;
/** Below the Worker's folder, but no part of it. */
const NOT_DEPLOYED = new Set([
  "__pycache__", "node_modules", "python_modules", ".venv", ".venv-workers", ".wrangler", ".git",
]);
/** A Worker has far fewer: this is somebody's home directory. */
const MAX_FILES = 20_000;

export class Files {
  #fs;
  #copied = 0;

  constructor(pyodide) {
    this.#fs = pyodide.FS;
  }

  /** A file or a folder with all that is in it. */
  copy(from, to) {
    this.#fs.mkdirTree(path.posix.dirname(to));
    if (fs.statSync(from).isDirectory()) this.#copyFolder(from, to);
    else this.#copyFile(from, to);
  }

  /** As `copy`; what is in it cannot be changed. */
  copyReadOnly(from, to) {
    this.#copyFolder(from, to, { readOnly: true });
  }

  #copyFolder(from, to, { readOnly = false } = {}) {
    this.#fs.mkdirTree(to);
    for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
      if (NOT_DEPLOYED.has(entry.name)) continue;
      const [source, target] = [path.join(from, entry.name), `${to}/${entry.name}`];
      const kind = entry.isSymbolicLink() ? fs.statSync(source, { throwIfNoEntry: false }) : entry;
      if (kind?.isDirectory()) this.#copyFolder(source, target, { readOnly });
      else if (kind?.isFile()) this.#copyFile(source, target, { readOnly });
    }
    if (readOnly) this.#fs.chmod(to, READ_ONLY_FOLDER);
  }

  #copyFile(from, to, { readOnly = false } = {}) {
    this.#copied += 1;
    if (this.#copied > MAX_FILES) throw new Error(`more than ${MAX_FILES} files in the Worker's folder`);
    this.#fs.writeFile(to, fs.readFileSync(from));
    if (readOnly) this.#fs.chmod(to, READ_ONLY_FILE);
  }

  /** Show a folder of the machine: for packages, which may be large. */
  mount(from, to) {
    this.#fs.mkdirTree(to);
    this.#fs.mount(this.#fs.filesystems.NODEFS, { root: from }, to);
  }
}
