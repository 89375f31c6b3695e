"""Everything that speaks HTTP or WebSocket, inward or outward."""
