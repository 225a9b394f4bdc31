//! Charts, as pixels too, and the canvas that they are drawn on. The font is bundled, so that they
//! are the same on every machine.

use std::io;

use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, Cross, PathElement, Polygon, Rectangle, Text, TriangleMarker};
use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, IntoFont, RGBColor, TextStyle};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use serde::Serialize;

use super::label;
use super::palette::{MUTED, Symbol, TEXT};

/// The width of every chart. All sizes are in half pixels, because the library rounds to whole
/// units.
pub(super) const WIDTH: u32 = 1600;

/// The margin at the edges.
pub(super) const EDGE: u32 = 20;

/// Text sizes that are whole numbers again after the library has multiplied and divided them.
pub(super) const LARGE: u32 = 28;
pub(super) const NORMAL: u32 = 22;
pub(super) const SMALL: u32 = 20;

/// The height of a line of text.
const LINE_HEIGHT: u32 = 28;

/// The width of a legend entry's symbol, with the space around it.
const KEY_WIDTH: u32 = 34;

pub(super) type DrawingRegion<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Drawing fails only if writing to a string fails, which it never does.
pub(super) type Drawing = Result<(), DrawingAreaErrorKind<io::Error>>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chart {
    /// Its name, unique in a run: lower-case letters, digits and hyphens.
    pub id: String,
    pub title: String,
    /// Its main numbers, as a text alternative.
    pub says: String,
    /// One `svg` element with a `viewBox` and no background; it fills its container.
    pub svg: String,
}

/// A chart for each part of `all` that fits into one; `chart` gets a part, and the end of a title
/// that says which of several parts it is.
pub(super) fn in_parts<T>(
    all: &[T],
    most: usize,
    chart: impl Fn(&[T], &str) -> Chart,
) -> Vec<Chart> {
    let parts = all.chunks(most);
    let of = parts.len();
    let end = |index| if of == 1 { String::new() } else { format!(" ({index} of {of})") };
    (1..).zip(parts).map(|(index, part)| chart(part, &end(index))).collect()
}

#[derive(Debug, Default)]
pub(super) struct Heading {
    pub title: String,
    /// How to read it.
    pub notes: String,
    pub keys: Vec<Key>,
}

/// A legend entry: the meaning of a symbol in a colour.
#[derive(Debug)]
pub(super) struct Key {
    pub symbol: Symbol,
    pub colour: RGBColor,
    pub says: String,
}

impl Heading {
    /// The notes, wrapped into lines.
    fn lines(&self) -> Vec<String> {
        let columns = label::columns(WIDTH - 2 * EDGE, SMALL);
        let lines = textwrap::wrap(&self.notes, columns);
        lines.into_iter().map(std::borrow::Cow::into_owned).collect()
    }

    /// The position of each legend entry: its left end and its line.
    fn places(&self) -> Vec<(u32, u32)> {
        let (mut left, mut line) = (EDGE, 0);
        let mut places = Vec::new();
        for key in &self.keys {
            let width = KEY_WIDTH + label::width(&key.says, SMALL) + EDGE;
            if left + width > WIDTH && left > EDGE {
                (left, line) = (EDGE, line + 1);
            }
            places.push((left, line));
            left += width;
        }
        places
    }

    pub fn height(&self) -> u32 {
        let keys = self.places().last().map_or(0, |(_, line)| line + 1);
        let lines = u32::try_from(self.lines().len()).unwrap_or(0);
        EDGE + LARGE + 14 + (lines + keys) * LINE_HEIGHT + 10
    }

    /// Draws the heading at the top.
    pub fn draw(&self, root: &DrawingRegion<'_>) -> Drawing {
        let title = label::cut(&self.title, label::columns(WIDTH - 2 * EDGE, LARGE));
        let bold = ("sans-serif", size(LARGE), plotters::style::FontStyle::Bold);
        root.draw(&Text::new(title, at(EDGE, EDGE), bold.into_font().color(&TEXT)))?;
        let mut top = EDGE + LARGE + 14;
        for line in self.lines() {
            text(root, &line, (EDGE, top + LINE_HEIGHT / 2), SMALL, HPos::Left, MUTED)?;
            top += LINE_HEIGHT;
        }
        for (key, (left, line)) in self.keys.iter().zip(self.places()) {
            let middle = top + line * LINE_HEIGHT + LINE_HEIGHT / 2;
            symbol(root, at(left + 10, middle), key.symbol, 8, key.colour)?;
            text(root, &key.says, (left + KEY_WIDTH - 6, middle), SMALL, HPos::Left, TEXT)?;
        }
        Ok(())
    }
}

/// Draws a chart; `says` is its text alternative.
pub(super) fn svg(
    title: &str,
    says: &str,
    height: u32,
    draw: impl FnOnce(&DrawingRegion<'_>) -> Drawing,
) -> String {
    let mut drawn = String::new();
    {
        let root = SVGBackend::with_string(&mut drawn, (WIDTH, height)).into_drawing_area();
        draw(&root).and_then(|()| root.present()).expect("a String takes everything");
    }
    let elements = drawn.split_once('>').map_or("", |(_, elements)| elements);
    let (title, says) = (label::escaped(title), label::escaped(says));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"{title}\" font-family=\"sans-serif\" font-size=\"{SMALL}\" fill=\"none\">\n\
         <title>{title}</title>\n<desc>{says}</desc>{}",
        compact(elements)
    )
}

/// Elements without the attributes that the library repeats on each of them: SVG's defaults, and
/// those of the whole drawing. Text cannot contain these, because its quotes, `<` and `>` are
/// escaped and it has one line.
fn compact(elements: &str) -> String {
    let size = format!(" font-size=\"{SMALL}\"");
    let said_once = [
        " opacity=\"1\"",
        " stroke=\"none\"",
        " stroke-width=\"1\"",
        " fill=\"none\"",
        " text-anchor=\"start\"",
        " font-family=\"sans-serif\"",
        &size,
    ];
    let elements = said_once.iter().fold(elements.to_owned(), |all, said| all.replace(said, ""));
    let elements = grouped(&elements);
    elements.replace(">\n", ">").replace("\n</text>", "</text>").replace(" \"/>", "\"/>") + "\n"
}

/// Consecutive discs of one colour as a group with that colour.
fn grouped(elements: &str) -> String {
    let disc = |line: &'_ str| -> Option<(usize, usize)> {
        let colour = line.find(" fill=").filter(|_| line.starts_with("<circle "))?;
        Some((colour, line.find("/>")?))
    };
    let mut out = String::with_capacity(elements.len());
    let mut open = "";
    for line in elements.lines() {
        let found = disc(line);
        let colour = found.map_or("", |(from, to)| &line[from..to]);
        if colour != open {
            if !open.is_empty() {
                out += "</g>\n";
            }
            if !colour.is_empty() {
                out += "<g";
                out += colour;
                out += ">\n";
            }
            open = colour;
        }
        out += found.map_or(line, |(from, _)| &line[..from]);
        out += if found.is_some() { "/>\n" } else { "\n" };
    }
    if !open.is_empty() {
        out += "</g>\n";
    }
    out
}

/// A point of the canvas.
pub(super) fn at(x: u32, y: u32) -> (i32, i32) {
    (x.cast_signed(), y.cast_signed())
}

/// A text's size for the library, which divides it by 1.24 in its SVG.
fn size(size: u32) -> f64 {
    f64::from(size) * 1.24
}

pub(super) fn font(height: u32, colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", size(height)).into_font().color(&colour)
}

/// Draws a line of text, centred vertically on a point.
pub(super) fn text(
    area: &DrawingRegion<'_>,
    says: &str,
    (x, y): (u32, u32),
    height: u32,
    side: HPos,
    colour: RGBColor,
) -> Drawing {
    let style = font(height, colour).pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(says, at(x, y), style))
}

/// Draws a symbol around a point of the canvas.
pub(super) fn symbol(
    area: &DrawingRegion<'_>,
    (x, y): (i32, i32),
    symbol: Symbol,
    radius: i32,
    colour: RGBColor,
) -> Drawing {
    let (filled, r) = (colour.filled(), radius);
    match symbol {
        Symbol::Disc => area.draw(&Circle::new((x, y), r, filled)),
        Symbol::Ring => area.draw(&Circle::new((x, y), r, colour.stroke_width(3))),
        Symbol::Square => {
            let r = r - 1;
            area.draw(&Rectangle::new([(x - r, y - r), (x + r, y + r)], filled))
        }
        Symbol::Triangle => area.draw(&TriangleMarker::new((x, y), r + 2, filled)),
        Symbol::Diamond => {
            let r = r + 2;
            let corners = vec![(x - r, y), (x, y - r), (x + r, y), (x, y + r)];
            area.draw(&Polygon::new(corners, filled))
        }
        Symbol::Cross => area.draw(&Cross::new((x, y), r - 1, colour.stroke_width(3))),
    }
}

/// Draws a line between points of the canvas.
pub(super) fn line(
    area: &DrawingRegion<'_>,
    points: Vec<(i32, i32)>,
    colour: RGBColor,
    width: u32,
) -> Drawing {
    area.draw(&PathElement::new(points, colour.stroke_width(width)))
}

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
