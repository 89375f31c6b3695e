/**
 * The part of Markdown that terms use: headings, paragraphs, lists, strong, emphasis and code. It
 * makes elements only, so that no text becomes markup.
 */

import type { ComponentChildren } from 'preact';
import { h } from 'preact';

interface Block {
  kind: 'heading' | 'paragraph' | 'bullets' | 'numbers';
  depth: number;
  lines: string[];
}

const HEADING = /^(#{1,6})\s+(.*)$/;
const BULLET = /^\s*[-*]\s+(.*)$/;
const NUMBER = /^\s*\d+[.)]\s+(.*)$/;

/** The blocks of a text, in its order. A line that begins no block continues the last one. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  const begin = (kind: Block['kind'], line: string, depth = 0) => {
    open = { kind, depth, lines: [line] };
    blocks.push(open);
  };
  for (const line of text.split('\n')) {
    const last = open as Block | null;
    const heading = HEADING.exec(line);
    const item = BULLET.exec(line) ?? NUMBER.exec(line);
    if (line.trim() === '') {
      open = null;
    } else if (heading !== null) {
      begin('heading', heading[2]!, heading[1]!.length);
      open = null;
    } else if (item !== null) {
      const kind = BULLET.test(line) ? 'bullets' : 'numbers';
      const list = last ?? blocks.at(-1);
      if (list?.kind === kind) {
        list.lines.push(item[1]!);
        open = list;
      } else {
        begin(kind, item[1]!);
      }
    } else if (last !== null) {
      last.lines[last.lines.length - 1] += ` ${line.trim()}`;
    } else {
      begin('paragraph', line.trim());
    }
  }
  return blocks;
}

const INLINE = /(\*\*[^*]+\*\*|\*[^*]+\*|`[^`]+`)/;

function inline(text: string): ComponentChildren {
  return text.split(INLINE).map((part) => {
    if (/^\*\*.+\*\*$/.test(part)) return <strong>{part.slice(2, -2)}</strong>;
    if (/^\*.+\*$/.test(part)) return <em>{part.slice(1, -1)}</em>;
    if (/^`.+`$/.test(part)) return <code>{part.slice(1, -1)}</code>;
    return part;
  });
}

/** `level`: the level that the text's highest headings get, so that no level is skipped. */
export function Markdown({ text, level }: { text: string; level: number }) {
  const blocks = blocksOf(text);
  const top = Math.min(...blocks.filter(({ depth }) => depth > 0).map(({ depth }) => depth));
  return (
    <>
      {blocks.map(({ kind, depth, lines }, index) => {
        if (kind === 'heading') {
          return h(`h${Math.min(6, level + depth - top)}`, { key: index }, inline(lines[0]!));
        }
        if (kind === 'paragraph') return <p key={index}>{inline(lines[0]!)}</p>;
        const items = lines.map((line, at) => <li key={at}>{inline(line)}</li>);
        return kind === 'bullets' ? <ul key={index}>{items}</ul> : <ol key={index}>{items}</ol>;
      })}
    </>
  );
}
