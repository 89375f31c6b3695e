import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { ENGLISH } from '../words/speaker';

/** The speaker of the language in which the frame is drawn. */
export const Words = createContext(ENGLISH);

export const useSpeaker = () => useContext(Words);
