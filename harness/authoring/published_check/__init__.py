"""What is known to be wrong with published tasks, looked for in one: `testwright task check swe-atlas:PATH`."""
