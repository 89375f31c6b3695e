"""The packages in the pictures of the imports, each with a few words on what it holds."""

PACKAGES = {
    "cli": "the pgs command",
    "demo": "pgs demo: a partner and its page",
    "devissuer": "identity provider of demo and tests",
    "doctor": "the checks of pgs doctor",
    "process": "signals and log of pgs serve",
    "serve": "listeners, start and stop",
    "public": "the public application",
    "app": "builds every part",
    "http": "HTTP and WebSocket, in and out",
    "operator": "the operator's commands",
    "actors": "owners of all that changes",
    "storage": "SQL, migrations, the writer",
    "games": "one module for each game",
    "domain": "rules as pure functions",
}

ACTORS = {
    "core": "what HTTP and operators drive",
    "maintenance": "background chores",
    "seating": "seats, pairing, matches, money",
    "play": "a match while it is played",
    "delivery": "webhooks and their tries",
    "billing_actor": "invoices",
    "account": "what a partner manages",
    "catalogue_actor": "tiers and rake terms",
    "partners": "one partner's actors, on demand",
    "parts": "what every actor is built from",
    "shared": "registers that all partners share",
    "messages": "commands and events, by receiver",
    "kernel": "mailboxes, asks, restarts",
}
