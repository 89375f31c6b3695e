const COUNT = 22;

/** The bits of confetti that fly from the middle of the board when the player has won. */
export function Bits() {
  const bits = Array.from({ length: COUNT }, (_, at) => {
    const angle = (at / COUNT) * 2 * Math.PI + (at % 3) * 0.2;
    const reach = 34 + ((at * 37) % 22);
    return {
      '--dx': `${Math.cos(angle) * reach}cqmin`,
      '--dy': `${Math.sin(angle) * reach - 6}cqmin`,
      '--rot': `${(at * 77) % 360}deg`,
      '--t': `${(at * 13) % 90}ms`,
    };
  });
  return (
    <div class="bits" aria-hidden="true">
      {bits.map((style, at) => (
        <i key={at} class={`bit${at % 3}`} style={style} />
      ))}
    </div>
  );
}
