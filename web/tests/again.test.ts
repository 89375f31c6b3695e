import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadGame } from '../src/frame/boards';
import { Controller } from '../src/frame/controller';
import { FakeBrowser, snapshot } from './fake-browser';

await loadGame('tic-tac-toe', () => {});

async function ended() {
  const browser = new FakeBrowser();
  const asked: object[] = [];
  const controller = new Controller(browser, {
    send: (message) => {
      if ((message as { type: string }).type === 'pgs.again') asked.push(message);
    },
  });
  controller.setAgain(true);
  controller.setToken('t');
  await browser.pass(0);
  browser.newest.open();
  browser.newest.deliver(snapshot());
  browser.newest.deliver({ type: 'ended', matchId: 'mat_1', seq: 2, outcome: 'ended' });
  return { browser, controller, asked };
}

test('a page that takes no seat is asked again when the player presses again', async () => {
  const { browser, controller, asked } = await ended();
  controller.playAgain();
  await browser.pass(19_000);
  assert.equal(controller.published.again, 'asked');
  await browser.pass(1000);
  assert.equal(controller.published.again, 'late');
  const { text } = controller.published.announced.at(-1) ?? {};
  assert.equal(text, 'The page has not answered. Please try again.');
  controller.playAgain();
  assert.equal(controller.published.again, 'asked');
  assert.equal(asked.length, 2);
});

test('a seat that comes late is shown like one that comes in time', async () => {
  const { browser, controller } = await ended();
  controller.playAgain();
  await browser.pass(25_000);
  browser.newest.deliver({ type: 'waiting', seatId: 'sea_2' });
  assert.equal(controller.published.again, 'offered');
  assert.equal(controller.published.play.ending, null);
  await browser.pass(60_000);
  assert.equal(controller.published.again, 'offered');
});
