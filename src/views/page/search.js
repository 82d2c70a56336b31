// The search: finds labels whose name or image match, and the share of samples in and below them.

// Returns {matches, isWrong}. matches[label] is 1 if the label matches. `matches` is null for an
// empty query. A query with an upper-case letter is case-sensitive. A malformed regular expression
// is searched for literally, and isWrong is true.
export function findMatches(data, query) {
  if (query === '') return {matches: null, isWrong: false};
  const flags = query === query.toLowerCase() ? 'i' : '';
  let pattern = null;
  try {
    pattern = new RegExp(query, flags);
  } catch {
    pattern = new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), flags);
    return {matches: matchesOf(data.labels, pattern), isWrong: true};
  }
  return {matches: matchesOf(data.labels, pattern), isWrong: false};
}

function matchesOf(labels, pattern) {
  const matches = new Uint8Array(labels.size);
  for (let label = 0; label < labels.size; ++label) {
    if (pattern.test(labels.name[label]) || pattern.test(labels.image[label])) matches[label] = 1;
  }
  return matches;
}

// Returns the share of samples in or below matching nodes; each sample counts once.
export function matchedShare(data, side, matches) {
  const {nodes} = data;
  let sum = 0;
  for (let node = 1; node < nodes.size;) {
    if (matches[nodes.label[node]] === 1) {
      sum += side.total[node];
      node = nodes.end[node];
    } else {
      ++node;
    }
  }
  return side.period === 0 ? 0 : sum / side.period;
}
