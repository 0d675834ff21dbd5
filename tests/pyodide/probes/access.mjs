// Runs the jobs API's authentication inside Pyodide: node access.mjs <package directory> <sdk>.
// Node's Web Crypto signs, the SDK verifies through js.crypto.subtle. Prints what it decided.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [packageDirectory, sdk] = process.argv.slice(2);
const entry = pathToFileURL(resolve(packageDirectory, "pyodide.mjs"));
const { loadPyodide } = await import(entry);
const python = await loadPyodide();

function copy(from, to) {
  python.FS.mkdirTree(to);
  for (const item of readdirSync(from, { withFileTypes: true })) {
    if (item.name === "__pycache__") continue;
    const [source, target] = [join(from, item.name), `${to}/${item.name}`];
    if (item.isDirectory()) copy(source, target);
    else python.FS.writeFile(target, readFileSync(source));
  }
}
copy(join(sdk, "tsumugi"), "/sdk/tsumugi");

const rsa = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
const ec = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const strength = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
const usages = ["sign", "verify"];
const pairs = {
  RS256: await crypto.subtle.generateKey({ ...rsa, ...strength }, true, usages),
  ES256: await crypto.subtle.generateKey(ec, true, usages),
};
const encoded = (data) => Buffer.from(data).toString("base64url");

async function token(alg, parameters) {
  const claims = { iss: "https://team.cloudflareaccess.com", aud: ["aud"], exp: 9_999_999_999 };
  const text = [{ alg, kid: alg }, claims].map((part) => encoded(JSON.stringify(part))).join(".");
  const data = new TextEncoder().encode(text);
  return `${text}.${encoded(await crypto.subtle.sign(parameters, pairs[alg].privateKey, data))}`;
}

const keys = await Promise.all(
  Object.entries(pairs).map(async ([kid, pair]) => ({
    ...(await crypto.subtle.exportKey("jwk", pair.publicKey)),
    kid,
  })),
);
globalThis.GIVEN = JSON.stringify({
  document: { keys },
  tokens: [await token("RS256", rsa), await token("ES256", ec)],
});

const said = await python.runPythonAsync(`
import json, sys
sys.path.insert(0, "/sdk")
import js
from tsumugi import bearer_auth
from tsumugi.jobs.api.access import AccessAuth

given = json.loads(js.GIVEN)

async def fetch(url):
    return given["document"]

class Asked:
    method, url = "GET", "https://worker.test/api/jobs"

    def __init__(self, **headers):
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

access = AccessAuth("team", "aud", fetch=fetch)
said = []
for token in given["tokens"]:
    head, claims, signature = token.split(".")
    for text in (token, f"{head}.{claims}.{'A' * len(signature)}"):
        said.append(await access.refusal(Asked(cf_access_jwt_assertion=text), None))
bearer = bearer_auth(lambda env: "token")
for text in ("Bearer token", "Bearer tokem"):
    said.append(await bearer(Asked(authorization=text), None))
json.dumps(said)
`);
console.log(said);
