/** ZIP archive of texts, uncompressed, without the times of its files. */

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
const UTF8_NAMES = 1 << 11;
const DAY = 0x21; // 1 January 1980, the first that the format has

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

function crc32(bytes) {
  let rest = 0xffffffff;
  for (const byte of bytes) rest = TABLE[(rest ^ byte) & 255] ^ (rest >>> 8);
  return (rest ^ 0xffffffff) >>> 0;
}

/** Returns numbers as bytes, the lowest first: [size, value] each. */
function pack(...fields) {
  return Uint8Array.from(fields.flatMap(([size, value]) => Array.from({ length: size }, (_, byte) => (value >>> (8 * byte)) & 255)));
}

/** Returns the parts of an archive, for a Blob. `files`: [{name, text}], 65,535 at most. */
export function zip(files) {
  const utf8 = new TextEncoder();
  const parts = [], directory = [];
  let offset = 0;
  for (const { name, text } of files) {
    const [label, bytes] = [utf8.encode(name), utf8.encode(text)];
    const common = [[2, VERSION], [2, UTF8_NAMES], [2, 0], [2, 0], [2, DAY], [4, crc32(bytes)], [4, bytes.length], [4, bytes.length], [2, label.length], [2, 0]];
    parts.push(pack([4, LOCAL], ...common), label, bytes);
    directory.push(pack([4, CENTRAL], [2, VERSION], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]), label);
    offset += 30 + label.length + bytes.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = pack([4, END], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, offset], [2, 0]);
  return [...parts, ...directory, end];
}
