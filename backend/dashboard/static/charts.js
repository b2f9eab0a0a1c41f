// Draws charts with uPlot. A chart reads its numbers from the table beside it.
// Sparklines have their numbers in an attribute.

const HEIGHT = 224;
const SPARK = { width: 112, height: 32 };
const ROOM_OF_LABEL = 84; // pixels between the labels below a chart, or more where they are long
const WIDTH_OF_LETTER = 6;
// The steps of the scale for whole numbers.
const WHOLE_STEPS = Array.from({ length: 36 }, (_, at) => [1, 2, 5][at % 3] * 10 ** Math.floor(at / 3));
const dark = matchMedia('(prefers-color-scheme: dark)');
const drawn = [];
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Colours are read at each drawing, so that a chart follows when the screen changes to dark mode.
const SERIES = [
  { stroke: () => colour('bar'), fill: () => `${colour('bar')}2e`, width: 2 },
  { stroke: () => colour('edge'), dash: [5, 4], width: 1.5 },
];

// A number that is not known is no text in the page, and a gap in the line.
const numberOf = (text) => (text === '' ? null : Number(text));

// A number between two gaps has no line: it is drawn as a point.
const alone = (chart, at) => {
  const values = chart.data[at];
  return values.flatMap((value, place) => (value !== null && values[place - 1] == null && values[place + 1] == null ? [place] : []));
};

// The numbers of a table whose newest row comes first.
function read(table) {
  const rows = [...table.tBodies[0].rows].reverse();
  const numbers = [...table.tHead.rows[0].cells].slice(1).map((head, at) => ({
    name: head.textContent.trim(),
    values: rows.map((row) => numberOf(row.cells[at + 1].dataset.value)),
    texts: rows.map((row) => row.cells[at + 1].textContent.trim()),
  }));
  const heads = rows.map((row) => row.cells[0]);
  return { labels: heads.map((head) => head.dataset.label), names: heads.map((head) => head.textContent.trim()), numbers };
}

// The indices of the columns that have a label below them: as many as fit.
function labelled(labels, width) {
  const count = labels.length;
  const room = Math.max(ROOM_OF_LABEL, ...labels.map((label) => WIDTH_OF_LETTER * (label.length + 1)));
  const step = Math.max(1, Math.ceil(count / Math.max(1, Math.floor(width / room))));
  return Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step);
}

const areWhole = (numbers) => numbers.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)));

function axes({ labels, numbers }) {
  const common = {
    stroke: () => colour('soft'),
    font: '12px system-ui, sans-serif',
    ticks: { show: false },
  };
  return [
    {
      ...common,
      size: 28,
      grid: { show: false },
      splits: (chart) => labelled(labels, chart.bbox.width / devicePixelRatio),
      values: (_, splits) => splits.map((at) => labels[at]),
    },
    {
      ...common,
      size: 46,
      ...(areWhole(numbers) ? { incrs: WHOLE_STEPS } : {}),
      grid: { stroke: () => colour('line'), width: 1 },
      values: (_, splits) => splits.map((value) => short.format(value)),
    },
  ];
}

// Buttons below the columns that something was noted about, and dashed lines up from them. Their notes are
// those of the list below the chart.
const MARK = 26; // pixels: marks that are nearer to each other are one

function readMarks(figure) {
  return [...figure.querySelectorAll('[data-notes] li')].map((item) => ({
    row: Number(item.dataset.row),
    text: `${item.querySelector('[data-when]').textContent}: ${item.lastElementChild.textContent.trim()}`,
  }));
}

function marker(figure, notes) {
  const strip = figure.querySelector('[data-marks]');
  const bubble = Object.assign(document.createElement('div'), { className: 'chart-note mark-note', hidden: true });
  bubble.setAttribute('aria-hidden', 'true'); // buttons have its text as their names
  let width = 0;
  const hide = () => {
    bubble.hidden = true;
  };

  function show(button, group) {
    bubble.replaceChildren(...group.notes.map(({ text }) => Object.assign(document.createElement('div'), { textContent: text })));
    bubble.hidden = false;
    const most = strip.clientWidth - bubble.offsetWidth;
    bubble.style.left = `${Math.max(0, Math.min(group.x - bubble.offsetWidth / 2, most))}px`;
  }

  function buttonOf(group) {
    const button = Object.assign(document.createElement('button'), { type: 'button', className: 'mark' });
    button.textContent = group.notes.length > 1 ? group.notes.length : '';
    const many = group.notes.length > 1 ? `${group.notes.length} notes: ` : '';
    button.setAttribute('aria-label', many + group.notes.map(({ text }) => text).join('; '));
    button.style.left = `${group.x}px`;
    for (const type of ['click', 'focus', 'pointerenter']) button.addEventListener(type, () => show(button, group));
    button.addEventListener('blur', hide);
    button.addEventListener('pointerleave', () => {
      if (document.activeElement !== button) hide();
    });
    return button;
  }

  function place(chart) {
    if (chart.width === width) return;
    width = chart.width;
    const groups = [];
    for (const note of notes) {
      const x = chart.over.offsetLeft + chart.valToPos(note.row, 'x');
      const last = groups.at(-1);
      if (last && x - last.x < MARK) last.notes.push(note);
      else groups.push({ x, notes: [note] });
    }
    strip.replaceChildren(...groups.map(buttonOf), bubble);
    strip.hidden = false;
    hide();
  }

  function lines(chart) {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.strokeStyle = colour('accent');
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const row of new Set(notes.map((note) => note.row))) {
      const x = Math.round(chart.valToPos(row, 'x', true));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') hide();
  });
  // Browsers that don't focus a button that is touched tell no blur either.
  document.addEventListener('pointerdown', (event) => {
    if (!strip.contains(event.target)) hide();
  });
  return { draw: [lines, place] };
}

// A note beside the pointer with the numbers of the column under it.
function pointer({ names, numbers }) {
  const note = document.createElement('div');
  note.className = 'chart-note';
  note.hidden = true;
  return {
    init: [(chart) => chart.over.append(note)],
    setCursor: [(chart) => {
      const { idx, left } = chart.cursor;
      note.hidden = idx == null || left < 0;
      if (note.hidden) return;
      const lines = [names[idx], ...numbers.map(({ name, texts }) => `${name}: ${texts[idx]}`)];
      note.replaceChildren(...lines.map((line) => Object.assign(document.createElement('div'), { textContent: line })));
      const isRight = left > chart.over.clientWidth / 2;
      note.style.left = isRight ? 'auto' : `${left + 12}px`;
      note.style.right = isRight ? `${chart.over.clientWidth - left + 12}px` : 'auto';
    }],
  };
}

function draw(figure) {
  const plot = figure.querySelector('[data-plot]');
  const table = read(figure.querySelector('table'));
  const notes = readMarks(figure);
  const isColumns = figure.dataset.chart === 'columns';
  const series = table.numbers.map((column, at) => ({
    ...SERIES[at],
    label: column.name,
    points: { show: table.labels.length < 2, filter: alone },
    ...(isColumns && at === 0 ? { points: { show: false }, paths: uPlot.paths.bars({ size: [0.78, 40] }), fill: SERIES[0].stroke, width: 0 } : {}),
  }));
  const options = {
    width: plot.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    padding: [12, 26, 0, 0],
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: (_, low, high) => (isColumns ? [low - 0.6, high + 0.6] : [low, Math.max(high, low + 1)]) },
      y: { range: (_, low, high) => [0, high * 1.08 || 4] },
    },
    axes: axes(table),
    series: [{}, ...series],
    hooks: { ...pointer(table), ...(notes.length ? marker(figure, notes) : {}) },
  };
  // The line behind is drawn first.
  const chart = new uPlot(options, [table.labels.map((_, at) => at), ...table.numbers.map((column) => column.values)], plot);
  new ResizeObserver(() => {
    if (plot.clientWidth && plot.clientWidth !== chart.width) chart.setSize({ width: plot.clientWidth, height: HEIGHT });
  }).observe(plot);
  drawn.push(chart);
}

function drawSpark(place) {
  const values = place.dataset.spark.split(',').map(numberOf);
  const chart = new uPlot({
    ...SPARK,
    width: Math.min(SPARK.width, place.clientWidth),
    legend: { show: false },
    cursor: { show: false },
    padding: [3, 2, 3, 2],
    scales: { x: { time: false }, y: { range: (_, low, high) => [0, high || 1] } },
    axes: [{ show: false }, { show: false }],
    series: [{}, { ...SERIES[0], width: 1.5, points: { show: false, filter: alone, size: 3 } }],
  }, [values.map((_, at) => at), values], place);
  drawn.push(chart);
}

for (const figure of document.querySelectorAll('figure[data-chart]')) draw(figure);
for (const place of document.querySelectorAll('[data-spark]')) drawSpark(place);
dark.addEventListener('change', () => {
  for (const chart of drawn) chart.redraw(false, true);
});
