// The Workers runtime's own streams, for bytes only.

/** Lengths of bodies that are known beforehand: they become a Content-Length. */
const lengths = new WeakMap();

export function lengthOf(stream) {
  return lengths.get(stream) ?? null;
}

export class IdentityTransformStream extends TransformStream {
  constructor(length) {
    let left = length;
    super({
      transform(chunk, controller) {
        const data = bytesOf(chunk);
        if (left !== undefined && (left -= data.length) < 0) {
          throw new TypeError("Attempt to write too many bytes through a FixedLengthStream.");
        }
        if (data.length > 0) controller.enqueue(data);
      },
      flush() {
        if (left) {
          throw new TypeError("FixedLengthStream did not see all expected bytes before close().");
        }
      },
    });
  }
}

export class FixedLengthStream extends IdentityTransformStream {
  constructor(length) {
    super(Number(length));
    lengths.set(this.readable, Number(length));
  }
}

function bytesOf(chunk) {
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  if (ArrayBuffer.isView(chunk)) {
    return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
  const what = typeof chunk === "string" ? "a string" : "an object of non-ArrayBuffer type";
  throw new TypeError(
    `This TransformStream is being used as a byte stream, but received ${what} on its writable ` +
      "side. If you wish to write a string, you'll probably want to explicitly UTF-8-encode it " +
      "with TextEncoder.",
  );
}
