//! One pair of axes: how much room its labels need, where values are, and the drawing of everything but the data.

use crate::category_labels::{CategoryLabels, TICK_SIZE, stride};
use crate::font::{LINE_HEIGHT, Weight, middle_to_baseline, shorten, text_width, wrap};
use crate::scale::{Scale, Spacing};
use crate::svg::{Anchor, Canvas, Paint, Rect, Text};
use crate::theme::Colours;
use crate::ticks::{Tick, ticks};

const LABEL_SIZE: f64 = 12.0;
const TITLE_SIZE: f64 = 12.5;
/// Distance of labels from the axis.
const GAP: f64 = 6.0;
/// Names of rows are cut at this width.
const MAX_ROW_LABEL: f64 = 130.0;

/// What runs along the bottom.
pub(crate) enum Horizontal {
    /// Numbers; `labelled` is false where a panel below shares the axis and has the labels.
    Numeric {
        scale: Scale,
        label: String,
        labelled: bool,
    },
    /// Named slots of equal width.
    Categories { labels: Vec<String>, label: String },
}

/// What runs along the left side.
pub(crate) enum Vertical {
    Numeric {
        scale: Scale,
        label: String,
    },
    /// Named slots of equal height, the first on top.
    Categories {
        labels: Vec<String>,
        label: String,
    },
}

/// A panel before its place is known.
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) horizontal: Horizontal,
    pub(crate) vertical: Vertical,
    /// Height inside the axes.
    pub(crate) height: f64,
    /// Room to the right for what is not an axis, such as a colour bar.
    pub(crate) right: f64,
    /// Whether one unit is as long across as it is upwards.
    pub(crate) equal: bool,
}

impl Panel {
    /// Widens the axis on which a unit is longer, about its middle. Logarithmic axes and categories have no units to compare.
    fn with_equal_units(mut self, frame: Rect) -> Self {
        let (Horizontal::Numeric { scale: across, .. }, Vertical::Numeric { scale: upwards, .. }) =
            (&mut self.horizontal, &mut self.vertical)
        else {
            return self;
        };
        if across.spacing == Spacing::Linear && upwards.spacing == Spacing::Linear {
            let unit = ((across.high - across.low) / frame.width).max((upwards.high - upwards.low) / frame.height);
            for (scale, length) in [(across, frame.width), (upwards, frame.height)] {
                let middle = 0.5 * (scale.low + scale.high);
                (scale.low, scale.high) = (middle - 0.5 * unit * length, middle + 0.5 * unit * length);
            }
        }
        self
    }

    fn vertical_ticks(&self) -> Vec<Tick> {
        match &self.vertical {
            Vertical::Numeric { scale, .. } => ticks(scale, (self.height / 38.0) as usize),
            Vertical::Categories { .. } => Vec::new(),
        }
    }

    /// Width of the widest label at the vertical axis.
    fn tick_label_width(&self) -> f64 {
        let width = |label: &str| text_width(label, TICK_SIZE, Weight::Regular);
        match &self.vertical {
            Vertical::Numeric { .. } => self
                .vertical_ticks()
                .iter()
                .map(|tick| width(&tick.label))
                .fold(0.0, f64::max),
            Vertical::Categories { labels, .. } => labels
                .iter()
                .map(|label| width(label))
                .fold(0.0, f64::max)
                .min(MAX_ROW_LABEL),
        }
    }

    fn vertical_label(&self) -> &str {
        match &self.vertical {
            Vertical::Numeric { label, .. } | Vertical::Categories { label, .. } => label,
        }
    }

    fn vertical_label_lines(&self) -> Vec<String> {
        // A label a little longer than the axis may reach into the margins; a much longer one breaks.
        wrap(self.vertical_label(), self.height + 20.0, LABEL_SIZE, Weight::Regular)
    }

    /// Room needed left of the frame when the panel with its labels is `width` wide.
    pub(crate) fn left(&self, width: f64) -> f64 {
        let tick_width = self.tick_label_width();
        let label_lines = self.vertical_label_lines().len() as f64;
        let label_room = if label_lines > 0.0 {
            label_lines * LINE_HEIGHT * LABEL_SIZE + 4.0
        } else {
            0.0
        };
        let own = tick_width + GAP + 2.0 + label_room;
        match &self.horizontal {
            Horizontal::Categories { labels, .. } if !labels.is_empty() => {
                let slot = (width - own - self.right) / labels.len() as f64;
                own.max(CategoryLabels::fit(labels, slot).overhang(slot).min(0.4 * width))
            }
            _ => own,
        }
    }

    /// Room needed right of the frame.
    pub(crate) fn right(&self) -> f64 {
        // Half a tick label may reach past the end of a numeric axis.
        let overhang = match &self.horizontal {
            Horizontal::Numeric { labelled: true, .. } => 16.0,
            _ => 4.0,
        };
        overhang + self.right
    }

    /// Room needed above a frame of the given width.
    pub(crate) fn top(&self, width: f64) -> f64 {
        let lines = wrap(&self.title, width, TITLE_SIZE, Weight::Bold).len();
        if lines == 0 {
            6.0
        } else {
            lines as f64 * LINE_HEIGHT * TITLE_SIZE + 6.0
        }
    }

    /// Room needed below a frame of the given width.
    pub(crate) fn bottom(&self, width: f64) -> f64 {
        let label_height = |label: &str| {
            let lines = wrap(label, width + 40.0, LABEL_SIZE, Weight::Regular).len();
            if lines == 0 {
                0.0
            } else {
                lines as f64 * LINE_HEIGHT * LABEL_SIZE + 3.0
            }
        };
        match &self.horizontal {
            Horizontal::Numeric { labelled: false, .. } => 4.0,
            Horizontal::Numeric { label, .. } => LINE_HEIGHT * TICK_SIZE + GAP + label_height(label),
            Horizontal::Categories { labels, label } => {
                let slot = width / labels.len().max(1) as f64;
                CategoryLabels::fit(labels, slot).height() + label_height(label)
            }
        }
    }

    /// Puts the panel where its frame is.
    pub(crate) fn place(self, frame: Rect) -> Placed {
        let placed = match self.equal {
            true => self.with_equal_units(frame),
            false => self,
        };
        placed.placed(frame)
    }

    fn placed(self, frame: Rect) -> Placed {
        let horizontal_ticks = match &self.horizontal {
            Horizontal::Numeric { scale, .. } => spaced_ticks(scale, frame.width),
            Horizontal::Categories { .. } => Vec::new(),
        };
        Placed {
            horizontal_ticks,
            vertical_ticks: self.vertical_ticks(),
            panel: self,
            frame,
        }
    }
}

/// As many ticks as fit with their labels side by side.
fn spaced_ticks(scale: &Scale, width: f64) -> Vec<Tick> {
    let most = (width / 60.0).clamp(2.0, 12.0) as usize;
    let mut candidate = Vec::new();
    for count in (2..=most).rev() {
        candidate = ticks(scale, count);
        let labelled: Vec<&Tick> = candidate.iter().filter(|tick| !tick.label.is_empty()).collect();
        let apart = labelled.windows(2).all(|pair| {
            let distance = (scale.fraction(pair[1].value) - scale.fraction(pair[0].value)) * width;
            let half_width = |tick: &Tick| text_width(&tick.label, TICK_SIZE, Weight::Regular) / 2.0;
            half_width(pair[0]) + half_width(pair[1]) + 10.0 <= distance
        });
        if apart {
            return candidate;
        }
    }
    candidate
}

/// A panel in its place.
pub(crate) struct Placed {
    panel: Panel,
    /// The area inside the axes.
    pub(crate) frame: Rect,
    horizontal_ticks: Vec<Tick>,
    vertical_ticks: Vec<Tick>,
}

impl Placed {
    /// Pixel position of a value along the bottom; NaN for NaN, and 0 on a category axis.
    pub(crate) fn x(&self, value: f64) -> f64 {
        match &self.panel.horizontal {
            Horizontal::Numeric { scale, .. } => self.frame.left + scale.fraction(value) * self.frame.width,
            Horizontal::Categories { .. } => 0.0,
        }
    }

    /// Pixel position of a value along the left side; NaN for NaN, and 0 on a category axis.
    pub(crate) fn y(&self, value: f64) -> f64 {
        match &self.panel.vertical {
            Vertical::Numeric { scale, .. } => self.frame.bottom() - scale.fraction(value) * self.frame.height,
            Vertical::Categories { .. } => 0.0,
        }
    }

    /// Whether a value can be seen on the vertical axis.
    pub(crate) fn shows(&self, value: f64) -> bool {
        matches!(&self.panel.vertical, Vertical::Numeric { scale, .. } if scale.contains(value))
    }

    /// Centre and width of a category along the bottom.
    pub(crate) fn slot(&self, index: usize) -> (f64, f64) {
        let count = match &self.panel.horizontal {
            Horizontal::Categories { labels, .. } => labels.len().max(1),
            Horizontal::Numeric { .. } => 1,
        };
        let width = self.frame.width / count as f64;
        (self.frame.left + (index as f64 + 0.5) * width, width)
    }

    /// Grid lines, title and labels: what lies behind the data.
    pub(crate) fn draw_back(&self, canvas: &mut Canvas, colours: &Colours) {
        let frame = self.frame;
        canvas.open_group("axes");
        for tick in &self.vertical_ticks {
            let y = self.y(tick.value);
            let width = if tick.label.is_empty() { 0.5 } else { 1.0 };
            canvas.line((frame.left, y), (frame.right(), y), Paint::stroke(colours.grid, width));
            self.write(
                canvas,
                colours.text,
                &tick.label,
                (frame.left - GAP, y + middle_to_baseline(TICK_SIZE)),
                Anchor::End,
            );
        }
        let labelled = matches!(self.panel.horizontal, Horizontal::Numeric { labelled: true, .. });
        for tick in self.horizontal_ticks.iter().filter(|tick| !tick.label.is_empty()) {
            let x = self.x(tick.value);
            canvas.line((x, frame.top), (x, frame.bottom()), Paint::stroke(colours.grid, 1.0));
            if labelled {
                self.write(
                    canvas,
                    colours.text,
                    &tick.label,
                    (x, frame.bottom() + GAP + TICK_SIZE - 1.0),
                    Anchor::Middle,
                );
            }
        }
        self.draw_categories(canvas, colours);
        self.draw_titles(canvas, colours);
        canvas.close_group();
    }

    /// The frame, on top of the data.
    pub(crate) fn draw_front(&self, canvas: &mut Canvas, colours: &Colours) {
        canvas.rect(self.frame, Paint::stroke(colours.axis, 1.0));
    }

    /// A remark in the middle of the frame.
    pub(crate) fn draw_note(&self, canvas: &mut Canvas, colours: &Colours, note: &str) {
        let middle = (
            self.frame.left + self.frame.width / 2.0,
            self.frame.top + self.frame.height / 2.0,
        );
        self.write(canvas, colours.muted, note, middle, Anchor::Middle);
    }

    fn write(&self, canvas: &mut Canvas, colour: &str, content: &str, (x, y): (f64, f64), anchor: Anchor) {
        if content.is_empty() {
            return;
        }
        canvas.text(&Text {
            content,
            x,
            y,
            size: TICK_SIZE,
            colour,
            anchor,
            weight: Weight::Regular,
            angle: 0.0,
        });
    }

    fn draw_categories(&self, canvas: &mut Canvas, colours: &Colours) {
        if let Horizontal::Categories { labels, .. } = &self.panel.horizontal {
            let fitted = CategoryLabels::fit(labels, self.slot(0).1);
            fitted.draw(canvas, |index| self.slot(index).0, self.frame.bottom(), colours.text);
        }
        if let Vertical::Categories { labels, .. } = &self.panel.vertical {
            let slot = self.frame.height / labels.len().max(1) as f64;
            for (index, label) in labels.iter().enumerate().step_by(stride(1.15 * TICK_SIZE / slot)) {
                let y = self.frame.top + (index as f64 + 0.5) * slot + middle_to_baseline(TICK_SIZE);
                let short = shorten(label, MAX_ROW_LABEL, TICK_SIZE);
                self.write(canvas, colours.text, &short, (self.frame.left - GAP, y), Anchor::End);
            }
        }
    }

    fn draw_titles(&self, canvas: &mut Canvas, colours: &Colours) {
        let frame = self.frame;
        let centre = frame.left + frame.width / 2.0;
        let mut write = |content: &str, x: f64, y: f64, size: f64, weight: Weight, angle: f64| {
            canvas.text(&Text {
                content,
                x,
                y,
                size,
                colour: colours.text,
                anchor: Anchor::Middle,
                weight,
                angle,
            });
        };
        let lines = wrap(&self.panel.title, frame.width, TITLE_SIZE, Weight::Bold);
        for (index, line) in lines.iter().rev().enumerate() {
            let y = frame.top - 6.0 - index as f64 * LINE_HEIGHT * TITLE_SIZE;
            write(line, centre, y, TITLE_SIZE, Weight::Bold, 0.0);
        }
        let lines = self.panel.vertical_label_lines();
        let first = frame.left
            - self.panel.tick_label_width()
            - 2.0 * GAP
            - (lines.len().max(1) - 1) as f64 * LINE_HEIGHT * LABEL_SIZE;
        for (index, line) in lines.iter().enumerate() {
            let x = first + index as f64 * LINE_HEIGHT * LABEL_SIZE;
            write(
                line,
                x,
                frame.top + frame.height / 2.0,
                LABEL_SIZE,
                Weight::Regular,
                -90.0,
            );
        }
        let (label, under_ticks) = match &self.panel.horizontal {
            Horizontal::Numeric { labelled: false, .. } => return,
            Horizontal::Numeric { label, .. } => (label, LINE_HEIGHT * TICK_SIZE + GAP),
            Horizontal::Categories { labels, label } => (
                label,
                CategoryLabels::fit(labels, frame.width / labels.len().max(1) as f64).height(),
            ),
        };
        let lines = wrap(label, frame.width + 40.0, LABEL_SIZE, Weight::Regular);
        for (index, line) in lines.iter().enumerate() {
            let y = frame.bottom() + under_ticks + LABEL_SIZE + index as f64 * LINE_HEIGHT * LABEL_SIZE;
            write(line, centre, y, LABEL_SIZE, Weight::Regular, 0.0);
        }
    }
}
