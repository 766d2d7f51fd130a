// Charts that uPlot has no series for: heat maps and boxes. It gives axes and cursor, we draw inside.
const drawn = (() => {
  // Cividis, which keeps its order for every kind of colour vision.
  const MAP = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];

  function mapped(share) {
    const place = Math.min(Math.max(share, 0), 1) * (MAP.length - 1);
    const from = Math.min(Math.floor(place), MAP.length - 2);
    const mix = MAP[from].map((low, index) => Math.round(low + (place - from) * (MAP[from + 1][index] - low)));
    return `rgb(${mix.join(",")})`;
  }

  function readout(figure) {
    const line = document.createElement("div");
    line.className = "readout";
    figure.append(line);
    return line;
  }

  function mark(name) {
    const element = document.createElement("span");
    element.className = name;
    return element;
  }

  function heat(figure, spec, box) {
    const [rows, columns] = [spec.rows.length, spec.columns.length];
    const positive = spec.values.flat().filter((value) => value > 0).map(Math.log10);
    const low = Math.min(...positive);
    const high = Math.max(...positive);
    const fill = (value) => {
      if (value === null) return theme.colour("outside");
      if (value <= 0) return theme.colour("surface");
      return mapped(high > low ? (Math.log10(value) - low) / (high - low) : 0.5);
    };
    const cells = (u) => {
      const { ctx } = u;
      ctx.save();
      for (let row = 0; row < rows; row++) {
        const top = Math.round(u.valToPos(row - 0.5, "y", true));
        const bottom = Math.round(u.valToPos(row + 0.5, "y", true));
        for (let column = 0; column < columns; column++) {
          const left = Math.round(u.valToPos(column - 0.5, "x", true));
          const right = Math.round(u.valToPos(column + 0.5, "x", true));
          ctx.fillStyle = fill(spec.values[row][column]);
          ctx.fillRect(left, Math.min(top, bottom), right - left, Math.abs(bottom - top));
        }
      }
      ctx.restore();
    };
    const line = readout(figure);
    const legend = () => {
      if (positive.length === 0) {
        line.textContent = "no margins";
        return;
      }
      const scale = mark("scale");
      scale.style.background = `linear-gradient(90deg,${[0, 0.2, 0.4, 0.6, 0.8, 1].map(mapped).join(",")})`;
      // Names come from files: they are text, never markup.
      line.replaceChildren(`${spec.value_label} ${charts.number(10 ** low)}`, scale, charts.number(10 ** high), mark("swatch"), "unbounded");
    };
    legend();
    const hover = (u) => {
      const { left, top } = u.cursor;
      if (left < 0 || top < 0) return legend();
      const row = Math.round(u.posToVal(top, "y"));
      const column = Math.round(u.posToVal(left, "x"));
      if (!(row >= 0 && row < rows && column >= 0 && column < columns)) return legend();
      const value = spec.values[row][column];
      line.textContent = `${spec.columns[column]} → ${spec.rows[row]}: ${value === null ? "unbounded" : charts.number(value)}`;
    };
    const shape = charts.size(box);
    const vertical = charts.categoryAxis("output", spec.rows);
    const longest = Math.max(...spec.rows.map((name) => name.length));
    const options = {
      width: shape.width,
      height: 130 + Math.min(300, Math.max(70, 9 * rows)),
      scales: {
        x: { time: false, range: () => [-0.5, columns - 0.5] },
        y: { range: () => [-0.5, rows - 0.5], dir: -1 },
      },
      axes: [
        charts.categoryAxis("input", spec.columns),
        Object.assign(vertical, {
          rotate: 0,
          size: 22 + 7 * longest,
          values: (u, splits) => {
            const every = Math.ceil(15 * rows / Math.max(1, u.bbox.height / devicePixelRatio));
            return splits.map((index) => index % every === 0 ? spec.rows[index] : "");
          },
        }),
      ],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false } },
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: { draw: [cells], setCursor: [hover] },
    };
    return new uPlot(options, [spec.columns.map((_, index) => index), spec.columns.map(() => 0)], box);
  }

  function quantile(sorted, share) {
    const place = share * (sorted.length - 1);
    const from = Math.floor(place);
    const to = Math.min(from + 1, sorted.length - 1);
    return sorted[from] + (place - from) * (sorted[to] - sorted[from]);
  }

  function summary(values) {
    const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
    if (sorted.length === 0) return null;
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(sorted, share));
    const reach = 1.5 * (high - low);
    const within = sorted.filter((value) => value >= low - reach && value <= high + reach);
    return { sorted, low, middle, high, bottom: within[0], top: within[within.length - 1] };
  }

  function boxes(figure, spec, box) {
    // On a logarithmic axis a deviation as large as its mean would reach without end.
    const spread = ([mean, deviation]) => spec.log ? [mean, mean + deviation] : [mean - deviation, mean, mean + deviation];
    const groups = spec.groups.map((group) => ({ ...group, box: summary(group.values) }));
    const shown = groups.flatMap((group) => (group.box ? group.box.sorted : [])
      .concat(group.published ? spread(group.published) : []))
      .concat(spec.references.map((line) => line.value))
      .filter((value) => !spec.log || value > 0);
    const [low, high] = [Math.min(...shown), Math.max(...shown)];
    const edge = 0.05 * (high - low) || 1;
    const range = spec.log ? [low / 1.2, high * 1.2] : [low - edge, high + edge];
    const draw = (u) => {
      const { ctx, bbox } = u;
      const scale = devicePixelRatio;
      const x = (value) => u.valToPos(value, "x", true);
      const y = (value) => u.valToPos(spec.log ? Math.max(value, range[0]) : value, "y", true);
      const stroke = (...points) => {
        ctx.beginPath();
        points.forEach(([px, py], index) => index ? ctx.lineTo(px, py) : ctx.moveTo(px, py));
        ctx.stroke();
      };
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.lineWidth = 1.3 * scale;
      groups.forEach((group, index) => {
        const colour = theme.series(group.colour);
        ctx.strokeStyle = colour;
        if (group.box) {
          const [left, right, middle] = [x(index - 0.32), x(index + 0.08), x(index - 0.12)];
          const { bottom, low, high, top } = group.box;
          ctx.globalAlpha = 0.22;
          ctx.fillStyle = colour;
          ctx.fillRect(left, y(high), right - left, y(low) - y(high));
          ctx.globalAlpha = 1;
          ctx.strokeRect(left, y(high), right - left, y(low) - y(high));
          stroke([middle, y(high)], [middle, y(top)]);
          stroke([middle, y(low)], [middle, y(bottom)]);
          ctx.lineWidth = 2.4 * scale;
          stroke([left, y(group.box.middle)], [right, y(group.box.middle)]);
          ctx.lineWidth = 1.3 * scale;
          for (const value of group.box.sorted) {
            ctx.beginPath();
            ctx.arc(middle, y(value), 2.2 * scale, 0, 2 * Math.PI);
            ctx.stroke();
          }
        }
        if (group.published) {
          const [mean, deviation] = group.published;
          const [place, size] = [x(index + 0.28), 4.5 * scale];
          ctx.strokeStyle = ctx.fillStyle = theme.colour("measured");
          stroke([place, y(mean - deviation)], [place, y(mean + deviation)]);
          ctx.beginPath();
          [[0, -1], [1, 0], [0, 1], [-1, 0]].forEach(([dx, dy], corner) =>
            ctx[corner ? "lineTo" : "moveTo"](place + dx * size, y(mean) + dy * size));
          ctx.fill();
        }
      });
      ctx.restore();
      charts.references(spec.references)(u);
    };
    const line = readout(figure);
    const hover = (u) => {
      const group = groups[Math.round(u.posToVal(u.cursor.left, "x"))];
      if (!group || u.cursor.left < 0) {
        line.textContent = "";
        return;
      }
      const ours = group.box ? `median ${charts.number(group.box.middle)} of ${group.box.sorted.length} seeds` : "no runs";
      const printed = group.published ? `; published ${charts.number(group.published[0])} ± ${charts.number(group.published[1])}` : "";
      line.textContent = `${group.label}: ${ours}${printed}`;
    };
    const shape = charts.size(box);
    const options = {
      width: shape.width,
      height: shape.height + 30,
      scales: {
        x: { time: false, range: () => [-0.6, groups.length - 0.4] },
        y: { distr: spec.log ? 3 : 1, range: () => range },
      },
      axes: [charts.categoryAxis("", groups.map((group) => group.label)), charts.verticalAxis(spec.y_label)],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false } },
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: { draw: [draw], setCursor: [hover] },
    };
    return new uPlot(options, [groups.map((_, index) => index), groups.map(() => range[0])], box);
  }

  return { heat, boxes };
})();
