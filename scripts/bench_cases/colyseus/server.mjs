// A Colyseus server that reserves seats in rooms of two, in memory.
import { Room, Server } from "@colyseus/core";
import { WebSocketTransport } from "@colyseus/ws-transport";

class Pair extends Room {
  maxClients = 2;
  // In seconds, longer than a round takes. Nobody connects in the benchmark, so a room ends when
  // its reservations expire.
  seatReservationTimeout = 600;
}

const server = new Server({ transport: new WebSocketTransport(), greet: false });
server.define("pair", Pair);
await server.listen(Number(process.argv[2]), "127.0.0.1");
