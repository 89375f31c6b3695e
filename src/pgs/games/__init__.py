"""The games. Each is one pure module that follows `pgs.games.rules.Rules`."""
