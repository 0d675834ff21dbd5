// MessagePack, as much of it as frames need. Knows no JavaScript value beyond JSON's, bytes
// (Buffer) and extensions; what becomes an extension, and what one becomes, is the caller's.

const INITIAL_BYTES = 1024;

export class Extension {
  constructor(code, content) {
    this.code = code;
    this.content = content;
  }
}

export class Writer {
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  #at = 0;
  #special;

  /** `special(value)` is asked about every other object; it gives an `Extension` or plain data. */
  constructor(special) {
    this.#special = special;
  }

  static bytes(value, special) {
    const writer = new Writer(special);
    writer.write(value);
    return writer.#buffer.subarray(0, writer.#at);
  }

  write(value) {
    switch (typeof value) {
      case "string":
        if (value.isWellFormed()) this.#text(value);
        else this.write(this.#special(value));
        return;
      case "number":
        this.#number(value);
        return;
      case "boolean":
        this.#byte(value ? 0xc3 : 0xc2);
        return;
      case "object":
        if (value === null) this.#byte(0xc0);
        else this.#object(value);
        return;
      default:
        this.write(this.#special(value));
    }
  }

  #object(value) {
    if (value instanceof Extension) {
      this.#extension(value);
    } else if (Buffer.isBuffer(value)) {
      this.#head(value.length, [0xc4, 0xc5, 0xc6]);
      this.#copy(value);
    } else if (Array.isArray(value)) {
      this.#count(value.length, 0x90, 0xdc);
      for (let index = 0; index < value.length; index += 1) this.write(value[index]);
    } else if (isPlain(value)) {
      const keys = Object.keys(value);
      this.#count(keys.length, 0x80, 0xde);
      for (const key of keys) {
        this.write(key);
        this.write(value[key]);
      }
    } else {
      this.write(this.#special(value));
    }
  }

  #extension({ code, content }) {
    const inner = Writer.bytes(content, this.#special);
    this.#head(inner.length, [0xc7, 0xc8, 0xc9]);
    this.#byte(code);
    this.#copy(inner);
  }

  #text(value) {
    const size = Buffer.byteLength(value);
    if (size < 32) this.#byte(0xa0 | size);
    else this.#head(size, [0xd9, 0xda, 0xdb]);
    this.#room(size);
    this.#at += this.#buffer.write(value, this.#at);
  }

  #number(value) {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
      this.#byte(0xcb);
      this.#room(8);
      this.#at = this.#buffer.writeDoubleBE(value, this.#at);
    } else if (value >= 0 && value < 0x80) {
      this.#byte(value);
    } else if (value < 0 && value >= -32) {
      this.#byte(0x100 + value);
    } else if (value >= -(2 ** 31) && value < 2 ** 31) {
      this.#byte(0xd2);
      this.#room(4);
      this.#at = this.#buffer.writeInt32BE(value, this.#at);
    } else {
      this.#byte(0xd3);
      this.#room(8);
      this.#at = this.#buffer.writeBigInt64BE(BigInt(value), this.#at);
    }
  }

  #count(count, short, long) {
    if (count < 16) {
      this.#byte(short | count);
    } else if (count < 0x10000) {
      this.#byte(long);
      this.#room(2);
      this.#at = this.#buffer.writeUInt16BE(count, this.#at);
    } else {
      this.#byte(long + 1);
      this.#room(4);
      this.#at = this.#buffer.writeUInt32BE(count, this.#at);
    }
  }

  #head(size, [tiny, short, long]) {
    this.#room(5);
    if (size < 0x100) {
      this.#byte(tiny);
      this.#byte(size);
    } else if (size < 0x10000) {
      this.#byte(short);
      this.#at = this.#buffer.writeUInt16BE(size, this.#at);
    } else {
      this.#byte(long);
      this.#at = this.#buffer.writeUInt32BE(size, this.#at);
    }
  }

  #byte(value) {
    this.#room(1);
    this.#buffer[this.#at] = value;
    this.#at += 1;
  }

  #copy(bytes) {
    this.#room(bytes.length);
    bytes.copy(this.#buffer, this.#at);
    this.#at += bytes.length;
  }

  #room(size) {
    if (this.#at + size <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + size));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}

function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export class Reader {
  #data;
  #at = 0;
  #restore;

  /** `restore(code, content)` gives the value of an extension. */
  constructor(data, restore) {
    this.#data = data;
    this.#restore = restore;
  }

  static value(data, restore) {
    return new Reader(data, restore).read();
  }

  read() {
    const head = this.#unsigned(1);
    if (head < 0x80) return head;
    if (head < 0x90) return this.#map(head & 0x0f);
    if (head < 0xa0) return this.#array(head & 0x0f);
    if (head < 0xc0) return this.#text(head & 0x1f);
    if (head >= 0xe0) return head - 0x100;
    return this.#long(head);
  }

  #long(head) {
    switch (head) {
      case 0xc0: return null;
      case 0xc2: return false;
      case 0xc3: return true;
      case 0xc4: case 0xc5: case 0xc6: return Buffer.from(this.#bytes(this.#size(head - 0xc4)));
      case 0xc7: case 0xc8: case 0xc9: return this.#extension(this.#size(head - 0xc7));
      case 0xca: return this.#take(4).readFloatBE();
      case 0xcb: return this.#take(8).readDoubleBE();
      case 0xcc: case 0xcd: case 0xce: return this.#size(head - 0xcc);
      case 0xcf: return Number(this.#take(8).readBigUInt64BE());
      case 0xd0: return this.#take(1).readInt8();
      case 0xd1: return this.#take(2).readInt16BE();
      case 0xd2: return this.#take(4).readInt32BE();
      case 0xd3: return Number(this.#take(8).readBigInt64BE());
      case 0xd4: case 0xd5: case 0xd6: case 0xd7: case 0xd8:
        return this.#extension(1 << (head - 0xd4));
      case 0xd9: case 0xda: case 0xdb: return this.#text(this.#size(head - 0xd9));
      case 0xdc: case 0xdd: return this.#array(this.#size(head - 0xdb));
      case 0xde: case 0xdf: return this.#map(this.#size(head - 0xdd));
      default: throw new Error(`not MessagePack: 0x${head.toString(16)}`);
    }
  }

  /** A size of 1, 2 or 4 bytes. */
  #size(power) {
    return this.#unsigned(1 << power);
  }

  #unsigned(width) {
    const value = this.#data.readUIntBE(this.#at, width);
    this.#at += width;
    return value;
  }

  #take(count) {
    return this.#bytes(count);
  }

  #bytes(count) {
    const bytes = this.#data.subarray(this.#at, this.#at + count);
    this.#at += count;
    return bytes;
  }

  #text(size) {
    return this.#bytes(size).toString();
  }

  #array(count) {
    const items = new Array(count);
    for (let index = 0; index < count; index += 1) items[index] = this.read();
    return items;
  }

  #map(count) {
    const made = {};
    for (let index = 0; index < count; index += 1) {
      const key = this.read();
      const value = this.read();
      if (key === "__proto__") Object.defineProperty(made, key, { value, ...FIELD });
      else made[key] = value;
    }
    return made;
  }

  #extension(size) {
    const code = this.#unsigned(1);
    const content = Reader.value(this.#bytes(size), this.#restore);
    return this.#restore(code, content);
  }
}

const FIELD = { enumerable: true, writable: true, configurable: true };
