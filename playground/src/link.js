// Links that hold a configuration: "#VERSION.DATA", where DATA is the JSON {name, text}, compressed with zlib, whose
// checksum detects damage, and written in the letters of base64 for addresses.

export const VERSION = 1;
/** Most letters that a configuration may have. */
export const TEXT_MAX = 1 << 20;
// A letter takes up to 6 bytes, as an escape.
const BYTES_MAX = 6 * TEXT_MAX + 1000;

/** A link that cannot be read, with a sentence that says what to do. */
export class LinkError extends Error {}

const DAMAGED =
  "This link is damaged: a part of it is missing or was changed. Copy the whole link again, or start from an example; this page shows the first one.";

const TOO_LONG = `The configuration of this link is longer than the ${TEXT_MAX >> 20} MiB that the playground takes. Run it locally; this page shows the first example.`;

/** Returns the fragment of a configuration. */
export async function encode({ name, text }) {
  const bytes = new TextEncoder().encode(JSON.stringify({ name, text }));
  const packed = await collect(through(bytes, new CompressionStream("deflate")), Infinity);
  let letters = "";
  for (const byte of packed) letters += String.fromCharCode(byte);
  return `#${VERSION}.${btoa(letters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "")}`;
}

/** Returns the configuration of a fragment; null without one. */
export async function decode(fragment) {
  if (fragment.length < 2) return null;
  const [, version, data] = /^#(\d{1,6})\.([\w-]+)$/.exec(fragment) ?? [];
  if (version && Number(version) > VERSION) {
    throw new LinkError(
      `This link was made by a newer version of the playground: its format is ${version}, and this page reads up to ${VERSION}. Open it in the playground that made it, or update this one.`,
    );
  }
  try {
    const packed = Uint8Array.from(atob(data.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
    const bytes = await collect(through(packed, new DecompressionStream("deflate")), BYTES_MAX);
    const { name, text } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof name !== "string" || typeof text !== "string") throw new Error("no configuration");
    if (text.length > TEXT_MAX) throw new LinkError(TOO_LONG);
    return { name: name.replace(/[^\w.-]/g, "").slice(0, 100) || "shared.toml", text };
  } catch (error) {
    throw error instanceof LinkError ? error : new LinkError(DAMAGED);
  }
}

function through(bytes, stream) {
  return new Blob([bytes]).stream().pipeThrough(stream);
}

// A small link may hold gigabytes, so that reading stops at a maximum.
async function collect(stream, most) {
  const parts = [];
  let length = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) throw new Error("too long");
    parts.push(value);
  }
  const all = new Uint8Array(length);
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}
