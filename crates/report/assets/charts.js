// Charts of lines, bands and bars, drawn by uPlot.
const charts = (() => {
  const FONT = "12px system-ui, 'Segoe UI', Roboto, Arial, sans-serif";
  const groups = new Map();
  // Records longer than this open at their worst stretch, with all of it below.
  const LONG = 5000;
  const STRETCH = 1000;
  const WINDOW = 100;
  // Plots under one another have the same room for their vertical axis.
  const ALIGNED = { size: 58 };

  // Sixteen-bit steps between low and high in base64; the largest step stands for a missing value.
  function decode(column) {
    const bytes = Uint8Array.from(atob(column.data), (character) => character.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    const values = new Array(bytes.length / 2);
    const size = column.high / 65534 - column.low / 65534;
    for (let index = 0; index < values.length; index++) {
      const step = view.getUint16(2 * index, true);
      values[index] = step === 65535 ? null : column.low + step * size;
    }
    return values;
  }

  function number(value) {
    if (value === null || value === undefined) return "–";
    if (value === 0) return "0";
    const size = Math.abs(value);
    return size >= 1e6 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  }

  // Legends say values at the cursor; without one there are none.
  const value = (_, raw) => raw === null || raw === undefined ? "" : number(raw);
  const idle = {
    hooks: {
      ready: (u) => u.root.classList.add("idle"),
      setCursor: (u) => u.root.classList.toggle("idle", u.cursor.left < 0 || u.cursor.idx === null || u.cursor.idx === undefined),
    },
  };

  function axis(label, extra) {
    return Object.assign({
      label,
      labelSize: 20,
      size: 32,
      labelFont: FONT,
      font: FONT,
      stroke: theme.colour("text"),
      grid: { stroke: theme.colour("grid"), width: 1 },
      ticks: { stroke: theme.colour("line"), width: 1, size: 5 },
    }, extra);
  }

  function verticalAxis(label, extra) {
    const size = (_, values) => {
      const longest = Math.max(0, ...(values || []).filter(Boolean).map((text) => String(text).length));
      return 22 + 7 * longest;
    };
    return axis(label, Object.assign({ size, values: (_, splits) => splits.map((value) => value === null ? null : number(value)) }, extra));
  }

  // Labels at whole numbers. Where not all have room, every second or third is shown.
  function categoryAxis(label, names) {
    const longest = Math.max(0, ...names.map((name) => name.length));
    const turned = longest * names.length > 60 || longest > 14;
    const width = (u) => Math.max(1, u.bbox.width / devicePixelRatio);
    // Upright labels need the least room; only where even these do not fit are some left out, never the last.
    const upright = (u) => turned && names.length * 15 > width(u);
    const room = (u) => Math.ceil(names.length * (upright(u) ? 11 : turned ? 15 : 7 * (longest + 2)) / width(u));
    const last = names.length - 1;
    return axis(label, {
      splits: () => names.map((_, index) => index),
      values: (u, splits) => splits.map((index) => (last - index) % room(u) === 0 ? names[index] : ""),
      turned,
      rotate: (u) => upright(u) ? 90 : turned ? 50 : 0,
      size: turned ? Math.min(130, 16 + 6 * longest) : 34,
      grid: { show: false },
      space: 1,
    });
  }

  function size(element) {
    const width = Math.max(240, element.clientWidth);
    return { width, height: width < 500 ? 260 : 320 };
  }

  // Dashed lines with a name at their right end, on a plate so that nothing runs through it.
  function references(lines) {
    return (u) => {
      const { ctx, bbox } = u;
      const scale = devicePixelRatio;
      ctx.save();
      ctx.strokeStyle = theme.colour("outside");
      ctx.lineWidth = 1.5 * scale;
      ctx.setLineDash([6 * scale, 4 * scale]);
      ctx.font = `${11 * scale}px system-ui, sans-serif`;
      ctx.textAlign = "right";
      ctx.textBaseline = "middle";
      const shown = lines.map((line) => ({ label: line.label, y: Math.round(u.valToPos(line.value, "y", true)) }))
        .filter(({ y }) => y >= bbox.top && y <= bbox.top + bbox.height);
      for (const { y } of shown) {
        ctx.beginPath();
        ctx.moveTo(bbox.left, y);
        ctx.lineTo(bbox.left + bbox.width, y);
        ctx.stroke();
      }
      const [height, gap, right] = [15 * scale, 3 * scale, bbox.left + bbox.width - 4 * scale];
      for (const { label, y } of shown.filter((line) => line.label)) {
        // Above its line, unless that is outside or on another line.
        const isFree = (middle) => middle - height / 2 >= bbox.top && middle + height / 2 <= bbox.top + bbox.height &&
          shown.every((other) => Math.abs(other.y - middle) > height / 2);
        const places = [y - height / 2 - gap, y + height / 2 + gap];
        const middle = places.find(isFree) ?? places[y - bbox.top < height + gap ? 1 : 0];
        const width = ctx.measureText(label).width + 6 * scale;
        ctx.fillStyle = theme.colour("background");
        ctx.globalAlpha = 0.85;
        ctx.fillRect(right - width + 3 * scale, middle - height / 2, width, height);
        ctx.globalAlpha = 1;
        ctx.fillStyle = theme.colour("outside");
        ctx.fillText(label, right, middle);
      }
      ctx.restore();
    };
  }

  // A plot has no scales before its first drawing, and takes no new ones during it.
  function whenReady(u, act) {
    if (u.status === 1) act();
    else u.hooks.ready = (u.hooks.ready || []).concat(() => queueMicrotask(act));
  }

  // Charts of a group show the same stretch; who comes later shows what the others show.
  function join(u, name) {
    if (!groups.has(name)) groups.set(name, new Set());
    const group = groups.get(name);
    whenReady(u, () => {
      const [other] = group;
      group.add(u);
      u.hooks.setScale = (u.hooks.setScale || []).concat((_, key) => {
        if (key !== "x") return;
        const { min, max } = u.scales.x;
        for (const member of group) {
          if (member !== u && (member.scales.x.min !== min || member.scales.x.max !== max)) member.setScale("x", { min, max });
        }
      });
      if (other) u.setScale("x", { min: other.scales.x.min, max: other.scales.x.max });
    });
    u.hooks.destroy = (u.hooks.destroy || []).concat(() => group.delete(u));
  }

  // Keys and fingers have no drag: buttons do the same.
  function zoomButtons(figure, u) {
    const bar = document.createElement("div");
    bar.className = "zoom";
    const all = () => [u.data[0][0], u.data[0][u.data[0].length - 1]];
    const show = (centre, width) => {
      const [first, last] = all();
      const half = Math.min(width, last - first) / 2;
      const middle = Math.min(Math.max(centre, first + half), last - half);
      u.setScale("x", { min: middle - half, max: middle + half });
    };
    const now = () => {
      const { min, max } = u.scales.x;
      return [(min + max) / 2, max - min];
    };
    const actions = [
      ["−", "Zoom out", () => { const [centre, width] = now(); show(centre, 2 * width); }],
      ["+", "Zoom in", () => { const [centre, width] = now(); show(centre, width / 2); }],
      ["←", "Earlier", () => { const [centre, width] = now(); show(centre - width / 3, width); }],
      ["→", "Later", () => { const [centre, width] = now(); show(centre + width / 3, width); }],
      ["↺", "Whole record", () => { const [first, last] = all(); u.setScale("x", { min: first, max: last }); }],
    ];
    for (const [text, title, act] of actions) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.title = title;
      button.setAttribute("aria-label", title);
      button.addEventListener("click", act);
      bar.append(button);
    }
    figure.querySelector("figcaption").after(bar);
  }

  // Shift and drag moves the stretch that is shown.
  function pan(u) {
    u.over.addEventListener("mousedown", (down) => {
      if (!down.shiftKey || down.button !== 0) return;
      down.stopImmediatePropagation();
      down.preventDefault();
      const { min, max } = u.scales.x;
      const unit = (max - min) / u.over.clientWidth;
      const move = (event) => {
        const shift = (down.clientX - event.clientX) * unit;
        u.setScale("x", { min: min + shift, max: max + shift });
      };
      const up = () => {
        document.removeEventListener("mousemove", move);
        document.removeEventListener("mouseup", up);
      };
      document.addEventListener("mousemove", move);
      document.addEventListener("mouseup", up);
    }, true);
  }

  function positions(axis, values) {
    return values.map((_, index) => axis.start + axis.step * index);
  }

  // First and last sample of the stretch around the window with the most samples outside.
  function worstStretch(outside, samples) {
    let [most, place, from] = [0, 0, 0];
    outside.forEach((index, to) => {
      while (outside[from] <= index - WINDOW) from++;
      if (to - from + 1 > most) [most, place] = [to - from + 1, Math.round((outside[from] + index) / 2)];
    });
    const first = Math.min(Math.max(0, place - STRETCH / 2), samples - STRETCH);
    return [first, first + STRETCH - 1];
  }

  // A low plot in step with the others of its group: no legend of its own.
  function track(spec, label, data, series, bands, box) {
    const u = new uPlot({
      width: size(box).width,
      height: 130,
      scales: { x: { time: false } },
      axes: [axis("", { values: () => [], size: 8, labelSize: 0 }), verticalAxis(label, ALIGNED)],
      legend: { show: false },
      cursor: { drag: { x: true, y: false }, sync: { key: spec.sync, setSeries: false } },
      series: [{}, ...series],
      bands,
    }, data, box);
    u.root.classList.add("track");
    pan(u);
    join(u, spec.sync);
    return u;
  }

  function errorTrack(spec, x, measured, prediction, upper, lower, box) {
    const minus = (values) => values.map((raw, index) => raw === null || prediction[index] === null ? null : raw - prediction[index]);
    const edge = { stroke: theme.colour("prediction"), width: 0.5, points: { show: false } };
    const line = { stroke: theme.colour("measured"), width: 1, points: { show: false } };
    return track(spec, "error", [x, minus(upper), minus(lower), minus(measured)], [edge, edge, line], [{ series: [1, 2], fill: theme.colour("band") }], box);
  }

  // The whole record, with the stretch that the plot above shows; drag to choose another.
  function overview(main, x, measured, outside, box) {
    let own = false;
    const dots = { show: true, size: 3, fill: theme.colour("outside"), stroke: theme.colour("outside") };
    const u = new uPlot({
      width: size(box).width,
      height: 90,
      scales: { x: { time: false } },
      axes: [axis("", { labelSize: 0, size: 24 }), axis("whole record", { ...ALIGNED, values: () => [] })],
      legend: { show: false },
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      series: [{}, { stroke: theme.colour("measured"), width: 0.5, points: { show: false } }, { stroke: theme.colour("outside"), paths: () => null, points: dots }],
      hooks: {
        setSelect: [() => {
          if (own || u.select.width < 2) return;
          main.setScale("x", { min: u.posToVal(u.select.left, "x"), max: u.posToVal(u.select.left + u.select.width, "x") });
        }],
      },
    }, [x, measured, outside], box);
    u.root.classList.add("overview");
    const follow = () => {
      const { min, max } = main.scales.x;
      const [left, right] = [min, max].map((place) => Math.min(Math.max(u.valToPos(place, "x"), 0), u.over.clientWidth));
      own = true;
      u.setSelect({ left, width: Math.max(right - left, 2), top: 0, height: u.over.clientHeight }, false);
      own = false;
    };
    main.hooks.setScale = (main.hooks.setScale || []).concat((_, key) => { if (key === "x") follow(); });
    whenReady(u, follow);
    return u;
  }

  function band(figure, spec, box) {
    const measured = decode(spec.measured);
    const x = positions(spec.x, measured);
    const outside = new Array(x.length).fill(null);
    spec.outside.forEach((index) => { outside[index] = measured[index]; });
    const dots = { show: true, size: 6, fill: theme.colour("outside"), stroke: theme.colour("outside") };
    // Strips behind the lines, where the model had to extrapolate.
    const strips = (u) => {
      const { ctx, bbox } = u;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.fillStyle = theme.colour("strip");
      for (const [first, last] of spec.extrapolated) {
        const left = u.valToPos(x[first] - spec.x.step / 2, "x", true);
        const right = u.valToPos(x[last] + spec.x.step / 2, "x", true);
        ctx.fillRect(left, bbox.top, Math.max(right - left, devicePixelRatio), bbox.height);
      }
      ctx.restore();
    };
    // Four ends of bands in one picture are too many: this one is shown on request.
    const online = spec.online ? spec.online.map(decode) : [];
    const follower = (label) => ({ label, show: false, stroke: theme.series(2), width: 1, dash: [5, 4], points: { show: false }, value });
    const options = {
      ...size(box),
      scales: { x: { time: false } },
      plugins: [idle],
      axes: [axis(spec.x.label), verticalAxis(spec.y_label, ALIGNED)],
      hooks: { drawClear: [strips] },
      cursor: { drag: { x: true, y: false }, sync: { key: spec.sync, setSeries: false } },
      series: [
        { label: spec.x.label, value },
        { label: "upper", stroke: theme.colour("prediction"), width: 0.5, points: { show: false }, value },
        { label: "lower", stroke: theme.colour("prediction"), width: 0.5, points: { show: false }, value },
        { label: "simulated", stroke: theme.colour("prediction"), width: 1.6, points: { show: false }, value },
        { label: "measured", stroke: theme.colour("measured"), width: 1, points: { show: false }, value },
        { label: "outside", stroke: theme.colour("outside"), paths: () => null, points: dots, value },
      ].concat(spec.online ? [follower("online lower"), follower("online upper")] : []),
      bands: [{ series: [1, 2], fill: theme.colour("band") }],
    };
    const [upper, lower, prediction] = [decode(spec.upper), decode(spec.lower), decode(spec.prediction)];
    const u = new uPlot(options, [x, upper, lower, prediction, measured, outside, ...online], box);
    if (x.length === 0) return u;
    zoomButtons(figure, u);
    pan(u);
    join(u, spec.sync);
    const below = [errorTrack(spec, x, measured, prediction, upper, lower, box)];
    if (x.length > LONG) {
      below.push(overview(u, x, measured, outside, box));
      const [first, last] = worstStretch(spec.outside, x.length);
      // Unless another chart of the group has chosen.
      const isWhole = () => u.scales.x.max - u.scales.x.min > 0.9 * (x[x.length - 1] - x[0]);
      whenReady(u, () => { if (isWhole()) u.setScale("x", { min: x[first], max: x[last] }); });
    }
    u.hooks.destroy.push(() => below.forEach((plot) => plot.destroy()));
    return u;
  }

  // An input, in step with the outputs above it.
  function input(_, spec, box) {
    const values = decode(spec.values);
    const line = { stroke: theme.series(4), width: 1, points: { show: false } };
    return track(spec, spec.y_label, [positions(spec.x, values), values], [line], [], box);
  }

  // Several models on the same samples. A name in the legend shows or hides a model with its band.
  function overlay(figure, spec, box) {
    const measured = decode(spec.measured);
    const x = positions(spec.x, measured);
    const edge = (colour) => ({ class: "edge", stroke: colour, width: 0.5, points: { show: false }, value });
    const series = [{ label: spec.x.label, value }, { label: "measured", stroke: theme.colour("measured"), width: 1, points: { show: false }, value }];
    const [data, bands] = [[x, measured], []];
    spec.models.forEach((model, index) => {
      const colour = theme.series(index);
      const at = series.length;
      series.push({ label: model.name, stroke: colour, width: 1.6, dash: index % 2 ? [7, 3] : undefined, points: { show: false }, value }, edge(colour), edge(colour));
      data.push(decode(model.prediction), decode(model.upper), decode(model.lower));
      bands.push({ series: [at + 1, at + 2], fill: `${colour}26` });
    });
    const together = (u, index, changed) => {
      if (changed.show === undefined || index < 2 || (index - 2) % 3) return;
      [index + 1, index + 2].forEach((end) => u.setSeries(end, { show: changed.show }));
    };
    const u = new uPlot({
      ...size(box),
      plugins: [idle],
      scales: { x: { time: false } },
      axes: [axis(spec.x.label), verticalAxis(spec.y_label, ALIGNED)],
      cursor: { drag: { x: true, y: false }, sync: { key: spec.sync, setSeries: false } },
      series,
      bands,
      hooks: { setSeries: [together] },
    }, data, box);
    if (x.length === 0) return u;
    zoomButtons(figure, u);
    pan(u);
    join(u, spec.sync);
    if (x.length > LONG) {
      const whole = overview(u, x, measured, x.map(() => null), box);
      u.hooks.destroy.push(() => whole.destroy());
      whenReady(u, () => u.setScale("x", { min: x[0], max: x[STRETCH - 1] }));
    }
    return u;
  }

  const PATHS = {
    line: () => undefined,
    step: () => uPlot.paths.stepped({ align: 1 }),
    stem: () => uPlot.paths.bars({ size: [0.25, 4] }),
    joined: () => undefined,
    edge: () => undefined,
    dots: () => () => null,
  };

  // One unit is as long across as it is upwards, so that a circle is one; zero stays in the middle.
  function equalAxes(u) {
    const reach = 1.08 * Math.max(...u.data.flat().map((raw) => raw === null || raw === undefined ? 0 : Math.abs(raw)));
    const show = () => {
      const shortest = Math.min(u.bbox.width, u.bbox.height);
      for (const [key, side] of [["x", u.bbox.width], ["y", u.bbox.height]]) {
        u.setScale(key, { min: -reach * side / shortest, max: reach * side / shortest });
      }
    };
    whenReady(u, show);
    u.hooks.setSize = (u.hooks.setSize || []).concat(() => queueMicrotask(show));
  }

  const present = (raw) => raw !== null && raw !== undefined;

  function lines(_, spec, box) {
    const positive = (values) => spec.log ? values.map((raw) => raw > 0 ? raw : null) : values;
    // The edges of a band have the colour of the line that it is around.
    const own = spec.series.map((_, index) => index);
    spec.fills.forEach((fill) => fill.edges.forEach((edge) => { if (spec.series[edge].style === "edge") own[edge] = fill.of; }));
    // A band has one name in the legend, that of its upper edge; the lower follows it.
    const lowers = new Map(spec.fills.filter((fill) => fill.edges.every((edge) => spec.series[edge].style === "edge")).map((fill) => fill.edges));
    const follows = new Set(lowers.values());
    const together = (u, index, changed) => {
      if (changed.show !== undefined && lowers.has(index - 1)) u.setSeries(lowers.get(index - 1) + 1, { show: changed.show });
    };
    const plain = (index) => spec.series[index].style === "line" || spec.series[index].style === "step";
    // Where curves have positions of their own, those of the others are no gaps; no two have a value at the same one. On a logarithmic axis
    // what is not positive is passed over.
    const apart = spec.log || spec.series.length > 1 && spec.x.every((_, place) => spec.series.filter((series) => present(series.values[place])).length < 2);
    const options = {
      ...size(box),
      scales: { x: { time: false, distr: spec.x_log ? 3 : 1 }, y: spec.y_range ? { range: () => spec.y_range } : { distr: spec.log ? 3 : 1 } },
      plugins: [idle],
      axes: [
        axis(spec.x_label, spec.x_log ? { values: (_, splits) => splits.map((raw) => raw === null ? null : number(raw)) } : undefined),
        verticalAxis(spec.y_label),
      ],
      cursor: { drag: { x: !spec.equal, y: false } },
      series: [{ label: spec.x_label, value }].concat(spec.series.map((series, index) => ({
        label: lowers.has(index) ? series.name.replace(/ upper$/, "") : series.name,
        class: follows.has(index) ? "edge" : undefined,
        stroke: theme.series(own[index]),
        fill: series.style === "stem" ? theme.series(index) : undefined,
        width: series.style === "edge" ? 0.5 : 1.5,
        dash: index % 2 && spec.series.length > 1 && plain(index) ? [6, 3] : undefined,
        spanGaps: apart && (series.style === "joined" || series.style === "edge"),
        paths: PATHS[series.style](),
        points: { show: series.style === "stem" || series.style === "dots", size: series.style === "dots" ? 4 : 5, fill: series.style === "dots" ? theme.series(index) : undefined },
        value,
      }))),
      bands: spec.fills.map((fill) => ({ series: fill.edges.map((edge) => edge + 1), fill: `${theme.series(fill.of)}30` })),
      hooks: { draw: [references(spec.references)], setSeries: [together] },
    };
    const u = new uPlot(options, [spec.x].concat(spec.series.map((series) => positive(series.values))), box);
    if (spec.equal) equalAxes(u);
    return u;
  }

  function scatter(_, spec, box) {
    const diagonal = (u) => {
      const { ctx, bbox } = u;
      const end = Math.min(u.scales.x.max, u.scales.y.max);
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.strokeStyle = theme.colour("outside");
      ctx.lineWidth = 1.5 * devicePixelRatio;
      ctx.beginPath();
      ctx.moveTo(u.valToPos(0, "x", true), u.valToPos(0, "y", true));
      ctx.lineTo(u.valToPos(end, "x", true), u.valToPos(end, "y", true));
      ctx.stroke();
      ctx.restore();
    };
    const fromZero = (_, low, high) => [0, (high > 0 ? high : 1) * 1.05];
    const options = {
      ...size(box),
      scales: { x: { time: false, range: fromZero }, y: { range: fromZero } },
      plugins: [idle],
      axes: [axis(spec.x_label, { values: (_, splits) => splits.map(number) }), verticalAxis(spec.y_label)],
      cursor: { drag: { x: true, y: false } },
      series: [
        { label: spec.x_label, value },
        { label: spec.y_label, stroke: theme.colour("prediction"), paths: () => null, points: { show: true, size: 4, fill: theme.colour("band") }, value },
      ],
      hooks: { draw: [diagonal] },
    };
    return new uPlot(options, [decode(spec.x), decode(spec.y)], box);
  }

  function bars(_, spec, box) {
    const shape = size(box);
    const axisX = categoryAxis(spec.x_label, spec.categories);
    const values = spec.log ? spec.values.map((raw) => raw > 0 ? raw : null) : spec.values;
    const asked = spec.references.map((line) => line.value);
    const fromZero = (_, low, high) => spec.y_range || [Math.min(0, low), 1.08 * Math.max(high, ...asked, 0)];
    const options = {
      width: shape.width,
      height: shape.height + (axisX.turned ? 50 : 0),
      scales: {
        x: { time: false, range: () => [-0.6, spec.categories.length - 0.4] },
        y: spec.log ? { distr: 3 } : { range: fromZero },
      },
      plugins: [idle],
      axes: [axisX, verticalAxis(spec.y_label)],
      cursor: { drag: { x: false, y: false } },
      series: [
        { label: spec.x_label || "model", value: (_, raw) => raw === null || raw === undefined ? "" : spec.categories[raw] },
        {
          label: spec.y_label,
          stroke: theme.colour("prediction"),
          fill: theme.colour("band"),
          width: 1.5,
          paths: uPlot.paths.bars({ size: [0.7, 70] }),
          fillTo: (u) => spec.log ? u.scales.y.min : 0,
          points: { show: false },
          value,
        },
      ],
      hooks: { draw: [references(spec.references)] },
    };
    return new uPlot(options, [spec.categories.map((_, index) => index), values], box);
  }

  return { band, input, overlay, lines, scatter, bars, axis, verticalAxis, categoryAxis, references, size, number, decode };
})();
