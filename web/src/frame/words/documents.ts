/** The texts in the frame's document, before any script has run, in each language. */

export type Language = 'en' | 'es' | 'pt' | 'fr' | 'de' | 'ar';

export const DOCUMENTS: Record<Language, { title: string; noscript: string }> = {
  en: { title: 'Game', noscript: 'This game needs JavaScript.' },
  es: { title: 'Juego', noscript: 'Este juego necesita JavaScript.' },
  pt: { title: 'Jogo', noscript: 'Este jogo precisa de JavaScript.' },
  fr: { title: 'Jeu', noscript: 'Ce jeu a besoin de JavaScript.' },
  de: { title: 'Spiel', noscript: 'Dieses Spiel braucht JavaScript.' },
  ar: { title: 'لعبة', noscript: 'تحتاج هذه اللعبة إلى JavaScript.' },
};
