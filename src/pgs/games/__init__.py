"""The games. Each is one module of pure functions that implements `pgs.games.rules.Rules`."""
