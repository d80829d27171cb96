"use strict";

// A document's text cut at the borders of its sentences and mentions, so that it can be shown:
//   textPieces(text, sentences, mentions) -> [{text, sentence, mentions}]
// `sentences` and `mentions` have `start` and `end`. A piece knows the number of its sentence, or
// null between sentences, and the numbers of the mentions that cover it, the shortest first.
//
// Offsets count characters as Python does, code points; a browser counts UTF-16 units, and the two
// part ways at the first emoji. So the text is taken apart into code points first.
function textPieces(text, sentences, mentions) {
  const signs = [...text];
  const spans = [...sentences, ...mentions];
  const borders = new Set([0, signs.length, ...spans.flatMap(({ start, end }) => [start, end])]);
  const cuts = [...borders].sort((one, other) => one - other);
  const length = (index) => mentions[index].end - mentions[index].start;
  const waiting = mentions
    .map((_, index) => index)
    .sort((one, other) => mentions[other].start - mentions[one].start);
  let open = [];
  let next = 0; // the first sentence that has not ended
  const pieces = [];
  for (let at = 0; at + 1 < cuts.length; at++) {
    const [start, end] = [cuts[at], cuts[at + 1]];
    while (waiting.length && mentions[waiting.at(-1)].start <= start) open.push(waiting.pop());
    open = open.filter((index) => mentions[index].end > start);
    while (next < sentences.length && sentences[next].end <= start) next++;
    pieces.push({
      text: signs.slice(start, end).join(""),
      sentence: next < sentences.length && sentences[next].start <= start ? next : null,
      mentions: [...open].sort((one, other) => length(one) - length(other) || one - other),
    });
  }
  return pieces;
}
