// What the probes say, in a form that two implementations can be compared by.

import { makeDescribe } from "../host/describe.mjs";

export const describe = makeDescribe(class NoProxy {});

export function transcript() {
  const said = [];
  const say = async (label, action) => {
    let text;
    try {
      text = describe(await action());
    } catch (error) {
      text = `raises ${error?.constructor?.name} ${error?.name}: ${error?.message}`;
    }
    said.push([label, text]);
  };
  return { said, say };
}
