/** The time of frames, measured on the page itself. */

import { h } from "./dom";

const KEPT = 30; // frames that are averaged

export class Meter {
  readonly root = h("output", {
    class: "meter",
    title: "Milliseconds that thinking and drawing take in a frame, of 16.7 at 60 frames per second; and frames per second",
  });
  private readonly times: number[] = [];
  private readonly gaps: number[] = [];

  /** Record a frame: its time and the time since the frame before it, in milliseconds. */
  measure(took: number, sinceLast: number): void {
    this.times.push(took);
    this.gaps.push(sinceLast);
    if (this.times.length < KEPT) return;
    const mean = this.times.reduce((sum, one) => sum + one, 0) / KEPT;
    const worst = Math.max(...this.times);
    const [median, gap] = [this.times, this.gaps].map((all) => all.toSorted((a, b) => a - b)[KEPT / 2]!) as [number, number];
    this.times.length = this.gaps.length = 0;
    this.root.textContent = `${mean.toFixed(1)} ms (at most ${worst.toFixed(1)}), ${Math.round(1000 / Math.max(1, gap))}/s`;
    this.root.dataset.mean = mean.toFixed(2);
    this.root.dataset.median = median.toFixed(2); // not that of frames that another process interrupted
    this.root.dataset.worst = worst.toFixed(2);
  }
}
