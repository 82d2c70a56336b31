// Draws content of any height on canvases in the screen's resolution. A canvas is as large as the
// visible part of the content. It stays in place while the element around it (`stage`) scrolls.

export function fitCanvas(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  const columns = Math.max(1, Math.round(width * scale)), rows = Math.max(1, Math.round(height * scale));
  if (canvas.width !== columns) canvas.width = columns;
  if (canvas.height !== rows) canvas.height = rows;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

export const kBoxFont = '11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
export const kSmallFont = '11px system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif';

// Returns as much of the text as fits; "" if hardly anything does. `character` is the width of a
// character in a monospaced font.
export function fittingText(text, room, character) {
  const most = Math.floor(room / character);
  if (most < 3) return '';
  return text.length <= most ? text : text.slice(0, most - 1) + '…';
}

// Returns a function that calls `draw` once before the next frame, however often it is called.
export function onceAFrame(draw) {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  };
}

const tip = () => document.getElementById('tip');

export function showTip(event, lines) {
  const element = tip();
  element.replaceChildren(...lines.map((text) => {
    const lineElement = document.createElement('div');
    lineElement.textContent = text;
    return lineElement;
  }));
  element.hidden = false;
  const {width, height} = element.getBoundingClientRect();
  element.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - width - 8))}px`;
  element.style.top = `${event.clientY + 18 + height > window.innerHeight
    ? Math.max(4, event.clientY - height - 10) : event.clientY + 18}px`;
}

export function hideTip() {
  tip().hidden = true;
}
