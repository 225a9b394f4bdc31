//! The colours and symbols of all charts.
//!
//! Colour-blind readers can distinguish the colours of marks (M. Okabe and K. Ito, "Color Universal
//! Design", 2008); no two marks differ by colour alone. Text, lines and grid have colours that
//! marks never have, so that a page can restyle them for a dark background.

use plotters::style::RGBColor;
use ssdlab_filesystem::layout::BlockKind;

pub(super) const TEXT: RGBColor = RGBColor(0x22, 0x22, 0x22);

/// Secondary text, and axes.
pub(super) const MUTED: RGBColor = RGBColor(0x55, 0x55, 0x55);

/// Grid lines.
pub(super) const GRID: RGBColor = RGBColor(0xDD, 0xDD, 0xDD);

/// Means, intervals and reference lines.
pub(super) const LINE: RGBColor = RGBColor(0x11, 0x11, 0x11);

/// Text on a mark, whose colour is the same on any background.
pub(super) const ON_MARK: RGBColor = RGBColor(0x00, 0x00, 0x00);

/// A mark whose colour has no meaning.
pub(super) const PLAIN: RGBColor = COLOURS[0];

/// Marks.
pub(super) const COLOURS: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x56, 0xB4, 0xE9),
];

/// Marks of the kinds of written bytes; the last is for bytes that could not be attributed.
pub(super) const KINDS: [RGBColor; BlockKind::ALL.len()] = [
    COLOURS[0],
    COLOURS[1],
    COLOURS[2],
    COLOURS[3],
    COLOURS[4],
    COLOURS[5],
    RGBColor(0xF0, 0xE4, 0x42),
    RGBColor(0x99, 0x99, 0x99),
];

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    Disc,
    Square,
    Triangle,
    /// A square on its corner.
    Diamond,
    Cross,
    /// A circle.
    Ring,
}

/// As many symbols as colours.
pub(super) const SYMBOLS: [Symbol; COLOURS.len()] =
    [Symbol::Disc, Symbol::Square, Symbol::Triangle, Symbol::Diamond, Symbol::Cross, Symbol::Ring];
