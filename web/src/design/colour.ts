/** Colours of the form `#RRGGBB`, and how well one can be read on another. */

const COLOUR = /^#[0-9a-f]{6}$/i;

/** Returns whether a text is a colour. */
export function isColour(text: unknown): text is string {
  return typeof text === 'string' && COLOUR.test(text);
}

/** Returns the relative luminance of a colour, 0 to 1 (WCAG 2.2, "relative luminance"). */
export function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast of two colours, 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: string, other: string): number {
  const [first, second] = [luminance(one), luminance(other)];
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
}
