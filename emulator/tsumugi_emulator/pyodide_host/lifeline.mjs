// A thread that ends the process when its host is gone, even while Python never returns.

import net from "node:net";
import { workerData } from "node:worker_threads";

import { endProcess } from "./end.mjs";

const line = new net.Socket({ fd: workerData, readable: true, writable: false });
line.on("end", endProcess).on("error", endProcess).on("close", endProcess).resume();
