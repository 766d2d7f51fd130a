//! Shapes that stand for data, the same in panels and in legends.

use crate::svg::{Canvas, Paint, PathData, Rect};

/// Distance of hatch lines in pixels.
const HATCH_SPACING: f64 = 6.0;

/// Round dots as one path.
pub(crate) fn dots(canvas: &mut Canvas, points: &[(f64, f64)], radius: f64, colour: &str) {
    let mut path = PathData::default();
    points.iter().for_each(|&point| path.dot(point));
    canvas.path(&path, Paint::stroke(colour, 2.0 * radius).round());
}

/// Pieces of a line; a piece of one point becomes a dot.
pub(crate) fn line(canvas: &mut Canvas, runs: &[Vec<(f64, f64)>], width: f64, colour: &str, dash: Option<&str>) {
    let (mut path, mut lone) = (PathData::default(), Vec::new());
    for run in runs {
        match run[..] {
            [point] => lone.push(point),
            _ => path.polyline(run),
        }
    }
    canvas.path(&path, Paint::stroke(colour, width).dashed(dash));
    dots(canvas, &lone, (0.7 * width).max(1.2), colour);
}

/// Pieces of a filled band; a piece of one point becomes an upright bar.
pub(crate) fn band(canvas: &mut Canvas, runs: &[Vec<(f64, f64, f64)>], colour: &str, opacity: f64) {
    let mut path = PathData::default();
    for run in runs {
        let widened = match run[..] {
            [(x, upper, lower)] => vec![(x - 1.5, upper, lower), (x + 1.5, upper, lower)],
            _ => run.clone(),
        };
        let upper = widened.iter().map(|&(x, upper, _)| (x, upper));
        let lower = widened.iter().rev().map(|&(x, _, lower)| (x, lower));
        path.polygon(&upper.chain(lower).collect::<Vec<_>>());
    }
    canvas.path(&path, Paint::fill(colour).with_opacity(opacity));
}

/// A small diamond.
pub(crate) fn diamond(canvas: &mut Canvas, (x, y): (f64, f64), radius: f64, paint: Paint<'_>) {
    let mut path = PathData::default();
    path.polygon(&[(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)]);
    canvas.path(&path, paint);
}

/// A hollow square with an upright bar from `top` to `bottom`.
pub(crate) fn error_bar(
    canvas: &mut Canvas,
    (x, y): (f64, f64),
    (top, bottom): (f64, f64),
    hollow: &str,
    colour: &str,
) {
    let (paint, half_cap, half) = (Paint::stroke(colour, 1.4), 4.0, 3.0);
    canvas.line((x, top), (x, bottom), paint);
    canvas.line((x - half_cap, top), (x + half_cap, top), paint);
    canvas.line((x - half_cap, bottom), (x + half_cap, bottom), paint);
    let square = Rect::between((x - half, y - half), (x + half, y + half));
    canvas.rect(square, Paint::fill(hollow).with_stroke(colour, 1.4));
}

/// A rectangle filled with slanted lines.
pub(crate) fn hatch(canvas: &mut Canvas, area: Rect, colour: &str) {
    let mut path = PathData::default();
    let mut start = area.left - area.height;
    while start < area.right() {
        // The line rises from (start, bottom) at 45 degrees; keep what lies between left and right.
        let (from, to) = (start.max(area.left), (start + area.height).min(area.right()));
        if to - from > 0.1 {
            path.polyline(&[
                (from, area.bottom() - (from - start)),
                (to, area.bottom() - (to - start)),
            ]);
        }
        start += HATCH_SPACING;
    }
    canvas.rect(area, Paint::fill(colour).with_opacity(0.12).with_stroke(colour, 1.0));
    canvas.path(&path, Paint::stroke(colour, 1.2));
}
