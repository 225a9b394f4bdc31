//! Writes sheets as an `OpenDocument` spreadsheet (OASIS `OpenDocument` 1.3, parts 2 and 3): a zip
//! archive of XML files. It contains no timestamps, so equal sheets give equal bytes.

use std::borrow::Cow;
use std::io::{self, Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::{Cell, printable};

/// The maximum number of rows that `LibreOffice` reads from a sheet, including the header.
const MOST_ROWS: usize = 1 << 20;

/// The integer up to which a spreadsheet's numbers, which are doubles, are exact.
const LARGEST_EXACT: u64 = 1 << 53;

/// The approximate maximum of uncompressed XML in memory, in bytes.
const BUFFER: usize = 1 << 16;

const MIME: &str = "application/vnd.oasis.opendocument.spreadsheet";

const MANIFEST: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
manifest:version="1.3">
<manifest:file-entry manifest:full-path="/" manifest:version="1.3"
manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/>
<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>
<manifest:file-entry manifest:full-path="settings.xml" manifest:media-type="text/xml"/>
</manifest:manifest>
"#;

const CONTENT: &str = r##"<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" office:version="1.3">
<office:automatic-styles>
<style:style style:name="narrow" style:family="table-column">
<style:table-column-properties style:column-width="2.4cm"/>
</style:style>
<style:style style:name="medium" style:family="table-column">
<style:table-column-properties style:column-width="4.2cm"/>
</style:style>
<style:style style:name="wide" style:family="table-column">
<style:table-column-properties style:column-width="8cm"/>
</style:style>
<style:style style:name="header" style:family="table-cell">
<style:table-cell-properties fo:background-color="#dddddd"/>
<style:text-properties fo:font-weight="bold"/>
</style:style>
</office:automatic-styles>
<office:body><office:spreadsheet>
"##;

const CONTENT_END: &str = "</office:spreadsheet></office:body></office:document-content>\n";

const SETTINGS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document-settings xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
xmlns:config="urn:oasis:names:tc:opendocument:xmlns:config:1.0"
xmlns:ooo="http://openoffice.org/2004/office" office:version="1.3">
<office:settings><config:config-item-set config:name="ooo:view-settings">
<config:config-item-map-indexed config:name="Views"><config:config-item-map-entry>
<config:config-item config:name="ViewId" config:type="string">view1</config:config-item>
<config:config-item-map-named config:name="Tables">
"#;

/// Freezes the first row of a sheet.
const FROZEN: &str = r#"
<config:config-item config:name="VerticalSplitMode" config:type="short">2</config:config-item>
<config:config-item config:name="VerticalSplitPosition" config:type="int">1</config:config-item>
<config:config-item config:name="ActiveSplitRange" config:type="short">2</config:config-item>
<config:config-item config:name="PositionBottom" config:type="int">1</config:config-item>"#;

const SETTINGS_END: &str = "</config:config-item-map-named></config:config-item-map-entry>\
</config:config-item-map-indexed></config:config-item-set></office:settings>\
</office:document-settings>\n";

/// A sheet, whose rows are generated while writing.
pub(super) struct Sheet<'a> {
    /// Its name: letters only.
    pub name: &'static str,
    /// The header.
    pub columns: Vec<Cow<'a, str>>,
    /// The rows below it.
    pub rows: Box<dyn Iterator<Item = Vec<Cell<'a>>> + 'a>,
}

/// The sheets as a file.
///
/// Integers that a double cannot represent are text. Text is never a formula; control characters
/// that XML does not allow become U+FFFD, and tabs become spaces.
pub(super) fn workbook(sheets: Vec<Sheet<'_>>) -> io::Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default());
    // The first entry, uncompressed, so that the file is recognised by its first bytes.
    zip.start_file("mimetype", stored)?;
    zip.write_all(MIME.as_bytes())?;
    let packed = stored.compression_method(CompressionMethod::Deflated).compression_level(Some(1));
    let settings = settings(&sheets);
    for (name, text) in [("META-INF/manifest.xml", MANIFEST), ("settings.xml", settings.as_str())] {
        zip.start_file(name, packed)?;
        zip.write_all(text.as_bytes())?;
    }
    zip.start_file("content.xml", packed)?;
    zip.write_all(CONTENT.as_bytes())?;
    for sheet in sheets {
        write_sheet(&mut zip, sheet)?;
    }
    zip.write_all(CONTENT_END.as_bytes())?;
    Ok(zip.finish()?.into_inner())
}

fn settings(sheets: &[Sheet<'_>]) -> String {
    let mut settings = SETTINGS.to_owned();
    for Sheet { name, .. } in sheets {
        settings += "<config:config-item-map-entry config:name=\"";
        settings += name;
        settings += "\">";
        settings += FROZEN;
        settings += "</config:config-item-map-entry>\n";
    }
    settings + SETTINGS_END
}

fn write_sheet(out: &mut impl Write, sheet: Sheet<'_>) -> io::Result<()> {
    let mut rows = sheet.rows.peekable();
    let first = rows.peek().cloned().unwrap_or_default();
    let mut xml = format!("<table:table table:name=\"{}\">", sheet.name);
    for (index, header) in sheet.columns.iter().enumerate() {
        xml += "<table:table-column table:style-name=\"";
        xml += width(header, first.get(index));
        xml += "\"/>";
    }
    xml += "<table:table-header-rows><table:table-row>";
    for header in &sheet.columns {
        push_text(&mut xml, " table:style-name=\"header\"", header);
    }
    xml += "</table:table-row></table:table-header-rows>\n";
    for (index, row) in rows.enumerate() {
        if index + 1 == MOST_ROWS {
            let says = format!(
                "the sheet {} has more than {} rows, the limit of spreadsheets; csv \
                 have none",
                sheet.name,
                MOST_ROWS - 1
            );
            return Err(io::Error::other(says));
        }
        xml += "<table:table-row>";
        push_cells(&mut xml, &row);
        xml += "</table:table-row>\n";
        if xml.len() >= BUFFER {
            out.write_all(xml.as_bytes())?;
            xml.clear();
        }
    }
    xml += "</table:table>\n";
    out.write_all(xml.as_bytes())
}

/// A column's width, by its header and its first row.
fn width(header: &str, first: Option<&Cell<'_>>) -> &'static str {
    let longest = match first {
        Some(Cell::Text(text)) => text.chars().count().max(header.len()),
        _ => header.len(),
    };
    match longest {
        0..=11 => "narrow",
        12..=22 => "medium",
        _ => "wide",
    }
}

fn push_cells(xml: &mut String, cells: &[Cell<'_>]) {
    for same in cells.chunk_by(|one, other| *one == Cell::Empty && *other == Cell::Empty) {
        match &same[0] {
            Cell::Empty => {
                *xml += "<table:table-cell table:number-columns-repeated=\"";
                *xml += &same.len().to_string();
                *xml += "\"/>";
            }
            Cell::Integer(value) if *value > LARGEST_EXACT => {
                push_text(xml, "", &value.to_string());
            }
            Cell::Number(value) if !value.is_finite() => push_text(xml, "", &value.to_string()),
            Cell::Integer(value) => push_number(xml, &value.to_string()),
            Cell::Number(value) => push_number(xml, &value.to_string()),
            Cell::Text(text) => push_text(xml, "", text),
        }
    }
}

fn push_number(xml: &mut String, digits: &str) {
    *xml += "<table:table-cell office:value-type=\"float\" office:value=\"";
    *xml += digits;
    *xml += "\"/>";
}

/// A cell of text. Readers collapse white space, so a space after another is an element (part 3,
/// 6.1.2 and 6.1.3).
fn push_text(xml: &mut String, attributes: &str, text: &str) {
    let text = printable(text);
    *xml += "<table:table-cell office:value-type=\"string\"";
    *xml += attributes;
    *xml += "><text:p>";
    let mut follows_space = true;
    for c in text.chars() {
        match c {
            '&' => *xml += "&amp;",
            '<' => *xml += "&lt;",
            '>' => *xml += "&gt;",
            '\n' => *xml += "</text:p><text:p>",
            ' ' | '\t' if follows_space => *xml += "<text:s/>",
            // LibreOffice ignores the element for a tab.
            '\t' => xml.push(' '),
            _ => xml.push(c),
        }
        follows_space = matches!(c, ' ' | '\n' | '\t');
    }
    *xml += "</text:p></table:table-cell>";
}
