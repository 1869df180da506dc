import { BATCH_LIMIT_EVENTS, QUEUE_LIMIT_EVENTS } from './limits.js';

/**
 * Lets many requests share one durable commit: whatever arrives in one turn of the event loop is written together, and
 * answered after the commit.
 */
export class GroupCommit {
  #append;
  #queue = [];
  #scheduled = false;

  /**
   * @param {(drafts: readonly import('./event.js').Draft[]) => readonly unknown[]} append throws when nothing was kept
   */
  constructor(append) {
    this.#append = append;
  }

  /**
   * Queues a draft; `done(error, answer)` is called after its commit. Answers false, and does nothing, when the queue
   * is full.
   */
  add(draft, done) {
    if (this.#queue.length >= QUEUE_LIMIT_EVENTS) return false;
    this.#queue.push({ draft, done });
    this.#schedule();
    return true;
  }

  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
      if (this.#queue.length > 0) this.#schedule();
    });
  }

  #flush() {
    const batch = this.#queue.splice(0, BATCH_LIMIT_EVENTS);
    let answers;
    try {
      answers = this.#append(batch.map(({ draft }) => draft));
    } catch (error) {
      for (const { done } of batch) done(error, null);
      return;
    }
    batch.forEach(({ done }, index) => done(null, answers[index]));
  }
}
