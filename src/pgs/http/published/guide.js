// The guide's search, its buttons to copy an example, and the reader's own address in examples.
const found = document.querySelector('.found');
const input = document.querySelector('input[type=search]');
const base = document.body.dataset.base;

if (matchMedia('(max-width: 48rem)').matches) document.querySelector('nav details').open = false;

for (const block of document.querySelectorAll('pre')) {
  const code = block.firstElementChild;
  if (base && base !== location.origin) {
    code.textContent = code.textContent.replaceAll(base, location.origin);
  }
  const around = document.createElement('div');
  around.className = 'block';
  block.replaceWith(around);
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = 'Copy'), 1500);
  });
  around.append(block, button);
}

let index;

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) {
    found.hidden = true;
    return;
  }
  index ??= fetch('/docs/search.json').then((answer) => answer.json());
  const hits = (await index)
    .map((part) => ({ part, title: part.title.toLowerCase(), text: part.words }))
    .filter(({ title, text }) => words.every((word) => title.includes(word) || text.includes(word)))
    .sort((a, b) => rank(b, words) - rank(a, words))
    .slice(0, 20);
  found.replaceChildren(...hits.map(({ part }) => item(part)));
  if (!hits.length) {
    const none = document.createElement('li');
    found.append(Object.assign(none, { textContent: 'Nothing found.' }));
  }
  found.hidden = false;
}

function rank({ title }, words) {
  return words.filter((word) => title.includes(word)).length * 2 + (title === words[0] ? 5 : 0);
}

function item(part) {
  const entry = document.createElement('li');
  const link = document.createElement('a');
  link.href = part.url;
  link.textContent = part.title;
  const where = document.createElement('small');
  where.textContent = `${part.page}: ${part.text.slice(0, 90)}`;
  link.append(where);
  entry.append(link);
  return entry;
}

input.addEventListener('input', search);
input.form.addEventListener('submit', (event) => {
  event.preventDefault();
  found.querySelector('a')?.click();
});
found.addEventListener('click', () => (found.hidden = true));
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') found.hidden = true;
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  }
});
