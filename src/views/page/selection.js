// The weights of the selected samples, for each node of the call tree and for each function.
//
// A choice of events is either one event (on both sides of a comparison), or all time of the
// threads, on and off the CPU.

import {state} from './state.js';

// Returns [{name, members, events, isTime, hasChance, hasStates}]. events[side] has the numbers of
// the choice's events on that side. hasChance means that confidence intervals apply.
export function eventChoices(about) {
  const choices = [];
  const bare = (name) => name.split(':')[0];
  const shown = about.events.map((event, number) => ({...event, number}))
      .filter((event) => event.samples > 0);
  const sidesOf = (events) => about.sides.map((_, side) =>
    events.filter((event) => event.side === side).map((event) => event.number));
  for (const event of shown) {
    const known = choices.find((choice) => bare(choice.name) === bare(event.name) &&
        choice.members.every((member) => member.side !== event.side));
    if (known) {
      known.members.push(event);
    } else {
      choices.push({name: event.name, members: [event]});
    }
  }
  const clocks = shown.filter((event) => event.isTime && !event.isOffCpu);
  const off = shown.filter((event) => event.isOffCpu);
  if (clocks.length > 0 && off.length > 0) {
    const clock = clocks.filter((event) => bare(event.name) === bare(clocks[0].name));
    const whole = bare(clocks[0].name) === 'oncpu-time';
    choices.unshift({name: whole ? 'wall-clock' : 'on and off the CPU', members: [...clock, ...off]});
  }
  if (choices.length === 0) choices.push({name: 'no samples', members: []});
  for (const choice of choices) {
    choice.events = sidesOf(choice.members);
    choice.isTime = choice.members.length > 0 && choice.members.every((event) => event.isTime);
    // Off-CPU times are complete, on-CPU times are sampled, so no interval covers both.
    choice.hasChance = choice.members.every((event) => !event.isCount && event.isOffCpu === choice.members[0].isOffCpu);
    choice.hasStates = choice.members.some((event) => event.isOffCpu);
  }
  return choices;
}

// The weights of one side. The arrays are reused for each selection. Values that only some views
// need are computed on demand.
//
//   self, total      by node, in periods            samples, totalSamples   by node
//   functions        {self, total, samples} by function
//   inequality       factor by which unequal weights increase the number of samples needed
class Weights {
  constructor(data) {
    this.data = data;
    this.self = new Float64Array(data.nodes.size);
    this.total = new Float64Array(data.nodes.size);
    this.running = new Float64Array(data.nodes.size + 1);
  }

  fill(events, isThreadChosen, from, to) {
    const {rows, about} = this.data;
    this.isEventChosen = new Uint8Array(about.events.length);
    for (const event of events) this.isEventChosen[event] = 1;
    this.isThreadChosen = isThreadChosen;
    this.first = rows.begin[from];
    this.end = rows.begin[to + 1];
    // If all samples weigh the same, samples follow from periods.
    this.evenPeriod = events.length === 1 && about.events[events[0]].isEven ? about.events[events[0]].usualPeriod : 0;
    this.found = {};
    this.addRows();
    this.sumSubtrees(this.self, this.total);
  }
  addRows() {
    const {event, thread, path, count, period} = this.data.rows;
    const {self, isEventChosen, isThreadChosen} = this;
    self.fill(0);
    let samples = 0, sum = 0;
    for (let i = this.first; i < this.end; ++i) {
      if ((isEventChosen[event[i]] & isThreadChosen[thread[i]]) === 0) continue;
      self[path[i]] += period[i];
      samples += count[i];
      sum += period[i];
    }
    this.count = samples;
    this.period = sum;
  }
  // Nodes are depth first, so the sum of a subtree is a difference of running sums.
  sumSubtrees(values, sums) {
    const {size, end} = this.data.nodes;
    const {running} = this;
    for (let i = 0; i < size; ++i) running[i + 1] = running[i] + values[i];
    for (let i = 0; i < size; ++i) sums[i] = running[end[i]] - running[i];
    return sums;
  }

  get samples() {
    return (this.found.samples ??= this.countSamples());
  }
  get totalSamples() {
    return (this.found.totalSamples ??= this.sumSubtrees(this.samples, new Float64Array(this.self.length)));
  }
  get functions() {
    return (this.found.functions ??= this.weighFunctions());
  }
  get inequality() {
    return (this.found.inequality ??= this.compareSamples());
  }

  countSamples() {
    if (this.evenPeriod > 0) return this.self.map((value) => value / this.evenPeriod);
    const {event, thread, path, count} = this.data.rows;
    const samples = new Float64Array(this.self.length);
    for (let i = this.first; i < this.end; ++i) {
      if (this.isEventChosen[event[i]] & this.isThreadChosen[thread[i]]) samples[path[i]] += count[i];
    }
    return samples;
  }
  compareSamples() {
    if (this.evenPeriod > 0 || this.period === 0) return 1;
    const {event, thread, count, period} = this.data.rows;
    let squares = 0;
    for (let i = this.first; i < this.end; ++i) {
      if (this.isEventChosen[event[i]] & this.isThreadChosen[thread[i]] && count[i] > 0) {
        squares += (period[i] * period[i]) / count[i];
      }
    }
    return (this.count * squares) / (this.period * this.period);
  }
  weighFunctions() {
    const {nodes, labels, functions} = this.data;
    const self = new Float64Array(functions.length), total = new Float64Array(functions.length);
    const samples = new Float64Array(functions.length);
    const ownSamples = this.samples;
    for (let i = 1; i < nodes.size; ++i) {
      const own = labels.functionOf[nodes.label[i]];
      if (own < 0) continue;
      self[own] += this.self[i];
      samples[own] += ownSamples[i];
      if (nodes.nested[i] === 0) total[own] += this.total[i];
    }
    return {self, total, samples};
  }
}

export function isWholeTime(data) {
  return state.from === 0 && state.to === data.slices - 1;
}

// Returns {sides: [Weights], choice} for the state's events, threads and time. The next call reuses
// the arrays.
export function select(data, choice) {
  const isThreadChosen = new Uint8Array(data.threads.length).fill(state.threads === null ? 1 : 0);
  for (const thread of state.threads ?? []) isThreadChosen[thread] = 1;
  data.weights ??= data.about.sides.map(() => new Weights(data));
  choice.events.forEach((events, side) => data.weights[side].fill(events, isThreadChosen, state.from, state.to));
  return {sides: data.weights, choice};
}
