// Colours of kinds of code, changes and states. Nothing depends on the hue alone. The hues are
// Okabe and Ito's, for colour-blind users. A name always has the same shade.

import {state} from './state.js';

// Each kind of code: hue, saturation, lightness in the light theme, lightness in the dark theme.
const kKindColours = [
  [212, 14, 84, 34],   // process
  [29, 92, 74, 40],    // user
  [48, 92, 76, 38],    // inlined
  [160, 42, 70, 33],   // JIT
  [212, 82, 79, 42],   // kernel
  [60, 4, 84, 32],     // unnamed
  [300, 36, 80, 40],   // off the CPU
];

const darkness = window.matchMedia('(prefers-color-scheme: dark)');

const paperMedium = window.matchMedia('print');

// Prints are always dark on white.
export const isDark = () =>
  !paperMedium.matches && (state.theme === 'dark' || (state.theme === 'auto' && darkness.matches));

export function onDarkness(changed) {
  darkness.addEventListener('change', changed);
}
// Calls `changed` before and after printing, which does not wait for the next frame.
export function onPaper(changed) {
  paperMedium.addEventListener('change', changed);
}

// Returns the FNV-1a hash of a name.
function hashOf(name) {
  let hash = 2166136261;
  for (let i = 0; i < name.length; ++i) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return (hash ^ (hash >>> 15)) >>> 0;
}

export function kindColour(kind, name) {
  const [hue, saturation, light, dark] = kKindColours[kind];
  const shade = (hashOf(name) & 7) - 3.5;
  return isDark() ? `hsl(${hue + shade} ${saturation * 0.6}% ${dark + shade}%)`
                  : `hsl(${hue + shade} ${saturation}% ${light + shade}%)`;
}

// Returns the colour of a change: −1 means all of it is gone, 1 means all of it is new.
export function changeColour(change) {
  const strength = Math.min(1, Math.abs(change));
  const hue = change < 0 ? 214 : 8;
  return isDark() ? `hsl(${hue} ${60 * strength}% ${30 + 16 * strength}%)`
                  : `hsl(${hue} ${85 * strength}% ${92 - 30 * strength}%)`;
}

export const ink = () => (isDark() ? '#e8eaed' : '#1b1f24');
export const paper = () => (isDark() ? '#14171a' : '#ffffff');
export const faint = () => (isDark() ? '#9aa4ae' : '#57606a');
export const line = () => (isDark() ? '#30363d' : '#d0d7de');
export const matchColour = () => (isDark() ? '#c026d3' : '#e879f9');
export const focusColour = () => (isDark() ? '#79c0ff' : '#0a3069');

// States of the time strip, and their colours.
export const kStates = ['on the CPU', 'blocked', 'preempted'];
export const stateColour = (number) =>
  (isDark() ? ['#4c9be8', '#8d5fa8', '#c9a227'] : ['#2f78c4', '#c79bd2', '#e3b505'])[number];

// Returns a colour from nothing to the most, in steps of lightness. Few colours draw faster than
// many.
const kHeatSteps = 64;
const heatColours = new Map();
export function heatColour(part) {
  const step = Math.ceil(Math.sqrt(Math.max(0, Math.min(1, part))) * kHeatSteps);
  const key = isDark() ? -1 - step : step;
  let colour = heatColours.get(key);
  if (colour === undefined) {
    const strength = step / kHeatSteps;
    colour = isDark() ? `hsl(${24 + 20 * strength} 85% ${12 + 56 * strength}%)`
                      : `hsl(${44 - 34 * strength} 90% ${96 - 56 * strength}%)`;
    heatColours.set(key, colour);
  }
  return colour;
}
