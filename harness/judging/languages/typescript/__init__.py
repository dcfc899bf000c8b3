"""TypeScript and JavaScript: vitest and jest, sources transpiled beforehand."""
