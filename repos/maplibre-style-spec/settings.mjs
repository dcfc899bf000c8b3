// What differs from package to package; testwright repo new wrote it.
/** Names in package.json's `exports` that lead to sources instead of to what is built of them. */
export const CONDITIONS = [];
/** The directory of the sources. */
export const SOURCES = "src";
/** Test files that run only where they are named. */
export const LEFT_OUT = [];
