/** Text whose names are not broken at their hyphens. */

/** Characters of a name that is kept whole. A longer one might not fit into a narrow column. */
const WHOLE_MAX = 24;

export function Whole({ text }: { text: string }) {
  return (
    <span>
      {text.split(' ').flatMap((word, index) => [
        index === 0 ? '' : ' ',
        word.includes('-') && word.length <= WHOLE_MAX ? <span class="line">{word}</span> : word,
      ])}
    </span>
  );
}
