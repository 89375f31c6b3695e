import { useNameOf } from '../catalog';
import { Whole } from './whole';

interface GameAndTierProps {
  gameId: string;
  tierId: string;
}

/** The names of a game and a tier. */
export function GameAndTier({ gameId, tierId }: GameAndTierProps) {
  const nameOf = useNameOf();
  return <Whole text={`${nameOf(gameId)}, ${nameOf(tierId)}`} />;
}
