"""The catalogue of TypeScript: rules that change a function's text and keep what it does."""
