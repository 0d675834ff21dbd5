// Saved anew by the reload benchmark.
export const VERSION = "0";
