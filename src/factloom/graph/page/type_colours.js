"use strict";

// The colour of a type of entities in degrees, the same on every page. The usual ones are far from
// each other; types that mean the same have the same one. Others have one by a number of their
// name (CRC-32).
const HUES = new Map(
  Object.entries({
    215: ["PER", "PERSON", "NAME"],
    28: ["ORG", "ORGANIZATION", "COMPANY"],
    130: ["LOC", "GPE", "LOCATION", "PLACE"],
    280: ["TIME", "DATE"],
    175: ["NUM", "NUMBER", "CARDINAL", "QUANTITY"],
    330: ["MISC"],
  }).flatMap(([hue, types]) => types.map((type) => [type, Number(hue)])),
);

function hueOf(type) {
  const name = type.toUpperCase();
  return HUES.get(name) ?? checksum(new TextEncoder().encode(name)) % 360;
}

function checksum(bytes) {
  let rest = 0xffffffff;
  for (const byte of bytes) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0);
  }
  return (rest ^ 0xffffffff) >>> 0;
}
