//! A drawn figure: as SVG text, as PNG bytes, or in a file.

use std::path::Path;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;

use crate::Result;
use crate::error::FigureError;
use crate::font;
use crate::theme::checked;

/// Pixels per unit in PNG files written by [`Figure::save`]: sharp on dense screens, about 200 dots per inch in print.
pub const SAVED_PNG_SCALE: f64 = 2.0;

/// Longest side of a PNG in pixels.
const LONGEST_SIDE: f64 = 20_000.0;

/// A drawn figure.
///
/// The same data always give the same bytes. The SVG has no ids, scripts or links, so several figures can be pasted
/// into one HTML document.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    svg: String,
    width: f64,
    height: f64,
}

impl Figure {
    pub(crate) fn new(svg: String, width: f64, height: f64) -> Self {
        Self { svg, width, height }
    }

    /// Width in pixels at scale 1.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Height in pixels at scale 1; it follows from the content.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// The figure as an SVG document. Text stays text, in DejaVu Sans or what the viewer has instead.
    pub fn to_svg(&self) -> String {
        self.svg.clone()
    }

    /// The figure as a PNG image, `scale` pixels per unit of the SVG. Text is drawn with the embedded font.
    ///
    /// # Errors
    ///
    /// [`FigureError::Size`] when a side of the image would be shorter than one pixel or longer than 20 000.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>> {
        let longest = self.width.max(self.height);
        let scale = checked(
            "PNG scale",
            scale,
            1.0 / self.width.min(self.height),
            LONGEST_SIDE / longest,
        )?;
        let render_error = |reason: String| FigureError::Render { reason };
        let options = usvg::Options {
            fontdb: font::database(),
            ..usvg::Options::default()
        };
        let tree = usvg::Tree::from_str(&self.svg, &options).map_err(|error| render_error(error.to_string()))?;
        let side = |length: f64| (length * scale).round() as u32;
        let mut image = Pixmap::new(side(self.width), side(self.height))
            .ok_or_else(|| render_error("no memory for the image".to_owned()))?;
        resvg::render(
            &tree,
            Transform::from_scale(scale as f32, scale as f32),
            &mut image.as_mut(),
        );
        image.encode_png().map_err(|error| render_error(error.to_string()))
    }

    /// Writes the figure to a file, as SVG or PNG by its extension in any case of letters. PNG files have
    /// [`SAVED_PNG_SCALE`] pixels per unit.
    ///
    /// The file appears whole or not at all: it is written under another name in the same folder, which must exist, and
    /// then renamed.
    ///
    /// # Errors
    ///
    /// [`FigureError::Extension`] for other extensions, [`FigureError::Write`] when the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let extension = path
            .extension()
            .and_then(|extension| extension.to_str())
            .unwrap_or_default();
        let bytes = match extension.to_ascii_lowercase().as_str() {
            "svg" => self.to_svg().into_bytes(),
            "png" => self.to_png(SAVED_PNG_SCALE)?,
            _ => return Err(FigureError::Extension { path: path.to_owned() }),
        };
        intervalid_files::replace_file(path, &bytes).map_err(|source| FigureError::Write {
            path: path.to_owned(),
            source,
        })
    }
}
