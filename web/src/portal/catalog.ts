/** The names of games and tiers, which the shell reads once for all pages of an environment. */

import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Api, Environment } from './api';

/** Returns the name of a game or a tier; its id if no name is known. */
export type NameOf = (id: string) => string;

export const Catalog = createContext<NameOf>((id) => id);

export const useNameOf = () => useContext(Catalog);

interface Read {
  games?: { gameId: string; name: string }[];
  tiers?: { tierId: string; name: string }[];
}

/** Reads the names. Until they have come, or if reading fails, the ids stand for them. */
export function useCatalog(api: Api, environment: Environment): NameOf {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    let wanted = true;
    const paths = ['games?limit=500', `tiers?environment=${environment}`];
    Promise.all(paths.map((path) => api.read<Read>(path))).then(
      (answers) => wanted && setNames(namesIn(answers)),
      () => null, // the ids are shown
    );
    return () => {
      wanted = false;
    };
  }, [api, environment]);
  return (id) => names.get(id) ?? id;
}

function namesIn(answers: readonly Read[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { games = [], tiers = [] } of answers) {
    for (const { gameId, name } of games) names.set(gameId, name);
    for (const { tierId, name } of tiers) names.set(tierId, name);
  }
  return names;
}
