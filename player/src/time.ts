/** Time: of the run, on the screen, and between its samples. */

export const SPEEDS = [1, 1 / 2, 1 / 5, 1 / 10, 1 / 20, 1 / 50] as const;
/** How long a run should take on the screen [s]. */
const WANTED = 6.3;

/** The speed at which a run of that duration takes about as long as is good to watch. */
export function speedFor(duration: number): number {
  const off = (speed: number) => Math.abs(Math.log(duration / speed / WANTED));
  return SPEEDS.reduce((best, speed) => (off(speed) < off(best) ? speed : best));
}

/** "1", "1/2", … */
export function speedName(speed: number): string {
  return speed === 1 ? "1" : `1/${Math.round(1 / speed)}`;
}

/** The next faster (+1) or slower (−1) speed. */
export function nextSpeed(speed: number, direction: 1 | -1): number {
  const at = SPEEDS.findIndex((other) => other === speed);
  return SPEEDS[Math.min(Math.max(at - direction, 0), SPEEDS.length - 1)];
}

/** A moment between two samples: the first of them, and the share of the way to the next. */
export interface Moment {
  index: number;
  share: number;
}

/** Where a time is among samples; before the first and after the last, these. */
export function momentAt(times: readonly number[], time: number): Moment {
  const last = times.length - 1;
  if (!(time > times[0])) return { index: 0, share: 0 };
  if (time >= times[last]) return { index: last, share: 0 };
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle;
  }
  return { index: low, share: (time - times[low]) / (times[high] - times[low]) };
}

/** The time so many samples later (or earlier, if negative). From between two samples, the first step leads to one. */
export function stepped(times: readonly number[], time: number, count: number): number {
  const near = 1e-6 * (times[times.length - 1] - times[0]);
  const { index, share } = momentAt(times, time);
  let at = index + share;
  const nearest = Math.round(at);
  if (Math.abs(times[nearest] - time) <= near) at = nearest;
  const to = count > 0 ? Math.floor(at) + count : Math.ceil(at) + count;
  return times[Math.min(Math.max(to, 0), times.length - 1)];
}

/** Of the time at the end of a loop for which the last pose stays, on the screen [s]. */
export const REST = 0.6;

export interface Span {
  start: number;
  end: number;
}

/** From the first to the last moment of all runs. */
export function spanOf(runs: readonly { times: readonly number[] }[]): Span {
  const start = Math.min(...runs.map(({ times }) => times[0]));
  return { start, end: Math.max(...runs.map(({ times }) => times[times.length - 1])) };
}

/** The nearest time within a span. */
export function within({ start, end }: Span, time: number): number {
  return Math.min(Math.max(time, start), end);
}

/** The time that the end of an address names, "#t=0.25" [s]; null: none. */
export function linkedTime(hash: string): number | null {
  const found = /^#t=(\d*\.?\d+)$/.exec(hash);
  return found && Number(found[1]);
}

/** A clock that runs within a span: `time` stays in it, `rest` counts how long it has stood at the end. */
export interface Clock {
  time: number;
  rest: number;
  playing: boolean;
}

/** The clock so many seconds later, as seen on the screen. */
export function ticked(clock: Clock, elapsed: number, speed: number, span: Span, loop: boolean): Clock {
  if (!clock.playing) return clock;
  const time = clock.time + elapsed * speed;
  if (time < span.end) return { time, rest: 0, playing: true };
  if (!loop) return { time: span.end, rest: 0, playing: false };
  const rest = clock.rest + elapsed;
  return rest < REST ? { time: span.end, rest, playing: true } : { time: span.start, rest: 0, playing: true };
}
