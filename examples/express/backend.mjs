/**
 * A partner's backend with Express and the JavaScript client.
 *
 *     PGS_BASE_URL=… PGS_KEY=… PGS_WEBHOOK_SECRET=… PORT=8080 node backend.mjs
 *
 * Its page calls /play/session for the frame and /play/seat to buy a seat. The service calls
 * /nudges.
 */

import express from "express";
import { Client, InvalidSignature, PgsError, verifyWebhook } from "pgs-client";
import { FileStore } from "pgs-client/node";

const { PGS_BASE_URL, PGS_KEY, PGS_WEBHOOK_SECRET, FEED_FILE, PORT } = process.env;
const client = new Client(PGS_BASE_URL, PGS_KEY);
const store = new FileStore(FEED_FILE ?? "feed.json");
const secrets = PGS_WEBHOOK_SECRET.split(" "); // two while a rotation is under way
const GAME = "tic-tac-toe", TIER = "test-bronze", STAKE_USD_CENTS = 100;

const app = express();

// Returns the signed-in player. Put your own sign-in here: never trust a header.
const signedIn = (request) => request.get("X-Demo-Player");

// One reader at a time: a nudge that comes while the feed is read is followed by another reading.
let reading = Promise.resolve();
function readFeed() {
  reading = reading
    .then(() => client.catchUp(store))
    .catch((error) => console.warn("the feed cannot be read:", error.message));
}
setInterval(readFeed, 60_000).unref(); // nudges can be lost

// What the frame of the signed-in player needs, and nothing else.
app.post("/play/session", async (request, response) => {
  const session = await client.mint({ gameId: GAME, playerId: signedIn(request) });
  response.json({ embedUrl: session.embedUrl, sessionToken: session.sessionToken });
});

// Buys a seat for an order that your shop has stored. A repeated call charges nobody twice.
app.post("/play/seat/:order", async (request, response) => {
  const { seatId, status, matchId } = await client.seat({
    gameId: GAME,
    playerId: signedIn(request),
    tierId: TIER,
    stakeUsdCents: STAKE_USD_CENTS,
    idempotencyKey: request.params.order,
  });
  response.json({ seatId, status, matchId });
});

// Verifies the raw body, answers, and reads the feed afterwards.
app.post("/nudges", express.raw({ type: () => true }), async (request, response) => {
  try {
    await verifyWebhook(secrets, request.get("X-Service-Signature"), request.body);
  } catch (error) {
    if (!(error instanceof InvalidSignature)) throw error;
    response.sendStatus(400);
    return;
  }
  response.sendStatus(204);
  readFeed();
});

// What the store knows of the player's match.
app.get("/results/:matchId", async (request, response) => {
  const row = await store.row(request.params.matchId, signedIn(request));
  response.json(row ? { result: row.result, payoutUsdCents: row.payoutUsdCents } : {});
});

// Tells the page whether trying again may help.
app.use((error, request, response, next) => {
  if (!(error instanceof PgsError)) return next(error);
  response.status(error.mayPass ? 503 : 409).json({ reason: error.reason ?? null });
});

app.listen(Number(PORT ?? 8080), "127.0.0.1");
