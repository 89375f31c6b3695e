// A Colyseus server that reserves seats in rooms of two, in memory.
import { Room, Server, matchMaker } from "@colyseus/core";
import { WebSocketTransport } from "@colyseus/ws-transport";

class Pair extends Room {
  maxClients = 2;
}

// Whoever reserves a seat in this room has the answer once all rooms of two have ended.
class AfterPairs extends Room {
  maxClients = 1; // so each reservation makes a new room of this kind

  async onCreate() {
    const pairs = await matchMaker.query({ name: "pair" });
    await Promise.all(pairs.map(({ roomId }) => matchMaker.getLocalRoomById(roomId).disconnect()));
  }
}

const server = new Server({ transport: new WebSocketTransport(), greet: false });
server.define("pair", Pair);
server.define("after-pairs", AfterPairs);
await server.listen(Number(process.argv[2]), "127.0.0.1");
