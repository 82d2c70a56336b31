// Decodes the page's data to tables; page_data.h describes the encoding.
//
//   nodes    depth first: the subtree of node i is i … end[i] − 1, its first callee is i + 1, and
//            the callee after c is end[c]
//   labels   name, image and kind of code of nodes
//   functions  labels of equal name and image, of any kind

const kDataVersion = 1;
export const kKinds = ['process', 'user', 'inlined', 'JIT', 'kernel', 'unnamed', 'off the CPU'];
export const kProcess = 0;

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
    this.decoder = new TextDecoder();
  }
  number() {
    let byte = this.bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    let scale = 128;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }
  difference() {
    const number = this.number();
    return number % 2 === 0 ? number / 2 : -(number + 1) / 2;
  }
  text() {
    const size = this.number();
    this.at += size;
    return this.decoder.decode(this.bytes.subarray(this.at - size, this.at));
  }
  // Reads a column of numbers, or of differences to the previous number. There are millions, and
  // nearly all take one byte.
  numbers(column) {
    const {bytes} = this;
    for (let i = 0; i < column.length; ++i) {
      const byte = bytes[this.at];
      if (byte < 128) {
        column[i] = byte;
        ++this.at;
      } else {
        column[i] = this.number();
      }
    }
    return column;
  }
  differences(column) {
    const {bytes} = this;
    let value = 0;
    for (let i = 0; i < column.length; ++i) {
      const byte = bytes[this.at];
      if (byte < 128) {
        value += (byte >> 1) ^ -(byte & 1);
        ++this.at;
      } else {
        value += this.difference();
      }
      column[i] = value;
    }
    return column;
  }
}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflated(base64) {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function readLabels(reader, strings) {
  const size = reader.number();
  const name = reader.numbers(new Uint32Array(size));
  const image = reader.numbers(new Uint32Array(size));
  const kind = reader.numbers(new Uint8Array(size));
  return {
    size,
    kind,
    name: Array.from(name, (number) => strings[number]),
    image: Array.from(image, (number) => strings[number]),
    functionOf: new Int32Array(size).fill(-1),
  };
}

function readThreads(reader, strings) {
  const size = reader.number();
  const pid = reader.differences(new Uint32Array(size));
  const tid = reader.differences(new Uint32Array(size));
  const comm = reader.numbers(new Uint32Array(size));
  const side = reader.numbers(new Uint8Array(size));
  const threads = reader.numbers(new Uint32Array(size));
  return Array.from(comm, (number, i) => ({
    number: i, pid: pid[i], tid: tid[i], comm: strings[number], side: side[i], threads: threads[i],
  }));
}

function readNodes(reader) {
  const size = reader.number();
  const depth = reader.numbers(new Uint32Array(size));
  for (let i = 1; i < size; ++i) depth[i] = depth[i - 1] + 1 - depth[i];
  depth[0] = 0;
  const label = new Int32Array(size);
  for (let i = 0; i < size; ++i) label[i] = reader.number() - 1;
  return {size, depth, label, parent: new Uint32Array(size), end: new Uint32Array(size)};
}

// Computes the nodes' parents and the ends of subtrees from the depths.
function connectNodes(nodes) {
  const open = [];
  for (let i = 0; i < nodes.size; ++i) {
    while (open.length > nodes.depth[i]) nodes.end[open.pop()] = i;
    if (i > 0) nodes.parent[i] = open[open.length - 1];
    open.push(i);
  }
  for (const node of open) nodes.end[node] = nodes.size;
}

function readRows(reader, events) {
  const size = reader.number();
  const rows = {
    size,
    event: reader.differences(new Uint16Array(size)),
    thread: reader.differences(new Uint32Array(size)),
    path: reader.differences(new Uint32Array(size)),
    slice: reader.differences(new Uint16Array(size)),
    count: reader.numbers(new Uint32Array(size)),
    period: new Float64Array(size),
  };
  for (const event of events) event.isEven = true;
  for (let i = 0; i < size; ++i) {
    const event = events[rows.event[i]];
    const beyond = reader.difference();
    rows.period[i] = beyond + rows.count[i] * event.usualPeriod;
    if (beyond !== 0) event.isEven = false;
  }
  return rows;
}

// Sorts rows by time slice. The rows of slices first … last are begin[first] … begin[last + 1] − 1.
function sortBySlice(rows, slices) {
  const begin = new Uint32Array(slices + 1);
  for (let i = 0; i < rows.size; ++i) ++begin[rows.slice[i] + 1];
  for (let slice = 0; slice < slices; ++slice) begin[slice + 1] += begin[slice];
  const next = begin.slice();
  const places = new Uint32Array(rows.size);
  for (let i = 0; i < rows.size; ++i) places[i] = next[rows.slice[i]]++;
  for (const name of ['event', 'thread', 'path', 'slice', 'count', 'period']) {
    const from = rows[name], to = new from.constructor(rows.size);
    for (let i = 0; i < rows.size; ++i) to[places[i]] = from[i];
    rows[name] = to;
  }
  rows.begin = begin;
}

function collectFunctions(labels) {
  const byKey = new Map();
  const functions = [];
  for (let label = 0; label < labels.size; ++label) {
    if (labels.kind[label] === kProcess) continue;
    const key = labels.name[label] + '\0' + labels.image[label];
    if (!byKey.has(key)) {
      byKey.set(key, functions.length);
      functions.push({
        number: functions.length, name: labels.name[label], image: labels.image[label], labels: [],
      });
    }
    labels.functionOf[label] = byKey.get(key);
    functions[byKey.get(key)].labels.push(label);
  }
  return functions;
}

// Marks nodes below another node of the same function; the outer node's total includes them.
function findNested(nodes, labels, functions) {
  const nested = new Uint8Array(nodes.size);
  const open = new Uint32Array(functions.length);
  const path = [];
  for (let i = 1; i < nodes.size; ++i) {
    while (path.length >= nodes.depth[i]) {
      const left = path.pop();
      if (left >= 0) --open[left];
    }
    const own = labels.functionOf[nodes.label[i]];
    if (own >= 0 && open[own]++ > 0) nested[i] = 1;
    path.push(own);
  }
  return nested;
}

export async function readData(base64) {
  const reader = new Reader(await inflated(base64));
  const version = reader.number();
  if (version !== kDataVersion) throw new Error(`data of version ${version}, and not ${kDataVersion}`);
  const about = JSON.parse(reader.text());
  const code = JSON.parse(reader.text());
  const strings = Array.from({length: reader.number()}, () => reader.text());
  const labels = readLabels(reader, strings);
  const threads = readThreads(reader, strings);
  const nodes = readNodes(reader);
  const rows = readRows(reader, about.events);
  const slices = Math.max(1, ...about.sides.map((side) => side.slices));
  sortBySlice(rows, slices);
  connectNodes(nodes);
  const functions = collectFunctions(labels);
  nodes.nested = findNested(nodes, labels, functions);
  return {
    about, code, labels, functions, threads, nodes, rows, slices,
    sliceLength: Math.max(0, ...about.sides.map((side) => side.sliceLength)),
    moment: about.sides.length === 1 ? about.sides[0].moment ?? null : null,
    isDiff: about.sides.length === 2,
  };
}
