// Zip: files in one, as they are; maps are packed already.

const [LOCAL, CENTRAL, END] = [0x04034b50, 0x02014b50, 0x06054b50];
const UTF8 = 0x0800; // of names
const DAY = 0x21; // the first day that the format knows: the same files give the same bytes
const table = Uint32Array.from({ length: 256 }, (_, n) => {
  let sum = n;
  for (let i = 0; i < 8; i += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  return sum;
});

// The CRC of PNG and of zip.
export function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = table[(sum ^ byte) & 255] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

// Numbers of 2 or 4 bytes, one after the other.
function packed(...fields) {
  const view = new DataView(new ArrayBuffer(fields.reduce((sum, [size]) => sum + size, 0)));
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return view.buffer;
}

// Files as [name, blob] in one.
export async function zip(files) {
  const parts = [];
  const entries = [];
  let at = 0;
  for (const [name, blob] of files) {
    const label = new TextEncoder().encode(name);
    const sum = checksum(new Uint8Array(await blob.arrayBuffer()));
    const shared = [[2, 20], [2, UTF8], [2, 0], [2, 0], [2, DAY], [4, sum], [4, blob.size], [4, blob.size], [2, label.length], [2, 0]];
    const head = packed([4, LOCAL], ...shared);
    entries.push(packed([4, CENTRAL], [2, 20], ...shared, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]), label);
    parts.push(head, label, blob);
    at += head.byteLength + label.length + blob.size;
  }
  const size = entries.reduce((sum, entry) => sum + entry.byteLength, 0);
  const end = packed([4, END], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, at], [2, 0]);
  return new Blob([...parts, ...entries, end], { type: "application/zip" });
}
