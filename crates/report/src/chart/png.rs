//! Charts as pixels, with a bundled font, so that they are the same on every machine.

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use super::canvas::Chart;

const FONT: &str = "DejaVu Sans";

impl Chart {
    /// The chart as a PNG on a white background, at twice the resolution that it has on a page.
    ///
    /// Scripts that `DejaVu` Sans does not have are left out.
    ///
    /// # Errors
    ///
    /// If the SVG is invalid, or memory does not suffice.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        let mut options = Options { font_family: FONT.to_owned(), ..Options::default() };
        let fonts = options.fontdb_mut();
        for font in [dejavu::sans::regular(), dejavu::sans::bold()] {
            fonts.load_font_data(font.to_vec());
        }
        fonts.set_sans_serif_family(FONT);
        let tree = Tree::from_str(&self.svg, &options).map_err(|error| error.to_string())?;
        // The SVG is in half pixels already.
        let size = tree.size().to_int_size();
        let mut pixels = Pixmap::new(size.width(), size.height())
            .ok_or_else(|| format!("no memory for {} x {} pixels", size.width(), size.height()))?;
        pixels.fill(Color::WHITE);
        resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| error.to_string())
    }
}
