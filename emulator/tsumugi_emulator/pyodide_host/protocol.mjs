// Numbers both sides know: the twin of `pyodide_runtime/protocol.py`, which says what each means.
// A test compares the two.

export const SAY = {
  CALL: 0,
  RESULT: 1,
  SETTLED: 2,
  IDLE: 3,
  LOG: 4,
  RELEASE: 5,
  WARM: 6,
  PONG: 7,
  QUIET: 8,
  EXITED: 9,
};

export const HEAR = {
  INVOKE: 0,
  SETTLED: 1,
  FIRE: 2,
  CANCEL: 3,
  END: 4,
  RELEASE: 5,
  PING: 6,
  REPLY: 7,
};

export const VALUE = {
  UNDEFINED: 1,
  BIGINT: 2,
  DATE: 3,
  MAP: 4,
  SET: 5,
  BUFFER: 6,
  ERROR: 7,
  TEXT: 8,
  REGEXP: 9,
  SYMBOL: 10,
  HANDLE: 11,
  FOREIGN: 12,
  PROMISE: 13,
  STREAM: 14,
  REQUEST: 15,
  RESPONSE: 16,
  LITERAL_MAP: 17,
  GRAPH: 18,
  REFERENCE: 19,
};
