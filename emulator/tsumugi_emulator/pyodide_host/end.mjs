// How this process ends: at once.
//
// Node's own exit would give the terminal the modes it had when this process began. Others have
// changed them since: keys are read one by one, or the shell has the terminal back.

export function endProcess() {
  process.kill(process.pid, "SIGKILL");
}
