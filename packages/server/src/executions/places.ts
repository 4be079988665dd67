/**
 * Places in a reactor's order of receipt are numbered from 1. A message that is to wait for its time has a number from
 * here on: it is in nobody's way, is found by its time, and takes a place in the order when its time has come.
 */
export const delayedFrom = 2 ** 52;
