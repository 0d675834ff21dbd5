// A thread that ends the process when its host is gone, even while Python never returns.

import net from "node:net";
import { workerData } from "node:worker_threads";

const line = new net.Socket({ fd: workerData, readable: true, writable: false });
const end = () => process.kill(process.pid, "SIGKILL");
line.on("end", end).on("error", end).on("close", end).resume();
